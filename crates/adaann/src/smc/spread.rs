//! Errors from the spread between islands.
//!
//! Islands share the target, base and settings, but no random numbers and no particles. Differences
//! between them are due to chance, including the chance of finding a region, which the genealogy of a
//! single island cannot show. Neither error covers what no island finds.

/// Standard error of the weighted mean of one value per island. Each value is weighted by its island's
/// number of particles, and its variance is inversely proportional to that number. 0 for a single island.
///
/// With K islands its own relative error is 1/√(2 (K − 1)): with four islands, a deviation of three
/// errors is as likely as one of two errors with many.
pub(super) fn standard_error(values: &[f64], lengths: &[usize]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let shares = || shares(lengths).zip(values);
    let mean: f64 = shares().map(|(share, value)| share * value).sum();
    let squares: f64 = shares().map(|(share, value)| share * (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// Standard error of Σ W f over particles stored island by island, computed from the means of the
/// islands; 0 for a single one.
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
    // The mean uses the islands themselves: a factor K / (K − 1) where they are equally large.
    (squares / (1.0 - shares(lengths).map(|share| share * share).sum::<f64>())).sqrt()
}

/// Each island's fraction of all particles.
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
        // Two particles in each of four islands with equal weight: the same numbers.
        let values: Vec<f64> = values.iter().flat_map(|v| [v - 0.5, v + 0.5]).collect();
        assert!((mean_error(&[0.125; 8], &values, &[2; 4]) - 1.0).abs() < 1e-15);
        assert_eq!(mean_error(&[0.125; 8], &values, &[8]), 0.0);
        // One island has three times the particles of the other, and so a third of its variance: the mean
        // is 2, and Σ share (x − 2)² is 3/4 + 9/4.
        assert!((standard_error(&[1.0, 5.0], &[6, 2]) - 3.0_f64.sqrt()).abs() < 1e-15);
        let values = [1.0, 1.0, 1.0, 5.0];
        assert!((mean_error(&[0.25; 4], &values, &[3, 1]) - 3.0_f64.sqrt()).abs() < 1e-15);
        // An island without weight is ignored.
        let weights = [0.5, 0.5, 0.0, 0.0];
        assert!(mean_error(&weights, &[1.0, 3.0, 90.0, 70.0], &[2, 2]) < 1e-15);
    }
}
