//! Sums over importance weights in bounded memory, for log Z and the effective sample size.

use crate::{Error, Result, non_finite::is_non_finite, pieces, weight::effective_size};

/// Running sums over the weights w = p/q for log Z, its error and the effective sample size.
///
/// The same chunks in the same order give bit-identical results.
///
/// ```
/// use adaann::importance::WeightSums;
///
/// let mut sums = WeightSums::default();
/// sums.add(&[1_f64.ln(), 2_f64.ln()])?;
/// sums.add(&[3_f64.ln()])?;
/// assert!((sums.log_z() - 2_f64.ln()).abs() < 1e-15);
/// assert!((sums.ess() - 36.0 / 14.0).abs() < 1e-14);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightSums {
    draws: usize,
    lost: usize,
    /// The largest log w so far, −∞ initially. Weights are stored relative to it, so that the largest is 1
    /// and none overflows.
    log_unit: f64,
    mean: f64,
    /// Σ (w − mean)². The sum of w² would lose the variance of nearly equal weights to cancellation.
    squares: f64,
}

impl Default for WeightSums {
    /// The sums of no draws.
    fn default() -> Self {
        Self { draws: 0, lost: 0, log_unit: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 }
    }
}

impl WeightSums {
    /// Adds draws of q, given their log p − log q.
    ///
    /// # Errors
    /// If a log ratio is +∞; the sums are then unchanged.
    pub fn add(&mut self, log_ratios: &[f64]) -> Result<()> {
        if log_ratios.is_empty() {
            return Ok(());
        }
        let log_unit = largest(log_ratios, self.draws)?;
        let draws = log_ratios.len();
        let weights = |part: &[f64]| part.iter().map(|&l| weight(l, log_unit)).sum();
        let mean = pieces::sum(log_ratios, weights) / draws as f64;
        let squares =
            |part: &[f64]| part.iter().map(|&l| (weight(l, log_unit) - mean).powi(2)).sum();
        let squares = pieces::sum(log_ratios, squares);
        let lost = log_ratios.iter().filter(|&&log_ratio| is_non_finite(log_ratio)).count();
        self.merge(&Self { draws, lost, log_unit, mean, squares });
        Ok(())
    }

    /// Merges the sums of later draws.
    pub fn merge(&mut self, other: &Self) {
        if other.draws == 0 {
            return;
        }
        let log_unit = self.log_unit.max(other.log_unit);
        let [ours, theirs] = [self, other].map(|sums| weight(sums.log_unit, log_unit));
        let [a, b] = [self.draws, other.draws].map(|draws| draws as f64);
        let difference = theirs * other.mean - ours * self.mean;
        // Chan, Golub and LeVeque (1979)
        *self = Self {
            draws: self.draws + other.draws,
            lost: self.lost + other.lost,
            log_unit,
            mean: ours * self.mean + difference * (b / (a + b)),
            squares: ours * ours * self.squares
                + theirs * theirs * other.squares
                + difference * difference * (a / (a + b) * b),
        };
    }

    /// Number of draws, including non-finite ones.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Number of draws whose log ratio is NaN or −∞.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// The log of the mean weight. The mean weight is an unbiased estimate of ∫ p. −∞ if all draws are
    /// non-finite.
    pub fn log_z(&self) -> f64 {
        self.log_unit + self.mean.ln()
    }

    /// The standard error of [`WeightSums::log_z`] by the delta method: the relative standard error of the
    /// mean weight. Infinite for fewer than two draws, or if all are non-finite.
    pub fn log_z_error(&self) -> f64 {
        if self.draws < 2 || self.lost == self.draws {
            return f64::INFINITY;
        }
        let draws = self.draws as f64;
        (self.squares / (draws * (draws - 1.0))).sqrt() / self.mean
    }

    /// (Σ w)²/Σ w²: the number of draws of p that would estimate a mean equally well, for a function
    /// independent of the weights.
    pub fn ess(&self) -> f64 {
        let draws = self.draws as f64;
        effective_size(draws * self.mean, self.squares + draws * self.mean * self.mean)
    }

    /// [`WeightSums::ess`] as a fraction of the draws.
    pub fn ess_share(&self) -> f64 {
        if self.draws == 0 { 0.0 } else { self.ess() / self.draws as f64 }
    }
}

/// w in units of exp(`log_unit`); 0 if it is non-finite, also if all are and the unit is −∞.
pub(super) fn weight(log_ratio: f64, log_unit: f64) -> f64 {
    let weight = (log_ratio - log_unit).exp();
    if weight.is_nan() { 0.0 } else { weight }
}

/// The largest log ratio, −∞ if all are non-finite; `before` draws were added earlier.
///
/// # Errors
/// If it is +∞.
fn largest(log_ratios: &[f64], before: usize) -> Result<f64> {
    let largest = log_ratios.iter().fold(f64::NEG_INFINITY, |largest, &l| largest.max(l));
    if largest < f64::INFINITY {
        return Ok(largest);
    }
    let at = log_ratios.iter().position(|&l| l == largest).unwrap_or(0);
    Err(Error::Data(format!(
        "log p - log q of draw {} is +inf, so its weight would be infinite: the target's log density is \
         +inf there, or that of the approximation -inf; bound the target where it has a pole",
        before + at + 1
    )))
}

/// The largest log ratio; at least one draw must be finite.
///
/// # Errors
/// If it is +∞, or no draw is finite.
pub(super) fn largest_of_some(log_ratios: &[f64]) -> Result<f64> {
    let largest = largest(log_ratios, 0)?;
    if largest > f64::NEG_INFINITY {
        return Ok(largest);
    }
    Err(Error::Data(match log_ratios.len() {
        0 => "there are no draws to weight; ask for at least one".into(),
        draws => format!(
            "log p - log q is NaN or -inf for all {draws} draws: none lies in the target's support; \
             check the target's log density at some of them, and the fit"
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn sums_of(chunks: &[&[f64]]) -> WeightSums {
        let mut sums = WeightSums::default();
        chunks.iter().for_each(|chunk| sums.add(chunk).unwrap());
        sums
    }

    /// Increasing log ratios, so that each chunk changes the unit, with non-finite draws.
    fn log_ratios() -> Vec<f64> {
        let stream = Stream::new(3, Purpose::MonteCarlo);
        let mut values: Vec<f64> =
            (0..1000).map(|i| stream.normal_at(i) + 0.01 * i as f64 - 900.0).collect();
        values[0] = f64::NAN;
        values[700] = f64::NEG_INFINITY;
        values
    }

    #[test]
    fn chunks_make_the_whole() {
        let values = log_ratios();
        let whole = sums_of(&[&values]);
        let (head, rest) = values.split_at(1);
        let (middle, end) = rest.split_at(700);
        let mut parts = sums_of(&[head, &[], middle]);
        parts.merge(&sums_of(&[end]));
        assert_eq!((parts.draws(), parts.lost()), (1000, 2));
        // A few hundred roundings of some ulps.
        assert!((parts.log_z() - whole.log_z()).abs() < 1e-12);
        assert!((parts.log_z_error() / whole.log_z_error() - 1.0).abs() < 1e-12);
        assert!((parts.ess() / whole.ess() - 1.0).abs() < 1e-12);

        let w: Vec<f64> = values.iter().map(|l| (l + 890.0).exp()).map(|w| w.max(0.0)).collect();
        let sum: f64 = w.iter().sum();
        let squares: f64 = w.iter().map(|w| w * w).sum();
        assert!((whole.log_z() - ((sum / 1000.0).ln() - 890.0)).abs() < 1e-12);
        assert!((whole.ess() / (sum * sum / squares) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn three_weights_by_hand() {
        let sums = sums_of(&[&[3_f64.ln(), 1_f64.ln(), 2_f64.ln()]]);
        assert!((sums.ess() - 36.0 / 14.0).abs() < 1e-14);
        assert!((sums.ess_share() - 12.0 / 14.0).abs() < 1e-14);
        // The mean is 2, its variance 1/3.
        assert!((sums.log_z() - 2_f64.ln()).abs() < 1e-15);
        assert!((sums.log_z_error() - (1_f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
        let one = sums_of(&[&[-3.0]]);
        assert_eq!((one.log_z(), one.ess(), one.log_z_error()), (-3.0, 1.0, f64::INFINITY));
    }

    #[test]
    fn nothing_added_changes_no_bit() {
        let one = sums_of(&[&log_ratios()]);
        let mut merged = WeightSums::default();
        merged.merge(&one);
        merged.merge(&WeightSums::default());
        assert_eq!(merged, one);
    }

    #[test]
    fn weights_that_are_nearly_equal_keep_their_variance() {
        // Relative deviations ±1e-10: standard error 1e-10/√(n − 1).
        let values: Vec<f64> =
            (0..10_000).map(|i| if i % 2 == 0 { 1e-10 } else { -1e-10 }).collect();
        let sums = sums_of(&[&values]);
        // exp rounds each weight by 1e-16, a millionth of its deviation.
        assert!((sums.log_z_error() * 9999_f64.sqrt() / 1e-10 - 1.0).abs() < 1e-5);
    }

    #[test]
    fn lost_draws_before_and_after_those_that_are_not() {
        let lost = [f64::NAN, f64::NEG_INFINITY];
        let all = sums_of(&[&lost, &lost]);
        assert_eq!((all.log_z(), all.ess(), all.lost()), (f64::NEG_INFINITY, 0.0, 4));
        assert_eq!(all.log_z_error(), f64::INFINITY);
        assert_eq!(WeightSums::default().ess_share(), 0.0);
        for chunks in [[&lost[..], &[5.0, 5.0]], [&[5.0, 5.0], &lost]] {
            let sums = sums_of(&chunks);
            assert!((sums.log_z() - (5.0 - 2_f64.ln())).abs() < 1e-15);
            assert!((sums.ess() - 2.0).abs() < 1e-15 && sums.ess_share() == 0.5);
        }
    }

    #[test]
    fn magnitudes_of_any_size() {
        let sums = sums_of(&[&[-1e308], &[1e308, -1e308], &[1e308]]);
        assert_eq!((sums.log_z(), sums.lost()), (1e308, 0));
        assert!((sums.ess() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn an_infinite_weight_is_refused_and_named() {
        let mut sums = sums_of(&[&[0.0, 1.0]]);
        let before = sums;
        let error = sums.add(&[f64::NAN, 2.0, f64::INFINITY]).unwrap_err().to_string();
        assert!(error.contains("draw 5"), "{error}");
        assert_eq!(sums, before);
    }
}
