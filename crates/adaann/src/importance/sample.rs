//! Weighted points that represent p: draws of an approximation, or particles.

use crate::importance::{
    Coordinate, Estimate, Gaps, Mixing, Quantity, WeightSums, covariance,
    pareto::{self, Smoothed},
    resample,
    weight_sums::{largest_of_some, weight},
};
use crate::non_finite::is_non_finite;
use crate::weight::log_weight;
use crate::{Batch, Error, Result};
use std::sync::OnceLock;

/// Points with importance weights for p, in unconstrained coordinates and in the target's own
/// coordinates.
///
/// All results about p derive from it: reports, plots and exports use this sample, or points of equal
/// weight resampled from it ([`Sample::resampled`]).
///
/// ```
/// use adaann::{Batch, importance::Sample};
///
/// // Four draws of a uniform q on [0, 1], where p is twice, once, once and nowhere as high.
/// let x = Batch::from_points(1, &[[0.1], [0.5], [0.7], [0.9]]);
/// let log_p = vec![2_f64.ln(), 0.0, 0.0, f64::NEG_INFINITY];
/// let sample = Sample::of_draws(x.clone(), x, log_p, vec![0.0; 4])?;
/// assert_eq!((sample.lost(), sample.weights()), (1, &[0.5, 0.25, 0.25, 0.0][..]));
/// assert!((sample.coordinates()?[0].mean.value - 0.35).abs() < 1e-15);
/// assert!(sample.weight_sums()?.log_z().abs() < 1e-15);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    z: Batch,
    x: Batch,
    log_p: Vec<f64>,
    log_q: Option<Vec<f64>>,
    log_weights: Vec<f64>,
    /// Diagnostics of the chains, if the points are draws of chains.
    #[serde(default)]
    mixing: Option<Mixing>,
    /// The gaps to another estimator, if one exists.
    #[serde(default)]
    gaps: Option<Gaps>,
    /// Computed on first use.
    #[serde(skip)]
    smoothed: OnceLock<Smoothed>,
    #[serde(skip)]
    weights: OnceLock<Vec<f64>>,
}

impl Sample {
    /// Independent draws of q, weighted by p/q: the points in unconstrained and in the target's own
    /// coordinates, and both log densities in the latter.
    ///
    /// # Errors
    /// If the lengths differ.
    pub fn of_draws(z: Batch, x: Batch, log_p: Vec<f64>, log_q: Vec<f64>) -> Result<Self> {
        let log_weights = log_p.iter().zip(&log_q).map(|(p, q)| log_weight(*p, *q)).collect();
        Self::new(z, x, log_p, Some(log_q), log_weights)
    }

    /// Weighted points without a q, such as particles and resampled points.
    ///
    /// # Errors
    /// If the lengths differ.
    pub fn of_particles(
        z: Batch,
        x: Batch,
        log_p: Vec<f64>,
        log_weights: Vec<f64>,
    ) -> Result<Self> {
        Self::new(z, x, log_p, None, log_weights)
    }

    /// Marks the points as draws of chains: errors then use their effective sample sizes.
    #[must_use]
    pub fn of_chains(self, mixing: Mixing) -> Self {
        Self { mixing: Some(mixing), ..self }
    }

    /// Diagnostics of the chains, if the points are draws of chains.
    pub fn mixing(&self) -> Option<&Mixing> {
        self.mixing.as_ref()
    }

    fn new(
        z: Batch,
        x: Batch,
        log_p: Vec<f64>,
        log_q: Option<Vec<f64>>,
        log_weights: Vec<f64>,
    ) -> Result<Self> {
        let counts = [z.len(), log_p.len(), log_q.as_ref().map_or(x.len(), Vec::len)];
        let found = counts.into_iter().chain([log_weights.len()]).find(|&count| count != x.len());
        if let Some(found) = found.or_else(|| (z.dim() != x.dim()).then_some(z.dim())) {
            return Err(Error::Shape {
                what: "a sample's points, log densities and weights".into(),
                found: found.to_string(),
                expected: format!("{} points of {} dimensions", x.len(), x.dim()),
            });
        }
        let (smoothed, weights) = (OnceLock::new(), OnceLock::new());
        Ok(Self { z, x, log_p, log_q, log_weights, mixing: None, gaps: None, smoothed, weights })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether the sample is empty.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The points in the target's own coordinates.
    pub fn x(&self) -> &Batch {
        &self.x
    }

    /// The points in unconstrained coordinates, where flows and particles work.
    pub fn z(&self) -> &Batch {
        &self.z
    }

    /// Unnormalised log p at each point, in the target's own coordinates.
    pub fn log_p(&self) -> &[f64] {
        &self.log_p
    }

    /// log q at each point, if the points are draws of a q.
    pub fn log_q(&self) -> Option<&[f64]> {
        self.log_q.as_deref()
    }

    /// Raw log weight of each point: log p − log q for draws of q.
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// Number of non-finite points, where q has mass and p has none. If there are any, KL(q‖p) is
    /// infinite, and [`Sample::neg_elbo`] covers only the others.
    pub fn lost(&self) -> usize {
        self.log_weights.iter().filter(|&&log_weight| is_non_finite(log_weight)).count()
    }

    /// log Z with its error, and the effective sample size, from the raw weights.
    ///
    /// Errors assume independent points. Particles of one family are dependent; their errors are computed
    /// where the genealogy is known.
    ///
    /// # Errors
    /// If a weight is infinite.
    pub fn weight_sums(&self) -> Result<WeightSums> {
        let mut sums = WeightSums::default();
        sums.add(&self.log_weights)?;
        Ok(sums)
    }

    /// log Z, with an error at least as large as the gap to another estimator, if one exists.
    ///
    /// # Errors
    /// If a weight is infinite.
    pub fn log_z(&self) -> Result<Estimate> {
        let sums = self.weight_sums()?;
        let log_z = Estimate { value: sums.log_z(), error: sums.log_z_error() };
        Ok(self.gaps.as_ref().map_or(log_z, |gaps| gaps.widen_log_z(log_z)))
    }

    /// Sets the gaps to another estimator.
    pub(crate) fn with_gaps(self, gaps: Option<Gaps>) -> Self {
        Self { gaps, ..self }
    }

    /// The gaps to another estimator.
    pub(crate) fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_ref()
    }

    /// The weights with a smoothed tail, and the tail's shape k̂.
    ///
    /// # Errors
    /// If a weight is infinite, or all points are non-finite.
    pub fn smoothed(&self) -> Result<&Smoothed> {
        if let Some(smoothed) = self.smoothed.get() {
            return Ok(smoothed);
        }
        let smoothed = pareto::smooth(&self.log_weights)?;
        Ok(self.smoothed.get_or_init(|| smoothed))
    }

    /// The weights behind every estimate; they sum to 1. Weights of draws are smoothed. They are equal if
    /// no point has a positive weight, for example if all are non-finite.
    pub fn weights(&self) -> &[f64] {
        self.weights.get_or_init(|| {
            let weights = match self.log_q {
                Some(_) => self.smoothed().map(|smoothed| smoothed.weights.clone()),
                None => normalised(&self.log_weights),
            };
            weights.unwrap_or_else(|_| vec![1.0 / self.len() as f64; self.len()])
        })
    }

    /// A function of the points under p, given its values. For draws of chains the errors use the least
    /// effective coordinate.
    ///
    /// # Errors
    /// As [`Quantity::new`].
    pub fn quantity(&self, values: &[f64]) -> Result<Quantity> {
        let worst = self.mixing.as_ref().map_or(1.0, Mixing::worst_per_effective);
        Ok(Quantity::new(values, self.weights())?.of_correlated([worst; 2]))
    }

    /// One of the target's coordinates under p.
    ///
    /// # Errors
    /// As [`Quantity::new`].
    pub fn coordinate(&self, d: usize) -> Result<Quantity> {
        let values = &self.x.row(d)[..self.len()];
        let Some(mixing) = &self.mixing else { return self.quantity(values) };
        let of = |all: &[f64]| all.get(d).copied().unwrap_or(f64::INFINITY);
        let both = [of(&mixing.per_effective_bulk), of(&mixing.per_effective_tail)];
        Ok(Quantity::new(values, self.weights())?.of_correlated(both))
    }

    /// Mean, standard deviation and quantiles of each of the target's coordinates under p. Errors are at
    /// least as large as the gaps to another estimator, if one exists.
    ///
    /// # Errors
    /// As [`Quantity::new`].
    pub fn coordinates(&self) -> Result<Vec<Coordinate>> {
        let coordinate = |d: usize| {
            let coordinate = self.coordinate(d)?.coordinate();
            Ok(self.gaps.as_ref().map_or(coordinate, |gaps| gaps.widen(d, coordinate)))
        };
        (0..self.x.dim()).map(coordinate).collect()
    }

    /// Covariance matrix of the target's coordinates under p, row by row.
    ///
    /// # Errors
    /// As [`Quantity::new`].
    pub fn covariance(&self) -> Result<Vec<f64>> {
        covariance(&self.x, self.weights())
    }

    /// Estimate of E_q[log q − log p] = KL(q‖p) − log Z from the finite draws. Infinite if no draw is
    /// finite, NaN without a q.
    pub fn neg_elbo(&self) -> f64 {
        let (count, sum) = self.losses().fold((0.0, 0.0), |(n, sum), loss| (n + 1.0, sum + loss));
        match self.log_q {
            None => f64::NAN,
            Some(_) if count == 0.0 => f64::INFINITY,
            Some(_) => sum / count,
        }
    }

    /// Its standard error; NaN with fewer than two draws.
    pub fn neg_elbo_error(&self) -> f64 {
        let (mean, count) = (self.neg_elbo(), self.losses().count() as f64);
        let squares: f64 = self.losses().map(|loss| (loss - mean).powi(2)).sum();
        (squares / (count - 1.0)).sqrt() / count.sqrt()
    }

    /// The finite values of log q − log p.
    fn losses(&self) -> impl Iterator<Item = f64> {
        self.log_weights.iter().filter(|log_weight| log_weight.is_finite()).map(|log_w| -log_w)
    }

    /// Points of equal weight, resampled from these with a seed. Points can repeat, and mostly do if
    /// `count` exceeds the effective sample size. Equal weights carry no information about Z.
    pub fn resampled(&self, count: usize, seed: u64) -> Self {
        self.choose(&resample::by_seed(self.weights(), count, seed))
    }

    /// Joins these points with others of the same q.
    ///
    /// # Errors
    /// If only one of them has a q, or their dimensions differ.
    pub(crate) fn join(&self, other: &Self) -> Result<Self> {
        let points = |a: &Batch, b: &Batch| {
            let mut all = Batch::zeros(a.dim(), a.len() + b.len());
            all.copy_points(0, a, 0, a.len());
            all.copy_points(a.len(), b, 0, b.len());
            all
        };
        let numbers = |a: &[f64], b: &[f64]| [a, b].concat();
        let log_q = self.log_q().zip(other.log_q()).map(|(a, b)| numbers(a, b));
        Self::new(
            points(&self.z, &other.z),
            points(&self.x, &other.x),
            numbers(&self.log_p, &other.log_p),
            log_q,
            numbers(&self.log_weights, &other.log_weights),
        )
    }

    /// The chosen points, with equal weights.
    fn choose(&self, chosen: &[usize]) -> Self {
        let of = |values: &[f64]| chosen.iter().map(|&i| values[i]).collect();
        let gather = |points: &Batch| {
            let mut out = Batch::zeros(points.dim(), chosen.len());
            for d in 0..points.dim() {
                let from = points.row(d);
                let to = out.row_mut(d).iter_mut();
                to.zip(chosen).for_each(|(to, &i)| *to = from[i]);
            }
            out
        };
        Self {
            z: gather(&self.z),
            x: gather(&self.x),
            log_p: of(&self.log_p),
            log_q: None,
            log_weights: vec![0.0; chosen.len()],
            mixing: self.mixing.clone(),
            gaps: None,
            smoothed: OnceLock::new(),
            weights: OnceLock::new(),
        }
    }
}

/// Normalised weights, without smoothing.
fn normalised(log_weights: &[f64]) -> Result<Vec<f64>> {
    let log_unit = largest_of_some(log_weights)?;
    let weights: Vec<f64> = log_weights.iter().map(|&l| weight(l, log_unit)).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.into_iter().map(|w| w / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn line(values: &[f64]) -> Batch {
        Batch::from_points(1, &values.iter().map(|x| [*x]).collect::<Vec<_>>())
    }

    fn draws(log_p: &[f64], log_q: &[f64]) -> Sample {
        let x = line(&vec![0.0; log_p.len()]);
        Sample::of_draws(x.clone(), x, log_p.to_vec(), log_q.to_vec()).unwrap()
    }

    #[test]
    fn neg_elbo_is_that_of_the_draws_that_are_not_lost() {
        let lost = f64::NEG_INFINITY;
        let sample = draws(&[lost, f64::NAN, 0.5, 2.0], &[0.0, 0.0, 1.0, 3.5]);
        // Losses 0.5 and 1.5: mean 1, standard deviation 1/√2.
        assert_eq!((sample.lost(), sample.neg_elbo()), (2, 1.0));
        assert!((sample.neg_elbo_error() - 0.5).abs() < 1e-15);
        let none = draws(&[lost; 3], &[0.0; 3]);
        assert_eq!((none.lost(), none.neg_elbo()), (3, f64::INFINITY));
        assert!(none.smoothed().is_err());
    }

    #[test]
    fn weights_sum_to_1_whatever_the_draws() {
        for log_p in [[0.0, 1.0, -2.0], [f64::NAN; 3], [f64::NEG_INFINITY, 700.0, -700.0]] {
            let sample = draws(&log_p, &[0.0, 0.5, 0.0]);
            let sum: f64 = sample.weights().iter().sum();
            assert!((sum - 1.0).abs() < 1e-15, "{log_p:?}: {sum}");
            let x = sample.x().clone();
            let particles =
                Sample::of_particles(x.clone(), x, log_p.to_vec(), log_p.to_vec()).unwrap();
            let sum: f64 = particles.weights().iter().sum();
            assert!((sum - 1.0).abs() < 1e-15, "{log_p:?}: {sum}");
            assert!(particles.neg_elbo().is_nan() && particles.log_q().is_none());
        }
    }

    /// q is N(0, 1) and p is N(0.5, 0.8²) in unconstrained coordinates; with x = e^z, p is log-normal.
    #[test]
    fn resampled_points_are_those_of_p_and_belong_together() {
        let mut z = Batch::zeros(1, 4_000);
        Stream::new(3, Purpose::Evaluation).fill_normals(0, 0, &mut z);
        let x = line(&z.row(0).iter().map(|z| z.exp()).collect::<Vec<_>>());
        let log_q: Vec<f64> = z.row(0).iter().map(|z| -0.5 * z * z - z).collect();
        let log_p: Vec<f64> =
            z.row(0).iter().map(|z| -0.5 * ((z - 0.5) / 0.8).powi(2) - 0.8_f64.ln() - z).collect();
        let sample = Sample::of_draws(z, x, log_p, log_q).unwrap();
        let sums = sample.weight_sums().unwrap();
        assert!(sums.log_z().abs() < 4.0 * sums.log_z_error(), "{}", sums.log_z());
        let points = sample.resampled(1_000, 7);
        assert!(points.weights().iter().all(|w| *w == 1e-3));
        for i in 0..points.len() {
            let (z, x) = (points.z().row(0)[i], points.x().row(0)[i]);
            assert_eq!(x, z.exp());
            let log_p = -0.5 * ((z - 0.5) / 0.8).powi(2) - 0.8_f64.ln() - z;
            assert_eq!(points.log_p()[i], log_p);
        }
        for (p, normal) in [(0.1, -1.281_551_6), (0.5, 0.0), (0.9, 1.281_551_6)] {
            let share = |sample: &Sample, at: f64| -> f64 {
                let below = sample.z().row(0).iter().zip(sample.weights());
                below.filter(|(z, _)| **z < at).map(|(_, w)| w).sum()
            };
            let at = sample.quantity(sample.z().row(0)).unwrap().quantile(p).unwrap();
            // The points are not ordered along z, so a fraction has the error of 1000 independent draws.
            let allowed = 4.0 * (p * (1.0 - p) / 1_000.0_f64).sqrt();
            assert!((share(&points, at.value) - p).abs() < allowed, "{p}");
            let exact = 0.5 + 0.8 * normal;
            assert!((at.value - exact).abs() < 4.0 * at.error, "{p}: {at:?} is not {exact}");
        }
        let again = sample.resampled(1_000, 7);
        assert_eq!(again.x().row(0), points.x().row(0), "the seed fixes them");
        assert_ne!(sample.resampled(1_000, 8).x().row(0), points.x().row(0));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let (one, two) = (|| line(&[0.0]), || line(&[0.0, 1.0]));
        assert!(Sample::of_draws(two(), two(), vec![0.0; 2], vec![0.0; 2]).is_ok());
        for (z, x, log_p, log_q) in [
            (one(), two(), 2, 2),
            (two(), two(), 1, 2),
            (two(), two(), 2, 1),
            (Batch::zeros(2, 2), two(), 2, 2),
        ] {
            let error = Sample::of_draws(z, x, vec![0.0; log_p], vec![0.0; log_q]).unwrap_err();
            assert!(error.to_string().contains("2 points of 1 dimensions"), "{error}");
        }
    }
}
