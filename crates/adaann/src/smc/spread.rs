//! Errors from the spread between islands.
//!
//! Islands share target, base and settings, but no random number and no particle: what differs from
//! one to the next is luck, that of finding a region included, which the family tree of one of them
//! cannot see. What none of them finds is seen by neither.

/// Standard error of the mean of numbers that scatter like these, each of which counts as much as its
/// island has particles, and scatters as much less; 0 if there is only one.
///
/// From K islands it is itself known to 1 part in √(2 (K − 1)): with four of them, three errors are as
/// likely to be passed as two are with many.
pub(super) fn standard_error(values: &[f64], lengths: &[usize]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let shares = || shares(lengths).zip(values);
    let mean: f64 = shares().map(|(share, value)| share * value).sum();
    let squares: f64 = shares().map(|(share, value)| share * (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// Standard error of Σ W f over particles that stand island by island, from the means that islands have
/// alone; 0 if there is only one.
pub(super) fn mean_error(weights: &[f64], values: &[f64], lengths: &[usize]) -> f64 {
    if lengths.len() < 2 {
        return 0.0;
    }
    let mean: f64 = weights.iter().zip(values).map(|(w, f)| w * f).sum();
    let mut all = weights.iter().zip(values);
    let squares: f64 = lengths
        .iter()
        .map(|length| {
            let own = all.by_ref().take(*length);
            own.map(|(w, f)| w * (f - mean)).sum::<f64>().powi(2)
        })
        .sum();
    // The mean is that of the islands themselves: K / (K − 1) where they are equally large.
    (squares / (1.0 - shares(lengths).map(|share| share * share).sum::<f64>())).sqrt()
}

/// The share of all particles that each island has.
fn shares(lengths: &[usize]) -> impl Iterator<Item = f64> {
    let all: usize = lengths.iter().sum();
    lengths.iter().map(move |length| *length as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_a_mean() {
        assert_eq!(standard_error(&[3.0], &[2]), 0.0);
        // Variance 4, of a mean of 4.
        let values = [1.0, 1.0, 5.0, 1.0];
        assert!((standard_error(&values, &[2; 4]) - 1.0).abs() < 1e-15);
        // Two particles in each of four islands of the same weight: the same numbers.
        let values: Vec<f64> = values.iter().flat_map(|v| [v - 0.5, v + 0.5]).collect();
        assert!((mean_error(&[0.125; 8], &values, &[2; 4]) - 1.0).abs() < 1e-15);
        assert_eq!(mean_error(&[0.125; 8], &values, &[8]), 0.0);
        // One island with three times the particles of the other, a third of whose error it then has: the
        // mean is 2, and Σ share (x − 2)² is 3/4 + 9/4.
        assert!((standard_error(&[1.0, 5.0], &[6, 2]) - 3.0_f64.sqrt()).abs() < 1e-15);
        let values = [1.0, 1.0, 1.0, 5.0];
        assert!((mean_error(&[0.25; 4], &values, &[3, 1]) - 3.0_f64.sqrt()).abs() < 1e-15);
        // An island without weight says nothing.
        let weights = [0.5, 0.5, 0.0, 0.0];
        assert!(mean_error(&weights, &[1.0, 3.0, 90.0, 70.0], &[2, 2]) < 1e-15);
    }
}
