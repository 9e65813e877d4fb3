//! The parameters of a mixture, and the values derived from them.

use crate::{
    flow::base::{Covariance, moments::LOG_SQRT_2PI},
    simd::Special,
};
use serde::Serialize;

/// A mixture of Gaussians or Student distributions. Rows of K·d numbers are ordered component by component.
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
    /// Degrees of freedom of each component, `None` for a Gaussian; empty if all are Gaussians.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) degrees: Vec<Option<f64>>,
    pub(super) trained: bool,
    #[serde(skip)]
    pub(super) derived: Derived,
}

/// The values derived from the parameters.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Derived {
    pub(super) weight: Vec<f64>,
    pub(super) scale: Vec<f64>,
    pub(super) inverse_scale: Vec<f64>,
    /// log of w_k times the component's density at its mean
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
                - log_scale.iter().map(|log_scale| log_scale + LOG_SQRT_2PI).sum::<f64>()
                + self.degrees.get(k).copied().flatten().map_or(0.0, |nu| above_gaussian(nu, dim));
            for (average, mean) in average.iter_mut().zip(&self.mean[own]) {
                *average += weight[k] * mean;
            }
        }
    }

    pub(in crate::flow::base) fn dim(&self) -> usize {
        self.derived.average.len()
    }

    /// Degrees of freedom of component k; `None` for a Gaussian.
    pub(super) fn degrees_of(&self, k: usize) -> Option<f64> {
        self.degrees.get(k).copied().flatten()
    }
}

/// Log ratio of a Student density with ν degrees of freedom to the Gaussian with the same factor, at their
/// mean: ln Γ((ν + d)/2) − ln Γ(ν/2) − (d/2) ln (ν/2).
fn above_gaussian(nu: f64, dim: usize) -> f64 {
    let half = 0.5 * dim as f64;
    let ln_gamma = |x: f64| Special::LnGamma.at(x);
    ln_gamma(0.5 * nu + half) - ln_gamma(0.5 * nu) - half * (0.5 * nu).ln()
}

/// Number of entries of a factor below its diagonal.
pub(super) fn below_len(dim: usize) -> usize {
    dim * (dim - 1) / 2
}
