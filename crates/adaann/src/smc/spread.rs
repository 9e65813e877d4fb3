//! Errors from the spread between islands.
//!
//! Islands share target, base and settings, but no random number and no particle: what differs from
//! one to the next is luck, that of finding a region included, which the family tree of one of them
//! cannot see. What none of them finds is seen by neither.

/// Standard error of the mean of numbers that scatter like these; 0 if there is only one.
///
/// From K islands it is itself known to 1 part in √(2 (K − 1)): with four of them, three errors are as
/// likely to be passed as two are with many.
pub(super) fn standard_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count * (count - 1.0))).sqrt()
}

/// Standard error of Σ W f over particles that stand island by island, as many in each, from the means
/// that islands have alone; 0 if there is only one.
pub(super) fn mean_error(weights: &[f64], values: &[f64], islands: usize) -> f64 {
    if islands < 2 {
        return 0.0;
    }
    let mean: f64 = weights.iter().zip(values).map(|(w, f)| w * f).sum();
    let each = weights.len() / islands;
    let terms = weights.chunks(each).zip(values.chunks(each)).map(|(weights, values)| {
        let term: f64 = weights.iter().zip(values).map(|(w, f)| w * (f - mean)).sum();
        term * term
    });
    (terms.sum::<f64>() * islands as f64 / (islands as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_a_mean() {
        assert_eq!(standard_error(&[3.0]), 0.0);
        // Variance 4, of a mean of 4.
        let values = [1.0, 1.0, 5.0, 1.0];
        assert!((standard_error(&values) - 1.0).abs() < 1e-15);
        // Two particles in each of four islands of the same weight: the same numbers.
        let values: Vec<f64> = values.iter().flat_map(|v| [v - 0.5, v + 0.5]).collect();
        assert!((mean_error(&[0.125; 8], &values, 4) - 1.0).abs() < 1e-15);
        assert_eq!(mean_error(&[0.125; 8], &values, 1), 0.0);
        // An island without weight says nothing.
        let weights = [0.5, 0.5, 0.0, 0.0];
        assert!(mean_error(&weights, &[1.0, 3.0, 90.0, 70.0], 2) < 1e-15);
    }
}
