//! A mixture of Gaussians as a base: q₀ = Σ_k w_k N(μ_k, L_k L_kᵀ), with w = softmax(a).
//!
//! The factors L are diagonal with the scales σ, or full: lower-triangular with σ on the diagonal. A trained
//! mixture adds to the flow's parameter vector the logits a, the means μ, log σ and, if full, the entries of L
//! below the diagonal. Components with full factors may be Student distributions with fixed degrees of freedom:
//! ε is then a stretched normal vector (`tails.rs`).
//!
//! # The gradient of the training objective
//!
//! With ℓ(z) = log q₀(z) − log det − log p_t, all evaluated along the path of a base point z, the objective is
//!
//! E_q₀[ℓ] = Σ_k w_k E_ε[ℓ(μ_k + L_k ε)].
//!
//! Drawing a component with probability w and then a point would leave nothing to differentiate in w: a
//! discrete choice has no derivative in its probability. So the components are not drawn. Point n belongs to
//! component n mod K and has the weight c_n = N w_k/n_k, where n_k of the N points belong to k. Then
//! Σ c_n ℓ_n/N is Σ_k w_k times the mean of ℓ over the points of k: unbiased, and for fixed ε a smooth
//! function of all parameters. Its exact derivatives are:
//!
//! - Through z: G_n = c_n ∇_z ℓ(z_n) is the cotangent from the layers plus c_n ∇ log q₀(z_n). The mean of the
//!   point's own component receives G_n, its L_ij receives G_ni ε_nj, and its log σ_i receives G_ni ε_ni σ_ki.
//! - Through the density, at fixed z: let r_k = w_k N_k(z)/q₀(z) be the responsibilities, e = L_k⁻¹(z − μ_k)
//!   and x = L_k⁻ᵀ e. The derivatives of log q₀ are r_k x in μ_k, r_k x_i e_j in L_kij below the diagonal,
//!   r_k (x_i e_i σ_ki − 1) in log σ_ki, and r_k − w_k in a_k, for every component k and not only the point's
//!   own. In z the derivative is −Σ_k r_k x. Where L is diagonal, x is e/σ. For a Student component with ν
//!   degrees of freedom, x is multiplied by (ν + d)/(ν + |e|²).
//! - Through the weights c_n: ∂c_n/∂a_j = c_n (δ_jk − w_j). The sum Σ c_n (δ_jk − w_j) ℓ_n is N w_j times the
//!   difference between the mean of ℓ over component j and the mean over all points. Its only randomness is
//!   that of these means.
//!
//! Non-finite points have no ℓ. The objective is then the mean over the other points, A/C with A = Σ c_n ℓ_n
//! and C = Σ c_n over those points, and
//!
//! C · ∂(A/C)/∂a_j = Σ ∂c_n/∂a_j (ℓ_n − A/C) = T_j − (A/C) C_j,
//!
//! where T_j and C_j are the contributions of component j to A and C; the terms with w_j cancel. A constant in
//! log p_t drops out, with or without non-finite points. A component's weight is not penalised for non-finite
//! points, just as the mean of a Gaussian is not: such points have no gradient.

mod build;
mod diagonal;
mod full;
mod own;
mod parameters;
mod tails;

pub(super) use parameters::Mixture;

use super::{Covariance, Noise, Parameter};
use crate::{Batch, batch::PAD, rng::Stream, simd::dispatch};
use parameters::below_len;

impl Mixture {
    pub(super) fn trained(self) -> Self {
        Self { trained: true, ..self }
    }

    /// The same density with factors that have all entries below the diagonal.
    pub(super) fn with_full_factor(self) -> Self {
        match self.covariance {
            Covariance::Full => self,
            Covariance::Diagonal => {
                let below = vec![0.0; self.logit.len() * below_len(self.dim())];
                Self { below, covariance: Covariance::Full, ..self }
            }
        }
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
        let mut blocks = vec![
            Parameter::new("base.logit", &[components]),
            Parameter::new("base.mean", &[components, dim]),
            Parameter::new("base.log_scale", &[components, dim]),
        ];
        if self.covariance == Covariance::Full {
            blocks.push(Parameter::new("base.below", &[components, below_len(dim)]));
        }
        blocks
    }

    pub(super) fn parameter_len(&self) -> usize {
        if self.trained { self.logit.len() + 2 * self.mean.len() + self.below.len() } else { 0 }
    }

    pub(super) fn to_parameters(&self) -> Vec<f64> {
        if !self.trained {
            return Vec::new();
        }
        [&self.logit[..], &self.mean, &self.log_scale, &self.below].concat()
    }

    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        if !self.trained {
            return;
        }
        let (logit, rest) = parameters.split_at(self.logit.len());
        let (mean, rest) = rest.split_at(self.mean.len());
        let (log_scale, below) = rest.split_at(self.log_scale.len());
        self.logit.copy_from_slice(logit);
        self.mean.copy_from_slice(mean);
        self.log_scale.copy_from_slice(log_scale);
        self.below.copy_from_slice(below);
        self.derive();
    }

    /// Assigns each point a component by its own uniform number.
    pub(super) fn choose(&self, stream: &Stream, draw: u64, first_point: u64, noise: &mut Noise) {
        let len = noise.normal.len();
        for (point, component) in (first_point..).zip(&mut noise.component[..len]) {
            *component = self.component_at(stream.point_uniform_at(draw, point));
        }
    }

    /// The component that a uniform number selects.
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

    pub(super) fn forward(&self, noise: &Noise, z: &mut Batch, log_q: &mut [f64]) {
        self.place(noise, z);
        log_q[..z.padded_len()].fill(0.0);
        self.log_density(z, log_q);
    }

    /// The sums of the parameters, then T and C of each component.
    pub(super) fn sums_len(&self) -> usize {
        if self.trained { self.parameter_len() + 2 * self.logit.len() } else { 0 }
    }

    /// Accumulates the sums derived in the module documentation.
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
        // The backward pass through the layers ends only near these points, and the density is steep: recompute
        // them.
        self.place(noise, z);
        let (own, objective) = sums.split_at_mut(self.parameter_len());
        self.pull(z, Each::Point(g_log_q), g_z, Some(own));
        self.pull_placed(noise, g_z, own);
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
        match self.covariance {
            Covariance::Diagonal => dispatch(diagonal::AddLogDensity { mixture: self, z, log_q }),
            Covariance::Full => full::add_log_density(self, z, log_q),
        }
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

    /// Adds the gradient of Σ k_n log q₀(z_n) in the points and, if requested, in the parameters.
    fn pull(&self, z: &Batch, weights: Each, g_z: &mut Batch, mut sums: Option<&mut [f64]>) {
        for at in (0..z.len()).step_by(PAD) {
            let len = PAD.min(z.len() - at);
            // Padding has weight 0.
            let mut k = [0.0; PAD];
            match weights {
                Each::Same(weight) => k[..len].fill(weight),
                Each::Point(weights) => k[..len].copy_from_slice(&weights[at..at + len]),
            }
            let (k, sums) = (&k, sums.as_deref_mut());
            match self.covariance {
                Covariance::Diagonal => {
                    dispatch(diagonal::Pull { mixture: self, z, at, k, g_z, sums });
                }
                Covariance::Full => full::pull(self, z, at, k, g_z, sums),
            }
        }
    }
}

/// The factor of log q₀ at each point.
#[derive(Clone, Copy)]
enum Each<'a> {
    Same(f64),
    Point(&'a [f64]),
}

#[cfg(test)]
mod tests;
