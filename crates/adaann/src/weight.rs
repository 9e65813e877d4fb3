//! Importance weights, the effective sample size, and sums of weights in logarithms.

/// The log weight log p/q that turns a draw of q into one of p.
pub(crate) fn log_weight(log_p: f64, log_q: f64) -> f64 {
    log_p - log_q
}

/// The effective sample size (Σ w)²/Σ w² from the two sums; 0 if no weight is positive.
///
/// With n Σ w² in place of Σ w², the result is the share of n points.
pub(crate) fn effective_size(sum: f64, squares: f64) -> f64 {
    if squares == 0.0 { 0.0 } else { sum * sum / squares }
}

/// The effective sample size of weights, which need not be normalised.
///
/// ```
/// use adaann::importance::ess;
///
/// assert!((ess(&[0.0, 1.0, 2.0, 3.0]) - 36.0 / 14.0).abs() < 1e-14);
/// ```
pub fn ess(weights: &[f64]) -> f64 {
    // Relative to the largest weight, so that no square underflows.
    let largest = weights.iter().fold(0.0, |largest: f64, &w| largest.max(w));
    if largest == 0.0 {
        return 0.0;
    }
    let sum = weights.iter().map(|w| w / largest).sum();
    effective_size(sum, weights.iter().map(|w| (w / largest).powi(2)).sum())
}

/// log Σ eˣ; −∞ for an empty sum, +∞ if any term is +∞.
///
/// ```
/// use adaann::importance::log_sum_exp;
///
/// let log_sum = log_sum_exp([1e5, 1e5 + 3_f64.ln()].into_iter());
/// assert!((log_sum - (1e5 + 4_f64.ln())).abs() < 1e-10);
/// ```
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_size_of_given_weights() {
        assert!((ess(&[0.0, 1e-200, 2e-200, 3e-200]) - 36.0 / 14.0).abs() < 1e-14);
        assert_eq!((ess(&[]), ess(&[0.0, 0.0])), (0.0, 0.0));
        // Weights 1, 2, 3 among 4 points.
        assert_eq!(effective_size(6.0, 4.0 * 14.0), 36.0 / 56.0);
    }

    #[test]
    fn sums_of_any_size_and_of_nothing() {
        let of = |terms: &[f64]| log_sum_exp(terms.iter().copied());
        let (lost, pole) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!((of(&[]), of(&[lost, lost]), of(&[0.0, pole])), (lost, lost, pole));
        assert_eq!((of(&[-1e308]), of(&[lost, 7.0])), (-1e308, 7.0));
        let sum = of(&[1_f64.ln() - 800.0, 2_f64.ln() - 800.0, 5_f64.ln() - 800.0]);
        // An ulp of 800 is 1.1e-13.
        assert!((sum - (8_f64.ln() - 800.0)).abs() < 4e-13, "{sum}");
    }
}
