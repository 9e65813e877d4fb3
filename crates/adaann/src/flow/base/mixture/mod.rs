//! A mixture of Gaussians as a base: q₀ = Σ_k w_k N(μ_k, diag σ_k²), with w = softmax(a).
//!
//! A trained mixture has the logits a, the means μ and log σ in the flow's parameter vector.
//!
//! # The gradient of the training objective
//!
//! With ℓ(z) = log q₀(z) − log det − log p_t, all of it at or along the way of a base point z, the
//! objective is
//!
//! E_q₀[ℓ] = Σ_k w_k E_ε[ℓ(μ_k + σ_k ε)].
//!
//! Drawing a component by w and then a point would leave nothing to differentiate in w: a choice
//! does not move with its probability. So none is drawn. Point n belongs to component n mod K, and
//! stands for it with the weight c_n = N w_k/n_k, where n_k of the N points belong to k:
//! Σ c_n ℓ_n/N is Σ_k w_k times the mean of ℓ over the points of k, unbiased, and a smooth function
//! of all parameters for fixed ε. Its derivatives are taken as they stand:
//!
//! - Through z: G_n = c_n ∇_z ℓ(z_n) is the cotangent from the layers plus c_n ∇ log q₀(z_n). It
//!   goes to the mean of the point's own component, and G_n σ_k ε_n to its log σ.
//! - Through the density, at fixed z: with the responsibilities r_k = w_k N_k(z)/q₀(z) and
//!   e = (z − μ_k)/σ_k, log q₀ has the derivatives r_k e/σ_k in μ_k, r_k (e² − 1) in log σ_k, and
//!   r_k − w_k in a_k, for every k and not the point's own alone.
//! - Through the weights c_n: ∂c_n/∂a_j = c_n (δ_jk − w_j). No randomness but that of ℓ's own means
//!   is in Σ c_n (δ_jk − w_j) ℓ_n, which is N w_j times how far the mean of ℓ over component j is
//!   above the mean over all.
//!
//! Points that are lost have no ℓ. What is left is the mean over the others, A/C with A = Σ c_n ℓ_n
//! and C = Σ c_n over the points kept, and
//!
//! C · ∂(A/C)/∂a_j = Σ ∂c_n/∂a_j (ℓ_n − A/C) = T_j − (A/C) C_j,
//!
//! with T_j and C_j the parts of A and C that component j has; the terms with w_j cancel. A constant
//! in log p_t drops out, as it must, with points lost or without. That a component loses points is
//! not held against its weight, as the lost points of a Gaussian are not held against its mean: they
//! have no gradient to say where to go.

mod kernel;

use super::{LOG_SQRT_2PI, Noise, Parameter, check_mean, check_sd};
use crate::{Batch, Result, batch::PAD, error, rng::Stream, simd::dispatch};
use kernel::{AddLogDensity, Pull};
use serde::Serialize;

/// A mixture of Gaussians with diagonal covariances. Rows of K·d numbers are component by component.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Mixture {
    logit: Vec<f64>,
    mean: Vec<f64>,
    log_scale: Vec<f64>,
    trained: bool,
    #[serde(skip)]
    derived: Derived,
}

/// What follows from the parameters.
#[derive(Debug, Clone, PartialEq, Default)]
struct Derived {
    weight: Vec<f64>,
    scale: Vec<f64>,
    inverse_scale: Vec<f64>,
    /// log w_k N(μ_k; μ_k, σ_k²)
    log_peak: Vec<f64>,
    /// Σ_k w_k μ_k
    average: Vec<f64>,
}

impl Mixture {
    /// Weights that need not be normalised, and K·d means and standard deviations.
    pub(super) fn new(weights: &[f64], means: &[f64], sds: &[f64]) -> Result<Self> {
        let components = weights.len();
        error::at_least_one("base-components", components)?;
        if let Some(bad) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
            return Err(error::setting("the weight of a component", bad, "positive and finite"));
        }
        check_mean(means)?;
        if !means.len().is_multiple_of(components) {
            let range = format!("a multiple of {components} numbers, the number of components");
            let value = format!("a list of {}", means.len());
            return Err(error::setting("base-means", value, range));
        }
        check_sd(sds, means.len())?;
        let logarithms = |values: &[f64]| values.iter().map(|x| x.ln()).collect();
        Ok(Self::build(logarithms(weights), means.to_vec(), logarithms(sds), false))
    }

    /// A mixture as a file has it.
    pub(super) fn from_file(
        logit: Vec<f64>,
        mean: Vec<f64>,
        log_scale: Vec<f64>,
        trained: bool,
    ) -> Result<Self, String> {
        if logit.is_empty() || logit.iter().any(|x| !x.is_finite()) {
            return Err("the base's logits are not finite numbers, one for each component".into());
        }
        check_mean(&mean).map_err(|error| error.to_string())?;
        if !mean.len().is_multiple_of(logit.len()) {
            let (numbers, components) = (mean.len(), logit.len());
            return Err(format!("the base has {numbers} means for {components} components"));
        }
        // Neither a scale nor its inverse is 0 or infinite.
        let ordinary = |log: &f64| log.abs() < 700.0;
        if log_scale.len() != mean.len() || !log_scale.iter().all(ordinary) {
            let expected = mean.len();
            return Err(format!("the base's log scales are not {expected} ordinary numbers"));
        }
        Ok(Self::build(logit, mean, log_scale, trained))
    }

    fn build(logit: Vec<f64>, mean: Vec<f64>, log_scale: Vec<f64>, trained: bool) -> Self {
        let derived = Derived {
            weight: vec![0.0; logit.len()],
            scale: vec![0.0; mean.len()],
            inverse_scale: vec![0.0; mean.len()],
            log_peak: vec![0.0; logit.len()],
            average: vec![0.0; mean.len() / logit.len()],
        };
        let mut mixture = Self { logit, mean, log_scale, trained, derived };
        mixture.derive();
        mixture
    }

    fn derive(&mut self) {
        let dim = self.dim();
        let Derived { weight, scale, inverse_scale, log_peak, average } = &mut self.derived;
        for (i, log_scale) in self.log_scale.iter().enumerate() {
            scale[i] = log_scale.exp();
            inverse_scale[i] = 1.0 / scale[i];
        }
        let largest = self.logit.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = self.logit.iter().map(|a| (a - largest).exp()).sum::<f64>().ln();
        average.fill(0.0);
        for (k, logit) in self.logit.iter().enumerate() {
            let log_weight = logit - largest - log_sum;
            weight[k] = log_weight.exp();
            let own = k * dim..(k + 1) * dim;
            let log_scale = &self.log_scale[own.clone()];
            log_peak[k] = log_weight
                - log_scale.iter().map(|log_scale| log_scale + LOG_SQRT_2PI).sum::<f64>();
            for (average, mean) in average.iter_mut().zip(&self.mean[own]) {
                *average += weight[k] * mean;
            }
        }
    }

    pub(super) fn trained(self) -> Self {
        Self { trained: true, ..self }
    }

    pub(super) fn dim(&self) -> usize {
        self.derived.average.len()
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.derived.average
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.derived.weight
    }

    pub(super) fn parameters(&self) -> Vec<Parameter> {
        if !self.trained {
            return Vec::new();
        }
        let (components, dim) = (self.logit.len(), self.dim());
        vec![
            Parameter::new("base.logit", &[components]),
            Parameter::new("base.mean", &[components, dim]),
            Parameter::new("base.log_scale", &[components, dim]),
        ]
    }

    pub(super) fn parameter_len(&self) -> usize {
        if self.trained { self.logit.len() + 2 * self.mean.len() } else { 0 }
    }

    pub(super) fn to_parameters(&self) -> Vec<f64> {
        if !self.trained {
            return Vec::new();
        }
        [&self.logit[..], &self.mean, &self.log_scale].concat()
    }

    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        if !self.trained {
            return;
        }
        let (logit, rest) = parameters.split_at(self.logit.len());
        let (mean, log_scale) = rest.split_at(self.mean.len());
        self.logit.copy_from_slice(logit);
        self.mean.copy_from_slice(mean);
        self.log_scale.copy_from_slice(log_scale);
        self.derive();
    }

    /// Gives each point a component by a uniform number of its own.
    pub(super) fn choose(&self, stream: &Stream, draw: u64, first_point: u64, noise: &mut Noise) {
        let len = noise.normal.len();
        for (point, component) in (first_point..).zip(&mut noise.component[..len]) {
            *component = self.component_at(stream.point_uniform_at(draw, point));
        }
    }

    /// The component that a number between 0 and 1 stands for.
    fn component_at(&self, mut rest: f64) -> usize {
        let last = self.logit.len() - 1;
        for (k, weight) in self.derived.weight[..last].iter().enumerate() {
            if rest < *weight {
                return k;
            }
            rest -= weight;
        }
        last
    }

    /// Point n belongs to component n mod K, and has the weight N w_k/n_k.
    pub(super) fn stratify(
        &self,
        first_point: u64,
        total: usize,
        noise: &mut Noise,
        weight: &mut [f64],
    ) {
        let components = self.logit.len();
        for n in 0..noise.normal.len() {
            let k = ((first_point + n as u64) % components as u64) as usize;
            let own = total / components + usize::from(k < total % components);
            noise.component[n] = k;
            weight[n] = total as f64 * self.derived.weight[k] / own as f64;
        }
    }

    /// z ← μ_k + σ_k ε
    fn place(&self, noise: &Noise, z: &mut Batch) {
        let dim = self.dim();
        for i in 0..dim {
            let (row, normal) = (z.padded_row_mut(i), noise.normal.padded_row(i));
            for ((z, e), k) in row.iter_mut().zip(normal).zip(&noise.component) {
                *z = self.mean[k * dim + i] + self.derived.scale[k * dim + i] * e;
            }
        }
    }

    pub(super) fn forward(&self, noise: &Noise, z: &mut Batch, log_q: &mut [f64]) {
        self.place(noise, z);
        log_q[..z.padded_len()].fill(0.0);
        self.log_density(z, log_q);
    }

    /// The parameters' own sums, then T and C of each component.
    pub(super) fn sums_len(&self) -> usize {
        if self.trained { self.parameter_len() + 2 * self.logit.len() } else { 0 }
    }

    /// Adds up what the module's head derives.
    pub(super) fn backward(
        &self,
        noise: &Noise,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_q: &[f64],
        loss: &[f64],
        sums: &mut [f64],
    ) {
        if !self.trained {
            return;
        }
        // The way back through the layers ends near these points; the density is steep.
        self.place(noise, z);
        let (own, objective) = sums.split_at_mut(self.parameter_len());
        self.pull(z, Each::Point(g_log_q), g_z, Some(own));
        let dim = self.dim();
        let (g_mean, g_log_scale) = own[self.logit.len()..].split_at_mut(self.mean.len());
        for i in 0..dim {
            let (g, normal) = (g_z.row(i), noise.normal.row(i));
            for n in 0..g.len() {
                let at = noise.component[n] * dim + i;
                g_mean[at] += g[n];
                g_log_scale[at] += g[n] * normal[n] * self.derived.scale[at];
            }
        }
        let (t, c) = objective.split_at_mut(self.logit.len());
        for n in 0..g_z.len() {
            t[noise.component[n]] += loss[n];
            c[noise.component[n]] += g_log_q[n];
        }
    }

    pub(super) fn gradient(&self, sums: &[f64], gradient: &mut [f64]) {
        let (own, objective) = sums.split_at(self.parameter_len());
        gradient.copy_from_slice(own);
        if self.trained {
            let (t, c) = objective.split_at(self.logit.len());
            let mean = t.iter().sum::<f64>() / c.iter().sum::<f64>();
            for (k, g_logit) in gradient[..self.logit.len()].iter_mut().enumerate() {
                *g_logit += t[k] - mean * c[k];
            }
        }
    }

    pub(super) fn log_density(&self, z: &Batch, log_q: &mut [f64]) {
        dispatch(AddLogDensity { mixture: self, z, log_q });
    }

    pub(super) fn add_log_density_gradient(&self, weight: f64, z: &Batch, gradient: &mut Batch) {
        self.pull(z, Each::Same(weight), gradient, None);
    }

    pub(super) fn pull_log_density(
        &self,
        z: &Batch,
        k: &[f64],
        g_z: &mut Batch,
        gradient: &mut [f64],
    ) {
        self.pull(z, Each::Point(k), g_z, self.trained.then_some(gradient));
    }

    /// Adds the gradient of Σ k_n log q₀(z_n) in the points and, if asked, in the parameters.
    fn pull(&self, z: &Batch, weights: Each, g_z: &mut Batch, mut sums: Option<&mut [f64]>) {
        for at in (0..z.len()).step_by(PAD) {
            let len = PAD.min(z.len() - at);
            // The padding is no point: it has weight 0.
            let mut k = [0.0; PAD];
            match weights {
                Each::Same(weight) => k[..len].fill(weight),
                Each::Point(weights) => k[..len].copy_from_slice(&weights[at..at + len]),
            }
            dispatch(Pull { mixture: self, z, at, k: &k, g_z, sums: sums.as_deref_mut() });
        }
    }
}

/// What multiplies log q₀ at each point.
#[derive(Clone, Copy)]
enum Each<'a> {
    Same(f64),
    Point(&'a [f64]),
}

#[cfg(test)]
mod tests;
