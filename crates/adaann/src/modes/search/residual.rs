//! Ascents on log p − log q, where q has the Gaussians of the known peaks.
//!
//! A wide mode attracts every ascent on log p from far away. Where q describes the wide mode, its slope cancels, and an
//! ascent follows the residual: it reaches a narrow mode from points where its density is a small share of the wide
//! one's.

use super::{kinds::Start, summit::Summit};
use crate::modes::{ascent::climb_in_bursts, heights::Heights, units::Units};
use crate::{Result, linear, target::Unconstrained};

/// Evaluations of an ascent: the residual is steep near a mode, or leads nowhere.
const ROUNDS: usize = 12;

/// log Σ exp(hᵢ − |yᵢ|²/2) and its gradient −Σ rᵢ Lᵢ⁻ᵀ yᵢ: the Gaussians of peaks with heights hᵢ and shares rᵢ.
fn log_gaussians(peaks: &[&Summit], z: &[f64]) -> (f64, Vec<f64>) {
    let whitened: Vec<Vec<f64>> = peaks.iter().map(|peak| peak.whitened(z)).collect();
    let log_terms: Vec<f64> = (peaks.iter().zip(&whitened))
        .map(|(peak, y)| peak.log_density - 0.5 * linear::dot(y, y))
        .collect();
    let value = crate::weight::log_sum_exp(log_terms.iter().copied());
    let mut gradient = vec![0.0; z.len()];
    for ((peak, mut y), log_term) in peaks.iter().zip(whitened).zip(log_terms) {
        let share = (log_term - value).exp();
        linear::solve_lower_transposed(z.len(), peak.factor(), &mut y);
        gradient.iter_mut().zip(&y).for_each(|(gradient, y)| *gradient -= share * y);
    }
    (value, gradient)
}

/// Ascends on log p − log q from starts. Returns the ends as starts for log p, and the evaluations.
pub(super) fn ends(
    target: &Unconstrained,
    peaks: &[&Summit],
    units: Units,
    starts: Vec<Start>,
) -> Result<(Vec<Start>, usize)> {
    let log_q = |z: &[f64]| log_gaussians(peaks, z);
    let mut heights = Heights::new(target, units.clone(), usize::MAX).above(&log_q);
    let places = heights.places(starts.iter().map(|start| units.to_u(&start.z)).collect())?;
    let finite = places.into_iter().zip(&starts).filter(|(place, _)| place.height.is_finite());
    let climbing = finite.map(|(place, start)| (place, start.step)).collect();
    let ends = climb_in_bursts(&mut heights, climbing, (ROUNDS, ROUNDS), &mut |_, _, _| false)?;
    let starts = ends.iter().map(|end| Start { z: units.to_z(&end.u), step: 1.0 });
    Ok((starts.collect(), heights.used()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_known_gaussians_is_that_of_their_density() {
        let wide = Summit::of_gaussian(vec![0.0, 1.0], vec![1.0, 0.3, 0.3, 2.0]).unwrap();
        let narrow = Summit::of_gaussian(vec![2.0, -1.0], vec![0.5, -0.1, -0.1, 0.2]).unwrap();
        let peaks = [&wide, &narrow];
        let at = [1.2, -0.4];
        let (_, gradient) = log_gaussians(&peaks, &at);
        for d in 0..2 {
            let beside = |step: f64| {
                let mut z = at;
                z[d] += step;
                log_gaussians(&peaks, &z).0
            };
            let difference = (beside(1e-5) - beside(-1e-5)) / 2e-5;
            assert!((gradient[d] - difference).abs() < 1e-8, "{d}: {gradient:?} {difference}");
        }
    }

    /// N(0, 1) in ten dimensions and a mode of the same mass, a third as wide and at a distance of seven. From a point
    /// on the way where the wide mode is 4,000 times denser, an ascent on log p turns back.
    #[test]
    fn a_wide_mode_does_not_swallow_an_ascent() {
        let dim = 10;
        let target = crate::target::pointwise_by_differences(dim, move |x: &[f64]| {
            let square = |at: f64| (x[0] - at).powi(2) + x[1..].iter().map(|x| x * x).sum::<f64>();
            let wide = -0.5 * square(0.0);
            let narrow = 10.0 * 3_f64.ln() - 4.5 * square(7.0);
            wide.max(narrow) + (-(wide - narrow).abs()).exp().ln_1p()
        });
        let target = Unconstrained::new(&target).unwrap();
        let mut identity = vec![0.0; dim * dim];
        (0..dim).for_each(|d| identity[d * (dim + 1)] = 1.0);
        let wide = Summit::of_gaussian(vec![0.0; dim], identity).unwrap();
        let units = Units::around(vec![0.0; dim]);
        let mut z = vec![0.0; dim];
        (z[0], z[1]) = (4.6, 1.0);
        let start = Start { z, step: 0.5 };
        let (ends, used) = ends(&target, &[&wide], units, vec![start]).unwrap();
        let off = |z: &[f64]| (z[0] - 7.0).abs().max(z[1].abs());
        assert!(off(&ends[0].z) < 1.5, "{:?}", ends[0].z);
        assert!(used <= target.values_with_gradients(ROUNDS + 1));
    }
}
