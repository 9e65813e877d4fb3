//! Points like those that the posterior will have: a short ascent, and draws of the Gaussian at its peak.

use crate::{
    Batch, Error, Result,
    budget::Budget,
    flow::Base,
    linear,
    modes::{self, Search, Summit},
    rng::{Purpose, Stream},
    target::{Unconstrained, Workspace},
};

/// What may be spent to find typical points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Ascents to the peaks.
    pub ascents: usize,
    /// Evaluations after which no further ascent begins.
    pub evaluations: usize,
    /// Draws of the Gaussian at the peak, and this many times the dimension.
    pub draws: usize,
    /// For its random numbers.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ascents: 12, evaluations: 20_000, draws: 32, seed: 1 }
    }
}

/// Points near a peak of a posterior, on unconstrained coordinates.
#[derive(Debug, Clone)]
pub struct Typical {
    /// The peak with most mass, or where the highest ascent ended.
    pub peak: Vec<f64>,
    /// Does the density bend down in every direction there?
    pub is_peak: bool,
    /// The posterior's standard deviation of each coordinate, as the curvature at the peak has it.
    pub sd: Vec<f64>,
    /// Which share of that Gaussian's width the points have. It is less than 1 where the density is much
    /// narrower than its curvature says, as on a ridge that is bent.
    pub width: f64,
    /// Draws of that Gaussian, narrowed by `width`, at which the density is finite and not far below what it
    /// should be.
    pub points: Batch,
    /// Lower factor of the Gaussian's covariance, row by row.
    pub(super) factor: Vec<f64>,
}

/// Looks for typical points from draws of a base; none if no ascent comes anywhere.
///
/// # Errors
/// What the target says.
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
        // Nowhere to start from.
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

/// Shares of a Gaussian's width that are tried.
const WIDTHS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// Draws of a Gaussian, narrowed.
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

/// Nats per dimension, and at all, that a typical point is below the peak at most. A Gaussian's is half a
/// nat a dimension; what is much further down is where the Gaussian is wrong.
const FAR_PER_DIMENSION: f64 = 2.0;
const FAR: f64 = 10.0;

/// The draws that are as high as they should be.
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
