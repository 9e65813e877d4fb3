//! Summaries of each mode by weighted draws: its share, its mean and its covariance.

use crate::modes::Modes;
use crate::{Batch, Error, Result, error, importance::Estimate, target::Unconstrained};

/// The summary of a mode by weighted draws, in the target's own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeSummary {
    /// The peak of log p + log|J|.
    pub position: Vec<f64>,
    /// log p + log|J| there.
    pub log_density: f64,
    /// The mode's share of the mass.
    pub share: Estimate,
    /// The mean of its draws; none if it has no draw of positive weight.
    pub mean: Option<Vec<f64>>,
    /// Their covariance, row by row.
    pub covariance: Option<Vec<f64>>,
}

/// The share of each of `count` modes, from the modes of draws and their weights, which need not
/// sum to 1.
///
/// With normalised weights W, p_m = Σ W_i 1[i in m] has the standard error √(Σ W_i² (1[i in m] −
/// p_m)²), that of a ratio of two sums. It is 0 for a mode without draws; this does not reflect
/// what the draws have missed.
///
/// # Errors
/// If there is not one weight for each draw, one is negative or not finite, or all are 0; and if a
/// draw's mode is not below `count`.
pub fn shares(count: usize, modes: &[Option<usize>], weights: &[f64]) -> Result<Vec<Estimate>> {
    let total = total(modes.len(), weights)?;
    if let Some(beyond) = modes.iter().flatten().find(|&&mode| mode >= count) {
        return Err(error::setting("mode", beyond, format!("below {count}, the number of modes")));
    }
    let mut value = vec![0.0; count];
    let mut own_squares = vec![0.0; count];
    let mut squares = 0.0;
    for (mode, weight) in modes.iter().zip(weights) {
        let weight = weight / total;
        squares += weight * weight;
        if let Some(mode) = *mode {
            value[mode] += weight;
            own_squares[mode] += weight * weight;
        }
    }
    let share = |(p, own): (f64, f64)| {
        let variance = own * (1.0 - p).powi(2) + (squares - own).max(0.0) * p * p;
        Estimate { value: p, error: variance.sqrt() }
    };
    Ok(value.into_iter().zip(own_squares).map(share).collect())
}

impl Modes {
    /// The summary of each mode by weighted draws, in unconstrained coordinates.
    ///
    /// # Errors
    /// As [`shares`], and if the draws have another dimension.
    pub fn summarise(
        &self,
        target: &Unconstrained,
        draws: &Batch,
        weights: &[f64],
    ) -> Result<Vec<ModeSummary>> {
        let dim = self.peaks[0].z.len();
        if draws.dim() != dim || target.dim() != dim {
            return Err(Error::Shape {
                what: "the draws of modes, and their target".into(),
                found: format!("{} and {} dimensions", draws.dim(), target.dim()),
                expected: dim.to_string(),
            });
        }
        let modes = self.assign(draws);
        let shares = shares(self.len(), &modes, weights)?;
        let (theta, _) = target.constrain(draws);
        let peaks: Vec<_> = self.peaks.iter().map(|peak| &peak.z).collect();
        let (positions, _) = target.constrain(&Batch::from_points(dim, &peaks));
        let summary = |(mode, share): (usize, Estimate)| {
            let own = |&i: &usize| modes[i] == Some(mode) && weights[i] > 0.0;
            let members: Vec<usize> = (0..draws.len()).filter(own).collect();
            let moments = moments(&theta, weights, &members);
            let (mean, covariance) = moments.unzip();
            let log_density = self.peaks[mode].log_density;
            ModeSummary { position: positions.point(mode), log_density, share, mean, covariance }
        };
        Ok(shares.into_iter().enumerate().map(summary).collect())
    }
}

/// Mean and covariance of some of the points; none without points.
fn moments(points: &Batch, weights: &[f64], members: &[usize]) -> Option<(Vec<f64>, Vec<f64>)> {
    // Relative to the largest weight, so that a sum of tiny weights is not 0.
    let largest = members.iter().map(|&i| weights[i]).reduce(f64::max)?;
    let dim = points.dim();
    let total: f64 = members.iter().map(|&i| weights[i] / largest).sum();
    let mean_of = |f: &dyn Fn(usize) -> f64| -> f64 {
        members.iter().map(|&i| weights[i] / largest * f(i)).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..dim).map(|d| mean_of(&|i| points.row(d)[i])).collect();
    let mut covariance = vec![0.0; dim * dim];
    for a in 0..dim {
        for b in 0..=a {
            let (x, y) = (points.row(a), points.row(b));
            covariance[a * dim + b] = mean_of(&|i| (x[i] - mean[a]) * (y[i] - mean[b]));
            covariance[b * dim + a] = covariance[a * dim + b];
        }
    }
    Some((mean, covariance))
}

/// The sum of the weights, after checking them.
fn total(draws: usize, weights: &[f64]) -> Result<f64> {
    if weights.len() != draws {
        return Err(Error::Shape {
            what: "the weights of draws".into(),
            found: weights.len().to_string(),
            expected: draws.to_string(),
        });
    }
    if let Some(bad) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        return Err(error::setting("weights", bad, "finite and not negative"));
    }
    let total: f64 = weights.iter().sum();
    if total > 0.0 && total.is_finite() {
        return Ok(total);
    }
    Err(error::setting("sum of weights", total, "positive and finite; no draw counts otherwise"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_errors_of_four_draws() {
        // W = 1/8, 1/2, 1/4, 1/8; the last draw is in no mode.
        let modes = [Some(1), Some(0), Some(1), None];
        let shares = shares(3, &modes, &[1.0, 4.0, 2.0, 1.0]).unwrap();
        let values: Vec<f64> = shares.iter().map(|share| share.value).collect();
        assert_eq!(values, [0.5, 0.375, 0.0]);
        // Σ W² (1 − p)² inside and Σ W² p² outside.
        let first: f64 = (16.0 * 0.25 + (1.0 + 4.0 + 1.0) * 0.25) / 64.0;
        let second: f64 = ((1.0 + 4.0) * 0.625_f64.powi(2) + 17.0 * 0.375_f64.powi(2)) / 64.0;
        for (share, variance) in shares.iter().zip([first, second, 0.0]) {
            assert!((share.error - variance.sqrt()).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_weights_have_the_error_of_a_proportion() {
        let modes: Vec<_> = (0..100).map(|i| Some(usize::from(i < 20))).collect();
        let one = shares(2, &modes, &[7.0; 100]).unwrap()[1];
        assert!((one.value - 0.2).abs() < 1e-14);
        assert!((one.error - (0.2 * 0.8 / 100.0_f64).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        let modes = [Some(0), Some(1)];
        for bad in [&[1.0][..], &[1.0, -1.0], &[f64::NAN, 1.0], &[0.0, 0.0], &[f64::MAX; 2]] {
            assert!(shares(2, &modes, bad).is_err(), "{bad:?}");
        }
        assert!(shares(1, &modes, &[1.0, 1.0]).unwrap_err().to_string().contains("below 1"));
    }
}
