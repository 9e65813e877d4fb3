//! Resampling: which weighted draws to retain, and how often.
//!
//! A weight that is not positive and finite counts as 0, and a draw of weight 0 is never chosen. The
//! caller supplies the uniform numbers, for example from a `Stream` for `Purpose::MonteCarlo`.

use crate::{
    pieces,
    rng::{Purpose, Stream},
};

/// Chooses `count` draws by [`systematic`] resampling with a seed.
pub fn by_seed(weights: &[f64], count: usize, seed: u64) -> Vec<usize> {
    systematic(weights, count, Stream::new(seed, Purpose::MonteCarlo).uniform_at(0))
}

/// Systematic resampling of `count` draws with one uniform number between 0 and 1. Draw i of weight Wᵢ is
/// chosen ⌊n Wᵢ⌋ or ⌈n Wᵢ⌉ times, and n Wᵢ times on average. Returns indices in ascending order, or none
/// if no weight is positive.
///
/// ```
/// use adaann::importance::resample::systematic;
///
/// assert_eq!(systematic(&[0.5, 0.0, 0.3, 0.2], 5, 0.4), [0, 0, 0, 2, 3]);
/// ```
pub fn systematic(weights: &[f64], count: usize, uniform: f64) -> Vec<usize> {
    let expected = expected_copies(weights, count);
    let mut copies: Vec<usize> = expected.iter().map(|e| e.floor() as usize).collect();
    // The integer parts are fixed first, so that rounding in the sum of the fractions cannot change them.
    let mut missing = count.saturating_sub(copies.iter().sum());
    let (mut next, mut reached) = (uniform, 0.0);
    let mut left_out = Vec::new();
    for (i, rest) in expected.iter().map(|e| e.fract()).enumerate().filter(|(_, rest)| *rest > 0.0)
    {
        reached += rest;
        if missing > 0 && next < reached {
            copies[i] += 1;
            missing -= 1;
            next += 1.0;
        } else {
            left_out.push(i);
        }
    }
    // The fractions sum to an integer up to rounding, which may leave out the last ones.
    left_out.iter().rev().take(missing).for_each(|&i| copies[i] += 1);
    let mut chosen: Vec<usize> =
        copies.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(i, n)).collect();
    chosen.truncate(count);
    chosen
}

/// Stratified resampling: chooses one draw per uniform number between 0 and 1. It is less even than
/// [`systematic`] resampling, but has no bias for weights with a period that matches the draws. Returns
/// indices in ascending order, or none if no weight is positive.
pub fn stratified(weights: &[f64], uniforms: &[f64]) -> Vec<usize> {
    let expected = expected_copies(weights, uniforms.len());
    let mut chosen = Vec::with_capacity(uniforms.len());
    let mut reached = 0.0;
    for (i, e) in expected.iter().enumerate() {
        reached += e;
        while chosen.len() < uniforms.len()
            && chosen.len() as f64 + uniforms[chosen.len()] < reached
        {
            chosen.push(i);
        }
    }
    // The expected copies sum to the total up to rounding.
    if let Some(last) = expected.iter().rposition(|e| *e > 0.0) {
        chosen.resize(uniforms.len(), last);
    }
    chosen
}

/// n Wᵢ for weights divided by their sum.
fn expected_copies(weights: &[f64], count: usize) -> Vec<f64> {
    let usable = |w: f64| if w > 0.0 && w < f64::INFINITY { w } else { 0.0 };
    let total = pieces::sum(weights, |part| part.iter().map(|&w| usable(w)).sum());
    if total == 0.0 {
        return Vec::new();
    }
    weights.iter().map(|&w| count as f64 * (usable(w) / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(chosen: &[usize], draws: usize) -> Vec<usize> {
        (0..draws).map(|i| chosen.iter().filter(|&&c| c == i).count()).collect()
    }

    /// Uneven weights with sum 1, every fifth 0.
    fn weights(seed: u64, draws: usize) -> Vec<f64> {
        let stream = Stream::new(seed, Purpose::MonteCarlo);
        let raw =
            |i: usize| if i % 5 == 4 { 0.0 } else { (2.0 * stream.normal_at(i as u64)).exp() };
        let sum: f64 = (0..draws).map(raw).sum();
        (0..draws).map(|i| raw(i) / sum).collect()
    }

    #[test]
    fn copies_are_the_whole_numbers_next_to_what_is_expected() {
        for seed in 0..200 {
            let stream = Stream::new(seed, Purpose::MonteCarlo);
            let (draws, count) = (5 + seed as usize, [1, 7, 64, 1000][seed as usize % 4]);
            let weights = weights(seed, draws);
            let chosen = systematic(&weights, count, stream.uniform_at(1 << 40));
            assert_eq!(chosen.len(), count);
            for (n, w) in copies(&chosen, draws).into_iter().zip(&weights) {
                let expected = count as f64 * w;
                // Dividing by a sum that is 1 up to rounding may cross an integer.
                let (low, high) =
                    ((expected * (1.0 - 1e-14)).floor(), (expected * (1.0 + 1e-14)).ceil());
                assert!(low <= n as f64 && n as f64 <= high, "{n} copies of {expected}");
            }
        }
    }

    #[test]
    fn copies_are_as_expected_on_average() {
        // With K uniform numbers at the midpoints of K parts, each frequency is off by less than 1/K.
        const PARTS: usize = 1000;
        let weights = weights(1, 12);
        let mut sums = [0; 12];
        for part in 0..PARTS {
            let chosen = systematic(&weights, 7, (part as f64 + 0.5) / PARTS as f64);
            sums.iter_mut().zip(copies(&chosen, 12)).for_each(|(sum, n)| *sum += n);
        }
        for (sum, w) in sums.iter().zip(&weights) {
            assert!((*sum as f64 / PARTS as f64 - 7.0 * w).abs() < 1.0 / PARTS as f64);
        }
    }

    #[test]
    fn equal_weights_choose_each_once_whatever_rounding_does() {
        let nearly_one = 1.0 - 0.5_f64.powi(53);
        for draws in [3, 7, 10, 49, 1000] {
            // 1/49 · 49 is not 1 in doubles.
            let weights = vec![1.0 / draws as f64; draws];
            for uniform in [0.5_f64.powi(53), 0.5, nearly_one] {
                assert_eq!(systematic(&weights, draws, uniform), (0..draws).collect::<Vec<_>>());
            }
            assert_eq!(stratified(&weights, &vec![0.5; draws]), (0..draws).collect::<Vec<_>>());
        }
    }

    #[test]
    fn zeros_at_the_ends_are_never_chosen() {
        let weights = [0.0, 0.1, f64::NAN, 0.2, -1.0, 0.3, 0.1, 0.2, 0.1, 0.0];
        for uniform in [0.0, 1e-300, 0.5, 1.0 - 0.5_f64.powi(53), 1.0] {
            for count in [1, 3, 10, 17] {
                for chosen in [
                    systematic(&weights, count, uniform),
                    stratified(&weights, &vec![uniform; count]),
                ] {
                    assert_eq!(chosen.len(), count);
                    assert!(chosen.iter().all(|i| ![0, 2, 4, 9].contains(i)), "{chosen:?}");
                }
            }
        }
    }

    #[test]
    fn strata_choose_by_their_own_numbers() {
        // Draws reach to 0.8, 2, 2 and 4 of 4.
        let weights = [0.2, 0.3, 0.0, 0.5];
        assert_eq!(stratified(&weights, &[0.7, 0.1, 0.9, 0.2]), [0, 1, 3, 3]);
        assert_eq!(stratified(&weights, &[0.9, 0.1, 0.9, 0.2]), [1, 1, 3, 3]);
    }

    #[test]
    fn nothing_to_choose_from_or_nothing_to_choose() {
        assert!(systematic(&[], 3, 0.5).is_empty() && stratified(&[], &[0.5]).is_empty());
        assert!(systematic(&[0.0, f64::NAN], 3, 0.5).is_empty());
        assert!(systematic(&[0.3, 0.7], 0, 0.5).is_empty());
        assert_eq!(systematic(&[0.0, 1.0], 3, 0.999), [1, 1, 1]);
    }
}
