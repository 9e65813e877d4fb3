//! The Laplace approximation at a mode: a Gaussian with the curvature of log p there.

use super::{Unconstrained, Weights, Workspace};
use crate::{Batch, Error, Result, linear};

/// Largest number of Newton steps.
const MAX_STEPS: usize = 200;

/// A mode is reached when the gradient's length, in units of the local standard deviation, is below
/// this.
const TOLERANCE: f64 = 1e-6;

/// The Gaussian at a mode, in unconstrained coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Laplace {
    /// The location of the mode.
    pub mean: Vec<f64>,
    /// The inverse of −∇² log p there, row by row.
    pub covariance: Vec<f64>,
}

/// Climbs log p + log|J| from `start` and returns the Gaussian of the mode it finds.
///
/// Uses Newton's method with the Hessian from central differences of the gradient. Damping lets it
/// climb where log p is not concave, and a push moves it off saddles and minima.
///
/// # Errors
/// If the start is outside the support or no mode is reached; the message says what to try.
pub fn laplace(target: &Unconstrained, start: &[f64]) -> Result<Laplace> {
    let mut climb = Climb {
        target,
        work: Workspace::zeros(target.dim(), 1),
        point: Batch::zeros(target.dim(), 1),
    };
    let mut x = start.to_vec();
    let (mut height, mut gradient) = climb.evaluate(&x)?;
    if !height.is_finite() {
        return Err(failed("log p is not finite at the start; move base-mean inside the support"));
    }
    let mut damping = 0.0;
    for _ in 0..MAX_STEPS {
        let curvature = climb.curvature(&x)?;
        let scale = curvature.iter().fold(f64::MIN_POSITIVE, |most, c| most.max(c.abs()));
        let (factor, mut step) = loop {
            let mut damped = curvature.clone();
            for d in 0..x.len() {
                damped[d * x.len() + d] += damping * scale;
            }
            if let Ok(factor) = linear::cholesky(x.len(), &damped) {
                break (factor, gradient.clone());
            }
            damping = (4.0_f64 * damping).max(1e-3);
            if damping > 1e12 {
                return Err(failed("the ascent met a gradient that is not finite; move base-mean"));
            }
        };
        linear::solve_lower(x.len(), &factor, &mut step);
        let distance = step.iter().map(|s| s * s).sum::<f64>().sqrt();
        if distance < TOLERANCE {
            if damping == 0.0 {
                let covariance = linear::inverse_from_cholesky(x.len(), &factor);
                return Ok(Laplace { mean: x, covariance });
            }
            if linear::cholesky(x.len(), &curvature).is_err() {
                (x, height, gradient) = climb.leave(&x, height, &curvature)?;
            }
            damping = 0.0;
            continue;
        }
        linear::solve_lower_transposed(x.len(), &factor, &mut step);
        let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
        let (next_height, next_gradient) = climb.evaluate(&next)?;
        // Rounding may hide the last bit of the ascent.
        if next_height >= height - 1e-12 * height.abs() {
            (x, height, gradient) = (next, next_height, next_gradient);
            damping = if damping < 1e-6 { 0.0 } else { damping / 8.0 };
        } else {
            damping = (8.0 * damping).max(1e-3);
        }
    }
    Err(failed("the ascent did not reach a peak; move base-mean, or use base normal"))
}

fn failed(why: &str) -> Error {
    Error::Target(format!("no Laplace approximation: {why}"))
}

struct Climb<'a> {
    target: &'a Unconstrained<'a>,
    work: Workspace,
    point: Batch,
}

impl Climb<'_> {
    /// log p + log|J| and its gradient.
    fn evaluate(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>)> {
        self.point.set_point(0, x);
        let weights = Weights { prior: 1.0, likelihood: 1.0 };
        self.target.evaluate(&self.point, Some((weights, 1.0)), &mut self.work)?;
        let evaluation = &self.work.evaluation;
        let height =
            evaluation.log_prior[0] + evaluation.log_likelihood[0] + self.work.log_jacobian[0];
        Ok((height, evaluation.gradient.point(0)))
    }

    /// A higher point near one where the gradient vanishes but which is not a peak: along the
    /// direction in which log p curves upwards most.
    fn leave(
        &mut self,
        x: &[f64],
        height: f64,
        curvature: &[f64],
    ) -> Result<(Vec<f64>, f64, Vec<f64>)> {
        let flat = "log p is flat in some direction, so that no Gaussian fits it; bound the \
                    coordinates or move base-mean";
        let (direction, bend) = lowest(x.len(), curvature);
        let scale = curvature.iter().fold(0.0_f64, |most, c| most.max(c.abs()));
        // Central differences are accurate to about ten digits.
        if scale == 0.0 || bend > -1e-8 * scale {
            return Err(failed(flat));
        }
        let mut length = (-bend).sqrt().recip();
        for _ in 0..50 {
            let next: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            let (next_height, gradient) = self.evaluate(&next)?;
            if next_height > height && next_height.is_finite() {
                return Ok((next, next_height, gradient));
            }
            length *= 0.5;
        }
        Err(failed(flat))
    }

    /// −∇² (log p + log|J|), symmetric.
    fn curvature(&mut self, x: &[f64]) -> Result<Vec<f64>> {
        let dim = x.len();
        let mut curvature = vec![0.0; dim * dim];
        for i in 0..dim {
            // The cube root of the rounding unit balances truncation and rounding.
            let h = f64::EPSILON.cbrt() * x[i].abs().max(1.0);
            let mut moved = x.to_vec();
            moved[i] = x[i] + h;
            let (_, up) = self.evaluate(&moved)?;
            moved[i] = x[i] - h;
            let (_, down) = self.evaluate(&moved)?;
            for j in 0..dim {
                let second = (down[j] - up[j]) / (2.0 * h);
                curvature[i * dim + j] += 0.5 * second;
                curvature[j * dim + i] += 0.5 * second;
            }
        }
        Ok(curvature)
    }
}

/// The eigenvector of a symmetric matrix with the lowest eigenvalue, and that eigenvalue: power
/// iteration on (bound − matrix), where no eigenvalue is above the bound.
fn lowest(dim: usize, matrix: &[f64]) -> (Vec<f64>, f64) {
    let row_sum = |i: usize| matrix[i * dim..][..dim].iter().map(|c| c.abs()).sum::<f64>();
    let bound = (0..dim).map(row_sum).fold(f64::MIN_POSITIVE, f64::max);
    let times = |v: &[f64]| -> Vec<f64> {
        let dot = |i: usize| (0..dim).map(|j| matrix[i * dim + j] * v[j]).sum();
        (0..dim).map(dot).collect()
    };
    // Unlikely to be orthogonal to an eigenvector by symmetry of the target.
    let mut v: Vec<f64> = (0..dim).map(|i| 1.0 + 0.5 * (1.7 * i as f64).sin()).collect();
    for _ in 0..200 {
        let image = times(&v);
        for (v, image) in v.iter_mut().zip(&image) {
            *v -= image / bound;
        }
        let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length == 0.0 {
            break;
        }
        v.iter_mut().for_each(|v| *v /= length);
    }
    let bend = v.iter().zip(times(&v)).map(|(v, image)| v * image).sum();
    (v, bend)
}
