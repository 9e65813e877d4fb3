//! How well draws of one density represent another, and the t at which they represent p_t best.

use crate::weight::{effective_size, log_weight};

/// The smallest t that [`gentlest_t`] returns.
const SMALLEST: f64 = 1e-6;

/// Values of t tried per factor of ten.
const PER_DECADE: usize = 10;

/// The fraction of the draws of q that count as draws of p_t: the effective sample size (Σ w)²/Σ w²
/// of the weights w = p_t/q, divided by the number of draws. Computed from a, b (log p_t = a + t b)
/// and log q at each draw.
///
/// A draw with a non-finite weight has weight 0. The result is 0 if all weights are non-finite.
pub fn weight_ess(t: f64, a: &[f64], b: &[f64], log_q: &[f64]) -> f64 {
    let log_weights = || {
        let parts = a.iter().zip(b).zip(log_q);
        // At t = 0 it is a, even if b is −∞.
        let log_p = move |a: f64, b: f64| if t == 0.0 { a } else { a + t * b };
        parts
            .map(move |((a, b), log_q)| log_weight(log_p(*a, *b), *log_q))
            .filter(|w| w.is_finite())
    };
    let largest = log_weights().fold(f64::NEG_INFINITY, f64::max);
    let (mut first, mut second) = (0.0, 0.0);
    for log_weight in log_weights() {
        let w = (log_weight - largest).exp();
        first += w;
        second += w * w;
    }
    effective_size(first, second * a.len() as f64)
}

/// The t in [1e-6, 1] at which p_t is nearest to a flow: the largest [`weight_ess`] of its draws,
/// given a, b and log q at each.
///
/// Takes the largest value on a grid of ten t per factor of ten, then refines it by golden-section
/// search. If all values are equal, for example if all draws are non-finite, returns the smallest
/// t.
pub fn gentlest_t(a: &[f64], b: &[f64], log_q: &[f64]) -> f64 {
    let ess = |log_t: f64| weight_ess(log_t.exp(), a, b, log_q);
    let first = SMALLEST.ln();
    let count = (PER_DECADE as f64 * (1.0 / SMALLEST).log10()).round() as usize;
    let at = |i: usize| first * (1.0 - i as f64 / count as f64);
    let mut best = (0, ess(at(0)));
    for i in 1..=count {
        let value = ess(at(i));
        if value > best.1 {
            best = (i, value);
        }
    }
    let (mut low, mut high) = (at(best.0.saturating_sub(1)), at((best.0 + 1).min(count)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let mut inner = [high - golden * (high - low), low + golden * (high - low)];
    let mut values = inner.map(ess);
    // A relative error of 1e-3 in t is far below the noise of the draws.
    while high - low > 1e-3 {
        if values[0] >= values[1] {
            high = inner[1];
            inner = [high - golden * (high - low), inner[0]];
            values = [ess(inner[0]), values[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + golden * (high - low)];
            values = [values[1], ess(inner[1])];
        }
    }
    let (t, value) =
        if values[0] >= values[1] { (inner[0], values[0]) } else { (inner[1], values[1]) };
    // The grid contains the ends of the range; the refinement does not.
    if value > best.1 { t.exp() } else { at(best.0).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::normal;

    /// Weights 1, 2, 3 and a non-finite draw: 36/14 of 4.
    #[test]
    fn the_share_is_that_of_the_weights() {
        let log_w = [1.0_f64.ln(), 2.0_f64.ln(), 3.0_f64.ln(), f64::NAN];
        let zeros = [0.0; 4];
        for shift in [-1e3, 0.0, 1e3] {
            let a = log_w.map(|w| w + shift);
            assert!((weight_ess(0.3, &a, &zeros, &zeros) - 36.0 / 14.0 / 4.0).abs() < 1e-12);
        }
        let lost = [f64::NEG_INFINITY; 4];
        assert_eq!(weight_ess(0.3, &zeros, &lost, &zeros), 0.0);
        assert_eq!(weight_ess(0.0, &zeros, &lost, &zeros), 1.0);
        assert_eq!(weight_ess(0.5, &[], &[], &[]), 0.0);
    }

    /// q = N(0, s²) and p = N(0, 1): p_t is q at t = 1/s², where all weights are equal. The search
    /// stops within 1e-3. The draws' noise has no effect, since the maximum is 1.
    #[test]
    fn a_gaussian_is_met_at_its_own_temperature() {
        let e = normal(3, 500);
        for s in [1.5_f64, 4.0, 30.0, 200.0] {
            let log_q: Vec<f64> = e.iter().map(|e| -0.5 * e * e - s.ln()).collect();
            let b: Vec<f64> = e.iter().map(|e| -0.5 * (s * e).powi(2) + 40.0).collect();
            let t = gentlest_t(&vec![0.0; e.len()], &b, &log_q);
            assert!((t * s * s - 1.0).abs() < 1e-3, "s = {s}: {t}");
        }
    }

    #[test]
    fn the_ends_are_found_and_lost_draws_do_no_harm() {
        let e = normal(4, 200);
        let zeros = vec![0.0; e.len()];
        let log_q: Vec<f64> = e.iter().map(|e| -0.5 * e * e).collect();
        // p that is wider than q for all t up to 1, and p that is flat only at t = 0.
        let b: Vec<f64> = e.iter().map(|e| -0.1 * e * e).collect();
        assert_eq!(gentlest_t(&zeros, &b, &log_q), 1.0);
        let steep: Vec<f64> = e.iter().map(|e| -1e9 * e * e).collect();
        assert!((gentlest_t(&zeros, &steep, &log_q) / SMALLEST - 1.0).abs() < 1e-12);
        let lost = vec![f64::NEG_INFINITY; e.len()];
        assert!((gentlest_t(&zeros, &lost, &log_q) / SMALLEST - 1.0).abs() < 1e-12);
    }
}
