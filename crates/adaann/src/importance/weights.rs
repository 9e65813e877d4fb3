//! Importance weights of draws of q towards p, and what they say about Z.

use crate::Result;
use crate::importance::Tally;
use crate::importance::tally::{largest_of_some, weight};

/// The weights of S draws of q, from their log p − log q. p need not be normalised.
///
/// ```
/// use adaann::importance::Importance;
///
/// let importance = Importance::new(&[1_f64.ln(), 2_f64.ln(), 3_f64.ln(), f64::NAN])?;
/// assert!((importance.log_z() - 1.5_f64.ln()).abs() < 1e-15);
/// assert!((importance.ess() - 36.0 / 14.0).abs() < 1e-14);
/// assert_eq!(importance.lost(), 1);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    tally: Tally,
    weights: Vec<f64>,
}

impl Importance {
    /// Weights draws by their log p − log q.
    ///
    /// # Errors
    /// If a log ratio is +∞, and if no draw is left that is not lost.
    pub fn new(log_ratios: &[f64]) -> Result<Self> {
        largest_of_some(log_ratios)?;
        let mut tally = Tally::default();
        tally.add(log_ratios)?;
        let (sum, log_unit) = tally.sum();
        let weights = log_ratios.iter().map(|&l| weight(l, log_unit) / sum).collect();
        Ok(Self { tally, weights })
    }

    /// The log of the mean weight: see [`Tally::log_z`].
    pub fn log_z(&self) -> f64 {
        self.tally.log_z()
    }

    /// The standard error of log Z: see [`Tally::log_z_error`].
    pub fn log_z_error(&self) -> f64 {
        self.tally.log_z_error()
    }

    /// The effective sample size: see [`Tally::ess`].
    pub fn ess(&self) -> f64 {
        self.tally.ess()
    }

    /// The effective sample size as a share of the draws.
    pub fn ess_share(&self) -> f64 {
        self.tally.ess_share()
    }

    /// How many draws have a log ratio that is NaN or −∞, and so weight 0.
    pub fn lost(&self) -> usize {
        self.tally.lost()
    }

    /// The weights, in the order of the draws; their sum is 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

/// The effective sample size (Σ w)²/Σ w² of weights, which need not be normalised; 0 if none is
/// positive.
pub fn ess(weights: &[f64]) -> f64 {
    let largest = weights.iter().fold(0.0, |largest: f64, &w| largest.max(w));
    if largest == 0.0 {
        return 0.0;
    }
    let sum: f64 = weights.iter().map(|w| w / largest).sum();
    let squares: f64 = weights.iter().map(|w| (w / largest).powi(2)).sum();
    sum * sum / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_weights_by_hand() {
        let importance = Importance::new(&[3_f64.ln(), 1_f64.ln(), 2_f64.ln()]).unwrap();
        for (w, exact) in importance.weights().iter().zip([3.0, 1.0, 2.0]) {
            assert!((w - exact / 6.0).abs() < 1e-15);
        }
        assert!((importance.ess() - 36.0 / 14.0).abs() < 1e-14);
        assert!((importance.ess_share() - 12.0 / 14.0).abs() < 1e-14);
        // The mean is 2, its variance 1/3.
        assert!((importance.log_z() - 2_f64.ln()).abs() < 1e-15);
        assert!((importance.log_z_error() - (1_f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
    }

    #[test]
    fn lost_draws_count_and_weigh_nothing() {
        let importance =
            Importance::new(&[f64::NEG_INFINITY, 700.0, f64::NAN, 700.0, -800.0]).unwrap();
        assert_eq!(importance.weights(), [0.0, 0.5, 0.0, 0.5, 0.0]);
        assert_eq!((importance.lost(), importance.ess()), (2, 2.0));
        assert!((importance.log_z() - (700.0 + 0.4_f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn one_draw_has_a_weight_and_no_error() {
        let importance = Importance::new(&[-3.0]).unwrap();
        assert_eq!((importance.log_z(), importance.ess()), (-3.0, 1.0));
        assert_eq!(importance.log_z_error(), f64::INFINITY);
    }

    #[test]
    fn what_has_no_weights_is_refused() {
        for (log_ratios, says) in [
            (&[][..], "no draws"),
            (&[f64::NAN, f64::NEG_INFINITY], "all 2 draws"),
            (&[0.0, f64::INFINITY, f64::NAN], "draw 2 is +inf"),
        ] {
            let error = Importance::new(log_ratios).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_effective_size_of_given_weights() {
        assert!((ess(&[0.0, 1e-200, 2e-200, 3e-200]) - 36.0 / 14.0).abs() < 1e-14);
        assert_eq!((ess(&[]), ess(&[0.0, 0.0])), (0.0, 0.0));
    }
}
