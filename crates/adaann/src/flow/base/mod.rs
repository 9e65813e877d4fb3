//! The base density q₀ of a flow: a Gaussian, or a mixture of Gaussians, fixed or trained.
//!
//! Draws choose their component by a separate uniform number. An update is stratified instead: point n belongs
//! to component n mod K and carries a weight, so that the objective is a smooth function of the mixture's
//! weights. `mixture/` derives the gradient. A mean over an update uses these weights, which are 1 for a
//! Gaussian.

mod gaussian;
mod mixture;
mod moments;
mod noise;
mod spec;
#[cfg(test)]
mod tests;

pub use gaussian::Covariance;
pub(crate) use noise::Noise;
pub use spec::{BaseSpec, Start};

use super::Parameter;
use crate::{
    Batch, Result,
    rng::{Purpose, Stream},
};
use gaussian::Gaussian;
use mixture::Mixture;
use serde::{Deserialize, Serialize};

/// A base density.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Base(Kind);

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Kind {
    Gaussian(Gaussian),
    Mixture(Mixture),
}

/// A base as stored in a file. A Gaussian has a factor. A mixture has logits and log scales and, if its
/// covariance is full, the entries below the diagonals. A mixture of Student distributions has degrees of
/// freedom.
#[derive(Deserialize)]
struct Unchecked {
    mean: Vec<f64>,
    factor: Option<Vec<f64>>,
    covariance: Option<Covariance>,
    logit: Option<Vec<f64>>,
    log_scale: Option<Vec<f64>>,
    below: Option<Vec<f64>>,
    degrees: Option<Vec<Option<f64>>>,
    trained: bool,
}

impl TryFrom<Unchecked> for Base {
    type Error = String;

    fn try_from(file: Unchecked) -> Result<Self, String> {
        let Unchecked { mean, factor, covariance, logit, log_scale, below, degrees, trained } =
            file;
        Ok(Self(match (factor, covariance, logit, log_scale, below) {
            (Some(factor), Some(covariance), None, None, None) if degrees.is_none() => {
                Kind::Gaussian(Gaussian::from_file(mean, factor, covariance, trained)?)
            }
            // Files omit a diagonal covariance, and the entries below the diagonal if there are none.
            (None, covariance, Some(logit), Some(log_scale), below) => {
                let (covariance, below) =
                    (covariance.unwrap_or_default(), below.unwrap_or_default());
                let degrees = degrees.unwrap_or_default();
                let mixture = Mixture::from_file(
                    logit, mean, log_scale, below, covariance, degrees, trained,
                )?;
                Kind::Mixture(mixture)
            }
            _ => return Err("the base is neither a Gaussian nor a mixture".into()),
        }))
    }
}

/// Calls a method of the base's kind.
macro_rules! of_kind {
    ($base:expr, $kind:ident => $call:expr) => {
        match $base {
            Kind::Gaussian($kind) => $call,
            Kind::Mixture($kind) => $call,
        }
    };
}

impl Base {
    /// N(0, I) in `dim` dimensions.
    pub fn standard(dim: usize) -> Self {
        Self(Kind::Gaussian(Gaussian::standard(dim)))
    }

    /// Independent coordinates with the given means and standard deviations.
    ///
    /// # Errors
    /// If the lengths differ, a mean is not finite or a standard deviation not positive.
    pub fn diagonal(mean: &[f64], sd: &[f64]) -> Result<Self> {
        Ok(Self(Kind::Gaussian(Gaussian::diagonal(mean, sd)?)))
    }

    /// A Gaussian with a full covariance matrix, given row by row.
    ///
    /// # Errors
    /// If a mean is not finite or the matrix not symmetric and positive definite.
    pub fn full(mean: &[f64], covariance: &[f64]) -> Result<Self> {
        Ok(Self(Kind::Gaussian(Gaussian::full(mean, covariance)?)))
    }

    /// Σ_k w_k N(μ_k, diag σ_k²): K weights, whose sum need not be 1, then the K means and the K standard
    /// deviations, component by component.
    ///
    /// ```
    /// use adaann::flow::Base;
    ///
    /// // A narrow component at (0, 0) and one three times as heavy at (5, 1).
    /// let base = Base::mixture(&[1.0, 3.0], &[0.0, 0.0, 5.0, 1.0], &[0.1, 0.1, 2.0, 1.0])?;
    /// assert_eq!((base.dim(), base.components()), (2, 2));
    /// assert!((base.mean()[0] - 3.75).abs() < 1e-12);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths do not fit, a mean is not finite, or a weight or a standard deviation is not
    /// positive and finite.
    pub fn mixture(weights: &[f64], means: &[f64], sds: &[f64]) -> Result<Self> {
        Ok(Self(Kind::Mixture(Mixture::new(weights, means, sds)?)))
    }

    /// Σ_k w_k N(μ_k, Σ_k): K weights, whose sum need not be 1, then the K means and the K covariance matrices
    /// (each row by row), component by component.
    ///
    /// ```
    /// use adaann::flow::Base;
    ///
    /// // Two components in the plane that lean to opposite sides.
    /// let (left, right) = ([1.0, 0.8, 0.8, 1.0], [2.0, -0.5, -0.5, 1.0]);
    /// let covariances = [left, right].concat();
    /// let base = Base::full_mixture(&[1.0, 3.0], &[0.0, 0.0, 5.0, 1.0], &covariances)?;
    /// assert_eq!((base.dim(), base.components()), (2, 2));
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths do not fit, a mean is not finite, a weight is not positive and finite, or a matrix is not
    /// symmetric and positive definite. The error names the component.
    pub fn full_mixture(weights: &[f64], means: &[f64], covariances: &[f64]) -> Result<Self> {
        Ok(Self(Kind::Mixture(Mixture::full(weights, means, covariances)?)))
    }

    /// Σ_k w_k t_ν(μ_k, Σ_k): as [`Base::full_mixture`], with Student components of scale matrix Σ_k and ν
    /// degrees of freedom; `None` for a Gaussian.
    ///
    /// ```
    /// use adaann::flow::{Base, Flow, FlowSpec};
    ///
    /// // A Gaussian, and a component three times as heavy with the tails of four degrees of freedom.
    /// let base = Base::student_mixture(&[1.0, 3.0], &[0.0, 5.0], &[1.0, 4.0], &[None, Some(4.0)])?;
    /// let log_q = Flow::new(&FlowSpec::Affine, base)?.log_density(&adaann::Batch::from_points(1, &[[25.0]]))?;
    /// // Ten standard deviations out, Γ(5/2)/(Γ(2) √(4π) 2) (1 + 100/4)^(−5/2) is left of the second.
    /// let exact = (0.75 * 0.1875_f64 * 26.0_f64.powf(-2.5)).ln();
    /// assert!((log_q[0] - exact).abs() < 1e-12);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Base::full_mixture`], and if degrees of freedom lie outside 1 to a million.
    pub fn student_mixture(
        weights: &[f64],
        means: &[f64],
        shapes: &[f64],
        degrees: &[Option<f64>],
    ) -> Result<Self> {
        let mixture = Mixture::full(weights, means, shapes)?;
        Ok(Self(Kind::Mixture(mixture.with_degrees(degrees)?)))
    }

    /// The same base with parameters that training may move.
    #[must_use]
    pub fn trained(self) -> Self {
        Self(match self.0 {
            Kind::Gaussian(gaussian) => Kind::Gaussian(gaussian.trained()),
            Kind::Mixture(mixture) => Kind::Mixture(mixture.trained()),
        })
    }

    /// The same density with factors that store all entries below the diagonal.
    #[must_use]
    pub fn with_full_factor(self) -> Self {
        Self(match self.0 {
            Kind::Gaussian(gaussian) => Kind::Gaussian(gaussian.with_full_factor()),
            Kind::Mixture(mixture) => Kind::Mixture(mixture.with_full_factor()),
        })
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        of_kind!(&self.0, base => base.dim())
    }

    /// The mean of the whole density.
    pub fn mean(&self) -> &[f64] {
        of_kind!(&self.0, base => base.mean())
    }

    /// Number of components: 1 for a Gaussian.
    pub fn components(&self) -> usize {
        self.weights().len()
    }

    /// The components' weights, which sum to 1.
    pub fn weights(&self) -> &[f64] {
        match &self.0 {
            Kind::Gaussian(_) => &[1.0],
            Kind::Mixture(mixture) => mixture.weights(),
        }
    }

    /// Independent draws.
    pub fn points(&self, seed: u64, count: usize) -> Batch {
        let stream = Stream::new(seed, Purpose::Evaluation);
        let (mut noise, mut z) = (Noise::zeros(self.dim(), count), Batch::zeros(self.dim(), count));
        let mut log_q = vec![0.0; z.padded_len()];
        self.draw(&stream, 0, 0, &mut noise);
        self.forward(&noise, &mut z, &mut log_q);
        z
    }

    /// The blocks of the parameter vector; empty if the base is fixed.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        of_kind!(&self.0, base => base.parameters())
    }

    /// Total length of the blocks, without building them.
    pub(super) fn parameter_len(&self) -> usize {
        of_kind!(&self.0, base => base.parameter_len())
    }

    /// The current parameter vector.
    pub(super) fn to_parameters(&self) -> Vec<f64> {
        of_kind!(&self.0, base => base.to_parameters())
    }

    /// Sets the parameters.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        of_kind!(&mut self.0, base => base.set_parameters(parameters));
    }

    /// The random numbers of independent draws: points from `first_point` on of draw number `draw`.
    pub(crate) fn draw(&self, stream: &Stream, draw: u64, first_point: u64, noise: &mut Noise) {
        stream.fill_normals(draw, first_point, &mut noise.normal);
        if let Kind::Mixture(mixture) = &self.0 {
            mixture.choose(stream, draw, first_point, noise);
            mixture.stretch_tails(stream, draw, first_point, noise);
        }
    }

    /// The random numbers of `total` draws, stratified by component, with the weight of each point: points from
    /// `first_point` on. The mean over all points is that of weight · value, and the weights sum to the number
    /// of points.
    pub(crate) fn draw_stratified(
        &self,
        stream: &Stream,
        draw: u64,
        first_point: u64,
        total: usize,
        noise: &mut Noise,
        weight: &mut [f64],
    ) {
        stream.fill_normals(draw, first_point, &mut noise.normal);
        match &self.0 {
            Kind::Gaussian(_) => weight.fill(1.0),
            Kind::Mixture(mixture) => {
                mixture.stratify(first_point, total, noise, weight);
                mixture.stretch_tails(stream, draw, first_point, noise);
            }
        }
    }

    /// z ← base points and log q₀(z) for every point, padding included.
    pub(crate) fn forward(&self, noise: &Noise, z: &mut Batch, log_q: &mut [f64]) {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.forward(&noise.normal, z, log_q),
            Kind::Mixture(mixture) => mixture.forward(noise, z, log_q),
        }
    }

    /// Length of the sums that [`Base::backward`] accumulates.
    pub(super) fn sums_len(&self) -> usize {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.parameter_len(),
            Kind::Mixture(mixture) => mixture.sums_len(),
        }
    }

    /// Adds to `sums` the gradients of the base's parameters, given the cotangents `g_z` of the base points,
    /// which come through the layers, and `g_log_q` of log q₀. `loss` is each point's contribution to the
    /// objective, including its weight. Overwrites `z` and `g_z`.
    pub(super) fn backward(
        &self,
        noise: &Noise,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_q: &[f64],
        loss: &[f64],
        sums: &mut [f64],
    ) {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.backward(&noise.normal, g_z, g_log_q, sums),
            Kind::Mixture(mixture) => mixture.backward(noise, z, g_z, g_log_q, loss, sums),
        }
    }

    /// Converts the sums to the gradient in the base's parameters.
    pub(super) fn gradient(&self, sums: &[f64], gradient: &mut [f64]) {
        match &self.0 {
            Kind::Gaussian(_) => gradient.copy_from_slice(sums),
            Kind::Mixture(mixture) => mixture.gradient(sums, gradient),
        }
    }

    /// Adds log q₀ at the points to `log_q`, which has the length of a padded row. `work` stores what the
    /// gradients below need besides the points.
    pub(crate) fn log_density(&self, z: &Batch, work: &mut Batch, log_q: &mut [f64]) {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.log_density(z, work, log_q),
            Kind::Mixture(mixture) => mixture.log_density(z, log_q),
        }
    }

    /// Adds `weight` · ∇ log q₀ at the points. `work` comes from [`Base::log_density`] and is overwritten.
    pub(crate) fn add_log_density_gradient(
        &self,
        weight: f64,
        z: &Batch,
        work: &mut Batch,
        gradient: &mut Batch,
    ) {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.add_log_density_gradient(weight, work, gradient),
            Kind::Mixture(mixture) => mixture.add_log_density_gradient(weight, z, gradient),
        }
    }

    /// Adds the gradient of Σ k_n log q₀(z_n) to `g_z` and, if the base is trained, to `gradient`. `work` comes
    /// from [`Base::log_density`]. Points with k = 0 are skipped; their coordinates may be infinite.
    pub(super) fn pull_log_density(
        &self,
        z: &Batch,
        work: &Batch,
        k: &[f64],
        g_z: &mut Batch,
        gradient: &mut [f64],
    ) {
        match &self.0 {
            Kind::Gaussian(gaussian) => gaussian.pull_log_density(work, k, g_z, gradient),
            Kind::Mixture(mixture) => mixture.pull_log_density(z, k, g_z, gradient),
        }
    }
}
