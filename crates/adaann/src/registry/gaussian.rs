//! The Gaussian density in any number of dimensions, with any covariance.

use crate::{
    Batch, Expr, Program, Result, error, linear,
    target::{Evaluation, Target, Weights},
};

/// A Gaussian density, normalised: log p = −|L⁻¹(x − μ)|²/2 − Σ log L_ii − (d/2) log 2π with
/// L Lᵀ the covariance.
///
/// Under pᵗ the variance of log p is d/(2t²), whatever the covariance: an exact test for annealing.
///
/// ```
/// use adaann::{Batch, registry::Gaussian, target::{Evaluation, Target}};
///
/// let gaussian = Gaussian::new(&[1.0, 0.0], &[4.0, 1.0, 1.0, 2.0])?;
/// let mut out = Evaluation::zeros(2, 1);
/// gaussian.evaluate(&Batch::from_points(2, &[[1.0, 0.0]]), None, &mut out)?;
/// // The covariance has determinant 7.
/// let log_peak = -(2.0 * std::f64::consts::PI).ln() - 7.0_f64.ln() / 2.0;
/// assert!((out.log_likelihood[0] - log_peak).abs() < 1e-14);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gaussian {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    program: Program,
}

impl Gaussian {
    /// The Gaussian with this mean and covariance, a matrix given row by row.
    ///
    /// # Errors
    /// If the mean is empty or not finite, or the matrix not symmetric and positive definite.
    pub fn new(mean: &[f64], covariance: &[f64]) -> Result<Self> {
        let dim = mean.len();
        if dim == 0 {
            return Err(error::setting("mean", "empty", "at least one number"));
        }
        if let Some(bad) = mean.iter().find(|x| !x.is_finite()) {
            return Err(error::setting("mean", bad, "finite"));
        }
        let factor = linear::cholesky(dim, covariance)?;
        let log_scale: f64 = (0..dim).map(|d| factor[d * dim + d].ln()).sum();
        let constant = -log_scale - 0.5 * dim as f64 * std::f64::consts::TAU.ln();
        let program = Program::record(dim, |x| {
            let mut white: Vec<Expr<'_>> = Vec::with_capacity(dim);
            for i in 0..dim {
                let known: Expr<'_> = (0..i).map(|k| factor[i * dim + k] * white[k]).sum();
                white.push((x[i] - mean[i] - known) / factor[i * dim + i]);
            }
            let square: Expr<'_> = white.iter().map(|e| e.square()).sum();
            -0.5 * square + constant
        });
        Ok(Self { mean: mean.to_vec(), covariance: covariance.to_vec(), program })
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance, row by row.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// Standard deviation of each coordinate.
    pub fn sd(&self) -> Vec<f64> {
        self.covariance
            .iter()
            .step_by(self.mean.len() + 1)
            .map(|variance| variance.sqrt())
            .collect()
    }
}

impl Target for Gaussian {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.program.evaluate(points, gradient, out)
    }

    fn operations(&self) -> Option<f64> {
        self.program.operations()
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn has_formulas(&self) -> bool {
        true
    }
}
