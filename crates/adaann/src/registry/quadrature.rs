//! Exact moments of a posterior with one mode in few dimensions, by a grid around the mode.

use crate::Batch;
use crate::flow::Base;
use crate::target::{Target, Unconstrained, Workspace, laplace};
use std::f64::consts::TAU;

/// Properties of a mode: peak, mean, standard deviation and log ∫ p.
pub(super) struct Moments {
    /// The point of highest density in the unconstrained coordinates.
    pub(super) peak: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) sd: Vec<f64>,
    pub(super) log_z: f64,
}

/// Points on either side of the mode in each direction, and their spacing in standard deviations of
/// the Laplace approximation. The trapezoidal rule on a smooth peak has an error of e^(−2π²/h²),
/// far below rounding.
const SIDE: i32 = 20;
const SPACING: f64 = 0.35;

/// If the outermost layer of a grid has more than this share of the mass, the grid is too small.
const MOST_AT_EDGE: f64 = 1e-6;

/// Moments of the mode that an ascent from `start` finds; `None` if it finds none or the grid is
/// too small for it.
pub(super) fn moments(target: &dyn Target, start: &[f64]) -> Option<Moments> {
    let unconstrained = Unconstrained::new(target).ok()?;
    let dim = unconstrained.dim();
    let start = unconstrained.unconstrain(&Batch::from_points(dim, &[start])).ok()?;
    let mode = laplace(&unconstrained, &start.point(0)).ok()?;
    let base = Base::full(&mode.mean, &mode.covariance).ok()?;
    let (noise, at_edge) = grid(dim);
    let mut z = noise.clone();
    let mut log_q = vec![0.0; noise.padded_len()];
    base.forward(&noise.into(), &mut z, &mut log_q);
    let mut work = Workspace::zeros(dim, z.len());
    unconstrained.evaluate(&z, None, &mut work).ok()?;
    let (theta, log_jacobian) = unconstrained.constrain(&z);
    let evaluation = &work.evaluation;
    let log_p: Vec<f64> = (0..z.len())
        .map(|i| evaluation.log_prior[i] + evaluation.log_likelihood[i] + log_jacobian[i])
        .collect();
    let peak = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_p.iter().map(|log_p| (log_p - peak).exp()).collect();
    let mass: f64 = weights.iter().sum();
    let edge: f64 = weights.iter().zip(&at_edge).filter(|(_, at)| **at).map(|(w, _)| w).sum();
    if !(mass.is_finite() && edge <= MOST_AT_EDGE * mass) {
        return None;
    }
    let expected = |f: &dyn Fn(f64) -> f64, d: usize| -> f64 {
        theta.row(d).iter().zip(&weights).map(|(x, w)| f(*x) * w).sum::<f64>() / mass
    };
    let mean: Vec<f64> = (0..dim).map(|d| expected(&|x| x, d)).collect();
    let sd = (0..dim).map(|d| expected(&|x| (x - mean[d]).powi(2), d).sqrt()).collect();
    // The log of a cell's volume: log q₀ = −ln|L| − d ln(2π)/2 at the middle of the grid.
    let middle = log_q[..z.len()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_cell = dim as f64 * (SPACING.ln() - 0.5 * TAU.ln()) - middle;
    let (at_peak, _) = unconstrained.constrain(&Batch::from_points(dim, &[&mode.mean]));
    Some(Moments { peak: at_peak.point(0), mean, sd, log_z: peak + mass.ln() + log_cell })
}

/// A cube of points around the origin, and whether each lies on a face.
fn grid(dim: usize) -> (Batch, Vec<bool>) {
    let side = (2 * SIDE + 1) as usize;
    let count = side.pow(dim as u32);
    let mut points = Batch::zeros(dim, count);
    let mut at_edge = vec![false; count];
    for (i, at_edge) in at_edge.iter_mut().enumerate() {
        for d in 0..dim {
            let step = (i / side.pow(d as u32) % side) as i32 - SIDE;
            points.row_mut(d)[i] = SPACING * f64::from(step);
            *at_edge |= step.abs() == SIDE;
        }
    }
    (points, at_edge)
}
