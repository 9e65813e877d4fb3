//! Typical points of a posterior: a short ascent, then draws from the Gaussian at the peak.

use crate::{
    Batch, Error, Result,
    budget::Budget,
    flow::Base,
    linear,
    modes::{self, Search, Summit},
    rng::{Purpose, Stream},
    target::{Unconstrained, Workspace},
};

/// The effort that may be spent to find typical points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Ascents to the peaks.
    pub ascents: usize,
    /// Number of evaluations after which no further ascent begins.
    pub evaluations: usize,
    /// Draws from the Gaussian at the peak; twice the dimension is added.
    pub draws: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ascents: 12, evaluations: 20_000, draws: 32, seed: 1 }
    }
}

/// Points near a peak of a posterior, in unconstrained coordinates.
#[derive(Debug, Clone)]
pub struct Typical {
    /// The peak with the most mass, or the end point of the highest ascent.
    pub peak: Vec<f64>,
    /// Is the curvature negative in every direction there?
    pub is_peak: bool,
    /// The posterior's standard deviation of each coordinate, according to the curvature at the peak.
    pub sd: Vec<f64>,
    /// The factor by which the draws are narrower than that Gaussian. It is less than 1 where the density
    /// is much narrower than its curvature suggests, as on a curved ridge.
    pub width: f64,
    /// Draws from that Gaussian, narrowed by `width`, at which the density is finite and not far below the
    /// expected value.
    pub points: Batch,
    /// Lower Cholesky factor of the Gaussian's covariance, row by row.
    pub(super) factor: Vec<f64>,
}

/// Finds typical points, with ascents from draws of a base; None if every ascent fails.
///
/// # Errors
/// Those of the target.
pub fn typical(target: &Unconstrained, base: &Base, effort: &Effort) -> Result<Option<Typical>> {
    let search = Search {
        first: effort.ascents,
        ascents: effort.ascents,
        most_ascents: effort.ascents,
        budget: Budget::new(Some(effort.evaluations), None),
        ..Search::new(target.dim())
    };
    let found = match modes::search(target, base, &search, effort.seed) {
        Ok(found) => found,
        // No starting point has a finite density.
        Err(Error::Target(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let widest = |a: &&Summit, b: &&Summit| a.log_mass.total_cmp(&b.log_mass);
    let peaks = found.summits.iter().filter(|summit| summit.is_peak);
    let highest = |a: &&Summit, b: &&Summit| a.log_density.total_cmp(&b.log_density);
    let highest = || found.summits.iter().max_by(highest);
    let Some(summit) = peaks.max_by(widest).or_else(highest) else {
        return Ok(None);
    };
    let dim = target.dim();
    let Ok(factor) = linear::cholesky(dim, &summit.covariance) else { return Ok(None) };
    let sd: Vec<f64> = (0..dim).map(|d| summit.covariance[d * dim + d].sqrt()).collect();
    for width in WIDTHS {
        let drawn = draw(&summit.z, &factor, width, effort);
        let points = near(target, &drawn, summit.log_density)?;
        if !points.is_empty() {
            let (peak, is_peak) = (summit.z.clone(), summit.is_peak);
            return Ok(Some(Typical { peak, is_peak, sd, width, points, factor }));
        }
    }
    Ok(None)
}

/// The widths to try, relative to the Gaussian.
const WIDTHS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// Draws from a Gaussian, narrowed by `width`.
fn draw(mean: &[f64], factor: &[f64], width: f64, effort: &Effort) -> Batch {
    let dim = mean.len();
    let mut noise = Batch::zeros(dim, effort.draws + 2 * dim);
    Stream::new(effort.seed, Purpose::Evaluation).fill_normals(0, 0, &mut noise);
    let mut drawn = Batch::zeros(dim, noise.len());
    for i in 0..noise.len() {
        let normal = noise.point(i);
        for d in 0..dim {
            let step = linear::dot(&factor[d * dim..][..=d], &normal[..=d]);
            drawn.row_mut(d)[i] = mean[d] + width * step;
        }
    }
    drawn
}

/// How far below the peak a typical point may be, in nats: per dimension, and in addition. Points of a
/// Gaussian are half a nat per dimension below; far lower points show that the Gaussian does not fit.
const FAR_PER_DIMENSION: f64 = 2.0;
const FAR: f64 = 10.0;

/// The draws whose density is not too far below the peak.
fn near(target: &Unconstrained, drawn: &Batch, peak: f64) -> Result<Batch> {
    let dim = target.dim();
    let mut work = Workspace::zeros(dim, drawn.len());
    target.evaluate(drawn, None, &mut work)?;
    let height = |i: usize| {
        work.evaluation.log_prior[i] + work.evaluation.log_likelihood[i] + work.log_jacobian[i]
    };
    let least = peak - FAR - FAR_PER_DIMENSION * dim as f64;
    let kept: Vec<Vec<f64>> =
        (0..drawn.len()).filter(|&i| height(i) >= least).map(|i| drawn.point(i)).collect();
    Ok(Batch::from_points(dim, &kept))
}
