//! What a mixture is made of, and what follows from it.

use crate::flow::base::{Covariance, moments::LOG_SQRT_2PI};
use serde::Serialize;

/// A mixture of Gaussians. Rows of K·d numbers are component by component.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::flow::base) struct Mixture {
    pub(super) logit: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) log_scale: Vec<f64>,
    /// K·d(d−1)/2 entries of full factors below their diagonals, row by row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) below: Vec<f64>,
    #[serde(skip_serializing_if = "Covariance::is_diagonal")]
    pub(super) covariance: Covariance,
    pub(super) trained: bool,
    #[serde(skip)]
    pub(super) derived: Derived,
}

/// What follows from the parameters.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Derived {
    pub(super) weight: Vec<f64>,
    pub(super) scale: Vec<f64>,
    pub(super) inverse_scale: Vec<f64>,
    /// log w_k N(μ_k; μ_k, L_k L_kᵀ)
    pub(super) log_peak: Vec<f64>,
    /// Σ_k w_k μ_k
    pub(super) average: Vec<f64>,
}

impl Mixture {
    pub(super) fn derive(&mut self) {
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

    pub(in crate::flow::base) fn dim(&self) -> usize {
        self.derived.average.len()
    }
}

/// How many entries a factor has below its diagonal.
pub(super) fn below_len(dim: usize) -> usize {
    dim * (dim - 1) / 2
}
