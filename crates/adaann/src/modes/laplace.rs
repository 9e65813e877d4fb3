//! The Gaussian at a peak: the curvature of log p from differences of its exact gradient.

use crate::modes::heights::{Heights, Place};
use crate::{Result, linear};

/// The curvature in units of the search, and the Gaussian that it implies.
#[derive(Debug, Clone)]
pub(super) struct Curved {
    /// Its covariance, row by row.
    pub(super) covariance: Vec<f64>,
    /// log det of the covariance's factor.
    pub(super) log_det: f64,
    /// Does the density bend down in every direction?
    pub(super) is_peak: bool,
}

/// The first step of the differences.
const FIRST_STEP: f64 = 1e-5;

/// The final step, in units of the density's own width: the error of the differences is its square
/// times the fourth derivative, and rounding is 1e-16 of the slope divided by it.
const STEP: f64 = 0.01;

/// Passes that determine the widths, each with steps based on the previous one.
const PASSES: usize = 5;

/// The factor within which steps are accurate enough.
const NEAR: f64 = 5.0;

/// A direction in which the density does not bend down is taken to be this many times as wide as the
/// others.
const FLAT: f64 = 10.0;

/// The Gaussian with the density's curvature at a point.
pub(super) fn curvature(heights: &mut Heights, at: &[f64]) -> Result<Curved> {
    let dim = at.len();
    let mut steps = vec![FIRST_STEP; dim];
    let mut curvature = Vec::new();
    let mut widths = vec![1.0; dim];
    for _ in 0..PASSES {
        curvature = differences(heights, at, &steps)?;
        let mut is_settled = true;
        for d in 0..dim {
            let bend = curvature[d * dim + d];
            // If it does not bend down on this scale, a longer step may show more.
            let width =
                if bend > 0.0 { bend.sqrt().recip() } else { NEAR * NEAR * steps[d] / STEP };
            let step = STEP * width.min(1e12);
            is_settled &= bend > 0.0 && (step / steps[d]).max(steps[d] / step) < NEAR;
            if bend > 0.0 {
                widths[d] = width;
            }
            steps[d] = step;
        }
        if is_settled {
            break;
        }
    }
    Ok(of_curvature(dim, &curvature, &widths))
}

/// −∇² log p, row by row and symmetric, by central differences with these steps.
fn differences(heights: &mut Heights, at: &[f64], steps: &[f64]) -> Result<Vec<f64>> {
    let dim = at.len();
    let mut points = Vec::with_capacity(2 * dim);
    for (d, step) in steps.iter().enumerate() {
        for side in [-1.0, 1.0] {
            let mut point = at.to_vec();
            point[d] += side * step;
            points.push(point);
        }
    }
    let places = heights.places(points)?;
    let mut curvature = vec![0.0; dim * dim];
    for (d, pair) in places.chunks_exact(2).enumerate() {
        let [below, above]: &[Place; 2] = pair.try_into().expect("pairs");
        let is_known = below.height.is_finite() && above.height.is_finite();
        for j in 0..dim {
            // Beside a cliff the curvature is unknown.
            let bend =
                if is_known { (below.slope[j] - above.slope[j]) / (2.0 * steps[d]) } else { 0.0 };
            curvature[d * dim + j] += 0.5 * bend;
            curvature[j * dim + d] += 0.5 * bend;
        }
    }
    Ok(curvature)
}

/// The Gaussian of a curvature, with the widths of single coordinates.
fn of_curvature(dim: usize, curvature: &[f64], widths: &[f64]) -> Curved {
    if let Ok(factor) = linear::cholesky(dim, curvature) {
        let log_det = -(0..dim).map(|d| factor[d * dim + d].ln()).sum::<f64>();
        let covariance = linear::inverse_from_cholesky(dim, &factor);
        if log_det.is_finite() && covariance.iter().all(|entry| entry.is_finite()) {
            return Curved { covariance, log_det, is_peak: true };
        }
    }
    // Where it does not bend down, use the absolute curvature, in units of the widths, and limit the
    // width.
    let scaled = |i: usize| curvature[i] * widths[i / dim] * widths[i % dim];
    let scaled: Vec<f64> = (0..dim * dim).map(scaled).collect();
    let (values, vectors) = linear::symmetric_eigen(dim, &scaled);
    let variance: Vec<f64> =
        values.iter().map(|bend| bend.abs().max(FLAT.powi(-2)).recip()).collect();
    let mut covariance = vec![0.0; dim * dim];
    for (variance, vector) in variance.iter().zip(&vectors) {
        for i in 0..dim {
            for j in 0..dim {
                covariance[i * dim + j] += variance * vector[i] * vector[j] * widths[i] * widths[j];
            }
        }
    }
    let log_det = 0.5 * variance.iter().map(|variance| variance.ln()).sum::<f64>()
        + widths.iter().map(|width| width.ln()).sum::<f64>();
    Curved { covariance, log_det, is_peak: false }
}
