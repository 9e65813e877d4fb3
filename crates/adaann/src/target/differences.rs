//! Compares a target's gradient with differences of its values.

use super::{Unconstrained, Weights, Workspace};
use crate::{Batch, Result};

/// The largest disagreement found between a gradient and differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disagreement {
    /// The index of the point.
    pub point: usize,
    /// The coordinate.
    pub coordinate: usize,
    /// The target's gradient.
    pub gradient: f64,
    /// The slope by differences of fourth order.
    pub differences: f64,
    /// Their distance relative to the largest of: either slope, the gradient's length, and the
    /// rounding error of a difference of log p.
    pub error: f64,
}

/// Compares the gradient of log p + log|J| with differences at points of R^d. The steps are small
/// compared with the width of the density in each coordinate. Points where the density is not
/// finite there or nearby are skipped; `None` if no point remains.
///
/// ```
/// use adaann::{Batch, Program, target::{Unconstrained, compare_gradient}};
///
/// let wave = Program::record(2, |z| z[0].sin() - (z[0] * z[1]).square());
/// let points = Batch::from_points(2, &[[0.3, -1.0], [2.0, 0.5]]);
/// let worst = compare_gradient(&Unconstrained::new(&wave)?, &points, &[1.0, 1.0])?.expect("finite points");
/// assert!(worst.error < 1e-9);
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// Errors of the target.
pub fn compare_gradient(
    target: &Unconstrained,
    points: &Batch,
    widths: &[f64],
) -> Result<Option<Disagreement>> {
    let dim = target.dim();
    let mut worst: Option<Disagreement> = None;
    let mut work = Workspace::zeros(dim, 1 + 4 * dim);
    for i in 0..points.len() {
        let z = points.point(i);
        let mut moved = vec![z.clone()];
        for d in 0..dim {
            let h = length_of_step(widths[d], z[d]);
            for multiple in [-2.0, -1.0, 1.0, 2.0] {
                let mut point = z.clone();
                point[d] += multiple * h;
                moved.push(point);
            }
        }
        let weights = Weights { prior: 1.0, likelihood: 1.0 };
        target.evaluate(&Batch::from_points(dim, &moved), Some((weights, 1.0)), &mut work)?;
        let value = |k: usize| {
            work.evaluation.log_prior[k] + work.evaluation.log_likelihood[k] + work.log_jacobian[k]
        };
        if (0..moved.len()).any(|k| !value(k).is_finite()) {
            continue;
        }
        let gradient = work.evaluation.gradient.point(0);
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        for d in 0..dim {
            let at = |k: usize| value(1 + 4 * d + k);
            let h = length_of_step(widths[d], z[d]);
            let differences = (at(0) - 8.0 * at(1) + 8.0 * at(2) - at(3)) / (12.0 * h);
            // Values of size |log p| are accurate to ε|log p|, so a difference is accurate to that
            // over h. A thousandth of the gradient's length is negligible.
            let rounding = 1e3 * f64::EPSILON * value(0).abs() / h;
            let scale = gradient[d].abs().max(differences.abs()).max(1e-3 * length);
            let error = (gradient[d] - differences).abs() - rounding;
            let error = (error / scale.max(f64::MIN_POSITIVE)).max(0.0);
            if worst.is_none_or(|worst| error > worst.error || error.is_nan()) {
                let gradient = gradient[d];
                worst =
                    Some(Disagreement { point: i, coordinate: d, gradient, differences, error });
            }
        }
    }
    Ok(worst)
}

/// For errors of order h⁴ and rounding of order ε/h, in units of a width; never so short that z + h
/// rounds to z.
fn length_of_step(width: f64, z: f64) -> f64 {
    let share = f64::EPSILON.powf(0.2);
    (share * width).max(1e-7 * z.abs())
}
