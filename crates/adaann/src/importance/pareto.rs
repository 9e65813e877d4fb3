//! Pareto-smoothed importance sampling: replaces the largest weights by expected order statistics of a fitted
//! tail with shape k̂.
//!
//! A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, "Pareto smoothed importance sampling", JMLR 25
//! (2024). Weights have a mean if k < 1 and a variance if k < ½.

use crate::Result;
use crate::importance::generalized_pareto::GeneralizedPareto;
use crate::importance::weight_sums::{largest_of_some, weight};
use crate::{non_finite, weight::ess};

/// Smoothed weights, and the tail shape of the raw weights.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Smoothed {
    /// The weights in the order of the draws; they sum to 1.
    pub weights: Vec<f64>,
    /// The log of the mean weight.
    pub log_z: f64,
    /// The shape of the generalized Pareto distribution fitted to the largest weights. It is +∞ if fewer than
    /// five of them exist or the fit failed; the weights are then not smoothed. It is −∞ if the largest
    /// weights are all equal.
    pub k_hat: f64,
    /// Number of weights above the cutoff, which were fitted.
    pub tail: usize,
}

impl Smoothed {
    /// The effective sample size of the smoothed weights.
    pub fn ess(&self) -> f64 {
        ess(&self.weights)
    }
}

/// Fewest weights above the cutoff for a fit.
const FEWEST: usize = 5;

/// Log weights closer than this differ only by rounding of log densities.
const FLAT: f64 = 1e-8;

/// Smooths the weights of independent draws of q, given their log p − log q.
///
/// The tail consists of the weights above the (M + 1)-st largest, M = ⌈min(S/5, 3 √S)⌉; weights equal to it
/// are excluded. The tail's weights are replaced by the expected order statistics of the fitted distribution,
/// capped at the largest raw weight.
///
/// # Errors
/// If a log ratio is +∞, or no draw is finite.
pub fn smooth(log_ratios: &[f64]) -> Result<Smoothed> {
    let (log_unit, mut log_weights) = relative(log_ratios)?;
    let log_cutoff = log_cutoff(&log_weights);
    let tail = ascending_above(log_cutoff, &log_weights);
    let k_hat = if is_flat(&log_weights, log_cutoff) {
        f64::NEG_INFINITY
    } else {
        smooth_tail(&mut log_weights, &tail, log_cutoff).unwrap_or(f64::INFINITY)
    };

    let mut weights: Vec<f64> = log_weights.iter().map(|&l| weight(l, 0.0)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    let log_z = log_unit + (sum / weights.len() as f64).ln();
    Ok(Smoothed { weights, log_z, k_hat, tail: tail.len() })
}

/// The tail shape k̂ of positive numbers, given their logarithms: [`Smoothed::k_hat`] for the terms of any
/// average.
///
/// # Errors
/// If one is +∞, or none is positive.
pub fn tail_shape(log_values: &[f64]) -> Result<f64> {
    let (_, log_values) = relative(log_values)?;
    let log_cutoff = log_cutoff(&log_values);
    if is_flat(&log_values, log_cutoff) {
        return Ok(f64::NEG_INFINITY);
    }
    let tail = ascending_above(log_cutoff, &log_values);
    Ok(fit(&log_values, &tail, log_cutoff).map_or(f64::INFINITY, |law| law.k))
}

/// The largest log value, and all values relative to it; non-finite ones become −∞.
fn relative(log_values: &[f64]) -> Result<(f64, Vec<f64>)> {
    let log_unit = largest_of_some(log_values)?;
    Ok((log_unit, log_values.iter().map(|&l| non_finite::log_density(l) - log_unit).collect()))
}

/// Whether all weights of the tail are equal up to rounding.
fn is_flat(log_values: &[f64], log_cutoff: f64) -> bool {
    tail_length(log_values.len()) >= FEWEST && -log_cutoff <= FLAT
}

/// The largest k̂ at which the error of an estimate from this many draws is reliable: min(1 − 1/log₁₀ S,
/// 0.7).
pub fn k_hat_threshold(draws: usize) -> f64 {
    (1.0 - 1.0 / (draws.max(1) as f64).log10()).min(0.7)
}

/// The number of draws that a tail of this shape needs: 10^(1/(1 − max(0, k̂))), infinite for k̂ ≥ 1.
pub fn draws_needed(k_hat: f64) -> f64 {
    if k_hat < 1.0 { 10_f64.powf(1.0 / (1.0 - k_hat.max(0.0))) } else { f64::INFINITY }
}

/// M for S draws.
fn tail_length(draws: usize) -> usize {
    let draws = draws as f64;
    (draws / 5.0).min(3.0 * draws.sqrt()).ceil() as usize
}

/// The (M + 1)-st largest log weight, bounded so that its exponential is a normal number.
fn log_cutoff(log_weights: &[f64]) -> f64 {
    let smallest = f64::MIN_POSITIVE.ln();
    let draws = log_weights.len();
    draws.checked_sub(tail_length(draws) + 1).map_or(smallest, |at| {
        let mut sorted = log_weights.to_vec();
        sorted.select_nth_unstable_by(at, f64::total_cmp).1.max(smallest)
    })
}

/// The draws above the cutoff in ascending order of weight; ties stay in order.
fn ascending_above(log_cutoff: f64, log_weights: &[f64]) -> Vec<usize> {
    let mut draws: Vec<usize> =
        (0..log_weights.len()).filter(|&i| log_weights[i] > log_cutoff).collect();
    draws.sort_by(|&i, &j| log_weights[i].total_cmp(&log_weights[j]));
    draws
}

/// The distribution fitted to the tail's excesses over the cutoff; `None` if there are too few.
fn fit(log_values: &[f64], tail: &[usize], log_cutoff: f64) -> Option<GeneralizedPareto> {
    if tail.len() < FEWEST {
        return None;
    }
    let cutoff = log_cutoff.exp();
    let excesses: Vec<f64> =
        tail.iter().map(|&i| cutoff * (log_values[i] - log_cutoff).exp_m1()).collect();
    GeneralizedPareto::fit(&excesses)
}

/// Replaces the tail's weights with expected order statistics. Returns k̂, or `None` if the fit failed.
fn smooth_tail(log_weights: &mut [f64], tail: &[usize], log_cutoff: f64) -> Option<f64> {
    let (law, cutoff) = (fit(log_weights, tail, log_cutoff)?, log_cutoff.exp());
    for (order, &i) in tail.iter().enumerate() {
        let excess = law.quantile((order as f64 + 0.5) / tail.len() as f64);
        log_weights[i] = (log_cutoff + (excess / cutoff).ln_1p()).min(0.0);
    }
    Some(law.k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log weights whose values are the quantiles of a generalized Pareto distribution plus 1, in permuted
    /// order; 7919 is coprime to the numbers of draws used here.
    fn pareto(k: f64, draws: usize) -> Vec<f64> {
        let place = |i: usize| ((i * 7919 % draws) as f64 + 0.5) / draws as f64;
        (0..draws).map(|i| ((-k * (-place(i)).ln_1p()).exp_m1() / k).ln_1p()).collect()
    }

    #[test]
    fn the_shape_is_found() {
        for k in [-0.5, 0.2, 0.7, 1.1] {
            let smoothed = smooth(&pareto(k, 20_000)).unwrap();
            assert_eq!(smoothed.tail, 425);
            // The standard deviation of k̂ for 425 random excesses is (1 + k)/√425, at most 0.1. With
            // quantiles only their spacing and the prior's shrinkage of 10/435 (½ − k) remain.
            assert!((smoothed.k_hat - k).abs() < 0.05, "{k}: {}", smoothed.k_hat);
            assert!((smoothed.weights.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn only_the_tail_changes_and_keeps_its_order() {
        let log_ratios = pareto(0.9, 1000);
        let smoothed = smooth(&log_ratios).unwrap();
        let mut order: Vec<usize> = (0..1000).collect();
        order.sort_by(|&i, &j| log_ratios[i].total_cmp(&log_ratios[j]));
        let body = &order[..1000 - smoothed.tail];
        let scale = smoothed.weights[body[0]] / log_ratios[body[0]].exp();
        for &i in body {
            assert!((smoothed.weights[i] / (scale * log_ratios[i].exp()) - 1.0).abs() < 1e-12);
        }
        assert!(
            order.windows(2).all(|pair| smoothed.weights[pair[0]] <= smoothed.weights[pair[1]])
        );
        let largest = scale * log_ratios[order[999]].exp();
        assert!(smoothed.weights[order[999]] <= largest * (1.0 + 1e-12));
        let log_z = -(1000.0 * scale).ln();
        assert!((smoothed.log_z - log_z).abs() < 1e-12, "{} {log_z}", smoothed.log_z);
    }

    #[test]
    fn a_constant_makes_no_difference_to_the_shape() {
        let log_ratios = pareto(0.4, 500);
        let moved: Vec<f64> = log_ratios.iter().map(|l| l - 5000.0).collect();
        let (here, there) = (smooth(&log_ratios).unwrap(), smooth(&moved).unwrap());
        // 5000 costs four digits of the log ratios.
        assert!((here.k_hat - there.k_hat).abs() < 1e-9);
        assert!((here.log_z - there.log_z - 5000.0).abs() < 1e-9);
    }

    #[test]
    fn too_few_draws_stay_as_they_are() {
        for draws in [1, 2, 19] {
            let smoothed = smooth(&pareto(0.3, draws)).unwrap();
            let raw: Vec<f64> = pareto(0.3, draws).iter().map(|l| l.exp()).collect();
            let sum: f64 = raw.iter().sum();
            assert_eq!(smoothed.k_hat, f64::INFINITY, "{draws}");
            for (w, exact) in smoothed.weights.iter().zip(raw) {
                assert!((w - exact / sum).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn equal_weights_have_no_tail() {
        // As for a perfect approximation: exactly equal weights, and equal up to rounding.
        for rounding in [0.0, 1e-13] {
            let log_ratios: Vec<f64> = (0..100).map(|i| 3.0 + rounding * (i % 3) as f64).collect();
            let smoothed = smooth(&log_ratios).unwrap();
            assert_eq!(smoothed.k_hat, f64::NEG_INFINITY);
            assert!((smoothed.ess() - 100.0).abs() < 1e-9);
        }
        // Half of the draws are non-finite, the others equal.
        let log_ratios: Vec<f64> = (0..100).map(|i| [f64::NAN, 2.0][i % 2]).collect();
        let smoothed = smooth(&log_ratios).unwrap();
        assert_eq!((smoothed.k_hat, smoothed.ess()), (f64::NEG_INFINITY, 50.0));
    }

    #[test]
    fn one_draw_that_has_all_the_weight_is_no_good_sign() {
        for far in [50.0, 700.0, 1e300] {
            let mut log_ratios = pareto(0.1, 1000);
            log_ratios[17] = far;
            let smoothed = smooth(&log_ratios).unwrap();
            assert!(smoothed.k_hat > 0.7, "{far}: {}", smoothed.k_hat);
            assert!(smoothed.weights.iter().all(|w| w.is_finite()));
        }
    }

    #[test]
    fn lost_draws_stay_lost() {
        let mut log_ratios = pareto(0.6, 300);
        log_ratios.iter_mut().step_by(7).for_each(|l| *l = f64::NAN);
        let smoothed = smooth(&log_ratios).unwrap();
        for (w, l) in smoothed.weights.iter().zip(&log_ratios) {
            assert_eq!(*w == 0.0, l.is_nan());
        }
    }

    #[test]
    fn what_has_no_weights_is_refused() {
        for (log_ratios, says) in [
            (&[][..], "no draws"),
            (&[f64::NAN, f64::NEG_INFINITY], "all 2 draws"),
            (&[0.0, f64::INFINITY, f64::NAN], "draw 2 is +inf"),
        ] {
            let error = smooth(log_ratios).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn thresholds_by_hand() {
        assert_eq!(k_hat_threshold(100), 0.5);
        assert_eq!(k_hat_threshold(1_000_000), 0.7);
        assert_eq!(k_hat_threshold(0), f64::NEG_INFINITY);
        assert_eq!(draws_needed(f64::NEG_INFINITY), 10.0);
        assert!((draws_needed(0.5) - 100.0).abs() < 1e-12);
        for k in [1.0, 3.0, f64::INFINITY, f64::NAN] {
            assert_eq!(draws_needed(k), f64::INFINITY);
        }
        // Both criteria agree below 0.7.
        assert!(
            (k_hat_threshold(1259) - (1.0 - 1.0 / draws_needed(k_hat_threshold(1259)).log10()))
                .abs()
                < 1e-12
        );
    }
}
