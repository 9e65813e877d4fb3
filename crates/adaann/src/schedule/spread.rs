//! The spread of b over draws: the sample standard deviation S of Algorithm 1, and a robust one.

use super::{Draws, ScheduleError};
use crate::non_finite::is_non_finite;

/// Distance of the fences of [`winsorised_spread`] from the quartiles, in interquartile ranges.
///
/// For a normal b this is 8.8 standard deviations, so clipping changes nothing. For b = −χ²₁/2, the
/// longest tail of a Gaussian target, it reduces S by 3 per cent.
const FENCE: f64 = 6.0;

/// The spread of b over draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation; positive and finite.
    pub std: f64,
    /// Draws ignored because their b is −∞ or NaN.
    pub lost: usize,
}

/// One usable draw: b and its weight, relative to the largest.
#[derive(Clone, Copy)]
pub(super) struct Weighted {
    pub(super) b: f64,
    pub(super) weight: f64,
}

/// The sample standard deviation of b (divisor M − 1; Σw − Σw²/Σw if weighted) at inverse
/// temperature `t`.
pub fn spread(t: f64, draws: &Draws) -> Result<Spread, ScheduleError> {
    let (usable, lost) = usable(t, draws)?;
    Ok(Spread { std: std_of(t, &usable)?, lost })
}

/// The standard deviation of b after draws beyond the fences are moved onto them.
///
/// The fences lie 6 interquartile ranges outside the quartiles. A few distant draws then change the
/// result only by a bounded factor, and the step of AdaAnn has the right order of magnitude. The
/// sample standard deviation, and with it the number of steps, would be unbounded. If more than
/// half of the b are equal, the interquartile range is 0 and nothing is clipped.
pub fn winsorised_spread(t: f64, draws: &Draws) -> Result<Spread, ScheduleError> {
    let (mut usable, lost) = usable(t, draws)?;
    let mut sorted = usable.clone();
    sorted.sort_by(|x, y| x.b.total_cmp(&y.b));
    let (low, high) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let margin = FENCE * (high - low);
    if margin > 0.0 {
        for draw in &mut usable {
            draw.b = draw.b.clamp(low - margin, high + margin);
        }
    }
    Ok(Spread { std: std_of(t, &usable)?, lost })
}

/// The usable draws, and the number of non-finite ones.
pub(super) fn usable(t: f64, draws: &Draws) -> Result<(Vec<Weighted>, usize), ScheduleError> {
    let Draws { b, weights } = *draws;
    let weights_error = |problem| ScheduleError::Weights { t, problem };
    let largest = match weights {
        None => 1.0,
        Some(w) if w.len() != b.len() => {
            return Err(weights_error("differ in number from the draws"));
        }
        Some(w) if w.iter().any(|w| w.is_nan() || *w < 0.0 || w.is_infinite()) => {
            return Err(weights_error("must be finite and not negative"));
        }
        Some(w) => w.iter().copied().fold(0.0, f64::max),
    };
    let count = b.iter().filter(|b| **b == f64::INFINITY).count();
    if count > 0 {
        return Err(ScheduleError::Unbounded { t, count });
    }
    let lost = b.iter().filter(|b| is_non_finite(**b)).count();
    let weight = |i: usize| weights.map_or(1.0, |w| w[i] / largest);
    let usable: Vec<_> = (b.iter().enumerate())
        .map(|(i, &b)| Weighted { b, weight: weight(i) })
        .filter(|draw| !is_non_finite(draw.b) && draw.weight > 0.0)
        .collect();
    if usable.len() < 2 {
        return Err(ScheduleError::TooFewDraws { t, usable: usable.len(), total: b.len() });
    }
    Ok((usable, lost))
}

/// Sample standard deviation in two passes, about the first value: equal draws give exactly 0, and
/// a large common constant in b costs no accuracy.
pub(super) fn std_of(t: f64, draws: &[Weighted]) -> Result<f64, ScheduleError> {
    let origin = draws[0].b;
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        draws.iter().map(|draw| draw.weight * f(draw.b - origin)).sum()
    };
    let total = sum(&|_| 1.0);
    let mean = sum(&|x| x) / total;
    let squares = sum(&|x| (x - mean).powi(2));
    // The squared rounding error of the mean.
    let correction = sum(&|x| x - mean).powi(2) / total;
    let divisor = total - draws.iter().map(|draw| draw.weight.powi(2)).sum::<f64>() / total;
    if divisor <= 0.0 {
        return Err(ScheduleError::Weights { t, problem: "all rest on a single draw" });
    }
    let variance = (squares - correction) / divisor;
    // If all weight lies on equal values, rounding can make this negative.
    match variance {
        _ if !variance.is_finite() => Err(ScheduleError::NotFinite { t }),
        _ if variance <= 0.0 => Err(ScheduleError::NoSpread { t }),
        _ => Ok(variance.sqrt()),
    }
}

/// The smallest b with at least the share `p` of the weight at or below it.
fn quantile(sorted: &[Weighted], p: f64) -> f64 {
    let wanted = p * sorted.iter().map(|draw| draw.weight).sum::<f64>();
    let mut below = 0.0;
    let reached = sorted.iter().find(|draw| {
        below += draw.weight;
        below >= wanted
    });
    reached.unwrap_or(&sorted[sorted.len() - 1]).b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::normal;
    use proptest::prelude::*;

    fn unweighted(b: &[f64]) -> Draws<'_> {
        Draws { b, weights: None }
    }

    #[test]
    fn divides_by_m_minus_1() {
        let std = spread(0.5, &unweighted(&[1.0, 2.0, 3.0, 4.0])).unwrap().std;
        assert!((std - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_distant_draw_without_weight_is_no_spread() {
        let draws =
            Draws { b: &[-8.694447056606583e148, 0.0, 0.0], weights: Some(&[1e-300, 0.7, 0.3]) };
        assert_eq!(spread(0.5, &draws), Err(ScheduleError::NoSpread { t: 0.5 }));
    }

    #[test]
    fn weights_count() {
        // Mean 1/4; Σw(b − mean)² = 3/16 + 9/16 over 4 − 10/4.
        let draws = Draws { b: &[0.0, 1.0], weights: Some(&[3.0, 1.0]) };
        assert!((spread(0.5, &draws).unwrap().std - 0.5_f64.sqrt()).abs() < 1e-15);
        // Quartiles are weighted: a distant draw with little weight lies outside the fences.
        let b = [-1e9, 0.0, 1.0];
        let heavy = Draws { b: &b, weights: Some(&[0.01, 1.0, 1.0]) };
        assert!(winsorised_spread(0.5, &heavy).unwrap().std < 1.0);
        let light = Draws { b: &b, weights: None };
        assert!(winsorised_spread(0.5, &light).unwrap().std > 1e8);
    }

    #[test]
    fn a_large_constant_in_b_costs_nothing() {
        let b: Vec<f64> = [1.0, 2.0, 3.0, 4.0].iter().map(|x| x - 1e12).collect();
        let std = spread(0.5, &unweighted(&b)).unwrap().std;
        assert!((std - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn lost_draws_are_left_out_and_counted() {
        let b = [1.0, f64::NEG_INFINITY, 2.0, f64::NAN, 4.0];
        let with = spread(0.5, &unweighted(&b)).unwrap();
        let without = spread(0.5, &unweighted(&[1.0, 2.0, 4.0])).unwrap();
        assert_eq!((with.std, with.lost), (without.std, 2));
    }

    #[test]
    fn what_has_no_spread_is_an_error() {
        let error = |b: &[f64]| spread(0.5, &unweighted(b)).unwrap_err();
        // Averaging 0.1 rounds: a mean over all draws would leave a spread of 1e-17.
        assert_eq!(error(&[0.1; 10]), ScheduleError::NoSpread { t: 0.5 });
        assert!(error(&[0.1; 10]).to_string().contains("collapsed"));
        assert_eq!(error(&[]), ScheduleError::TooFewDraws { t: 0.5, usable: 0, total: 0 });
        let lost = [f64::NAN, f64::NEG_INFINITY, 1.0];
        assert_eq!(error(&lost), ScheduleError::TooFewDraws { t: 0.5, usable: 1, total: 3 });
        assert_eq!(error(&[1.0, f64::INFINITY]), ScheduleError::Unbounded { t: 0.5, count: 1 });
        assert_eq!(error(&[-1e200, 1e200]), ScheduleError::NotFinite { t: 0.5 });
    }

    #[test]
    fn weights_that_are_no_weights_are_refused() {
        let refused = |weights: &[f64]| {
            spread(0.5, &Draws { b: &[1.0, 2.0], weights: Some(weights) }).unwrap_err()
        };
        for weights in [&[1.0][..], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
            assert!(matches!(refused(weights), ScheduleError::Weights { .. }));
        }
        assert!(refused(&[1.0, 1e-20]).to_string().contains("single draw"));
        for weights in [[0.0, 0.0], [1.0, 0.0]] {
            assert!(matches!(refused(&weights), ScheduleError::TooFewDraws { .. }));
        }
    }

    #[test]
    fn the_robust_spread_agrees_for_the_normal_and_bounds_outliers() {
        let mut b = normal(3, 10_000);
        let plain = spread(0.5, &unweighted(&b)).unwrap().std;
        assert_eq!(winsorised_spread(0.5, &unweighted(&b)).unwrap().std, plain);
        // One per cent at a fence c away adds 0.01 c² to the variance, c ≤ 8.77 + sampling error.
        for x in &mut b[..100] {
            *x = -1e200;
        }
        let robust = winsorised_spread(0.5, &unweighted(&b)).unwrap().std;
        assert!(robust > plain && robust < 1.4 * plain, "{robust} against {plain}");
    }

    #[test]
    // The ratio of the exact values is 0.97091 (quadrature).
    fn the_fence_takes_little_off_the_longest_gaussian_tail() {
        let b: Vec<f64> = normal(7, 200_000).iter().map(|z| -z * z / 2.0).collect();
        let plain = spread(1.0, &unweighted(&b)).unwrap().std;
        let robust = winsorised_spread(1.0, &unweighted(&b)).unwrap().std;
        assert!((robust / plain - 0.9709).abs() < 0.003, "{}", robust / plain);
    }

    #[test]
    fn half_of_b_equal_is_not_clipped() {
        let b = [-5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let draws = unweighted(&b);
        assert_eq!(winsorised_spread(1.0, &draws), spread(1.0, &draws));
    }

    proptest! {
        #[test]
        fn equal_weights_on_any_scale_are_no_weights(
            b in prop::collection::vec(-1e3..1e3_f64, 2..40), scale in 1e-300..1e300_f64,
        ) {
            let weights = vec![scale; b.len()];
            let weighted = Draws { b: &b, weights: Some(&weights) };
            prop_assert_eq!(spread(0.5, &weighted), spread(0.5, &unweighted(&b)));
            let robust = winsorised_spread(0.5, &weighted);
            prop_assert_eq!(robust, winsorised_spread(0.5, &unweighted(&b)));
        }

        #[test]
        fn is_invariant_under_shift_and_follows_scale(
            b in prop::collection::vec(-1e3..1e3_f64, 2..40), shift in -1e3..1e3_f64,
        ) {
            let moved: Vec<f64> = b.iter().map(|x| 2.0 * x + shift).collect();
            for rule in [spread, winsorised_spread] {
                let std = |b: &[f64]| rule(0.5, &unweighted(b)).unwrap().std;
                prop_assert!((std(&moved) - 2.0 * std(&b)).abs() < 1e-9 * std(&moved) + 1e-11);
            }
        }
    }
}
