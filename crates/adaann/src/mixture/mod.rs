//! Mixtures of Gaussians fitted to weighted points. They give kernels the local shape of a density, and
//! serve as proposals.
//!
//! [`Component`] is the public view of a component. Each fit starts from the previous one, so that a
//! mixture follows particles from temperature to temperature.

mod component;
mod em;
mod points;
mod split;
mod student;
mod tails;
#[cfg(test)]
mod tests;

pub use component::Component;

use crate::{
    Batch, Result,
    flow::Base,
    importance::log_sum_exp,
    simd::{Buffer, F64, Kernel, Lane, Math, dispatch},
};
use component::Gaussian;
use fearless_simd::Simd;
use rayon::prelude::*;

/// A mixture of Gaussians.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mixture {
    pub(crate) components: Vec<Gaussian>,
    dim: usize,
}

impl Mixture {
    /// log of each component's responsibility at every point.
    pub(crate) fn log_shares(&self, points: &Batch) -> Vec<Buffer> {
        self.log_density_and_shares(points).1
    }

    /// The log density at every point, without the constant that all Gaussians of a dimension share, and
    /// the log responsibility of each component; rows are padded.
    fn log_density_and_shares(&self, points: &Batch) -> (Buffer, Vec<Buffer>) {
        let padded = points.padded_len();
        let terms = |component: &Gaussian| {
            let mut row = Buffer::zeros(padded);
            let terms = component.log_terms(&component.squares(points, None));
            row[..points.len()].copy_from_slice(&terms);
            row
        };
        let mut shares: Vec<Buffer> = self.components.par_iter().map(terms).collect();
        let mut log_density = Buffer::zeros(padded);
        dispatch(Normalise { terms: &mut shares, log_sum: &mut log_density });
        (log_density, shares)
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Whether a component's mean is within one of its standard deviations of `z`.
    pub(crate) fn has_component_at(&self, z: &[f64]) -> bool {
        let point = Batch::from_points(z.len(), &[z]);
        let most = z.len() as f64;
        self.components.iter().any(|component| component.squares(&point, None)[0] < most)
    }

    /// A mixture of components; `None` if a covariance is not positive definite.
    pub(crate) fn of(components: &[Component]) -> Option<Self> {
        let gaussian = |component: &Component| {
            let Component { weight, mean, covariance, degrees } = component;
            let gaussian = Gaussian::new(*weight, mean.clone(), covariance)?;
            Some(Gaussian { degrees: *degrees, ..gaussian })
        };
        let dim = components.first()?.mean.len();
        let mut mixture =
            Self { components: components.iter().map(gaussian).collect::<Option<_>>()?, dim };
        mixture.normalise();
        Some(mixture)
    }

    /// The same density as a base that can be drawn from.
    ///
    /// # Errors
    /// If a reconstructed covariance is no longer positive definite.
    pub(crate) fn to_base(&self) -> Result<Base> {
        let components = self.to_components();
        let weights: Vec<f64> = components.iter().map(|component| component.weight).collect();
        let means: Vec<f64> = components.iter().flat_map(|c| c.mean.iter().copied()).collect();
        let shapes: Vec<f64> =
            components.iter().flat_map(|c| c.covariance.iter().copied()).collect();
        let degrees: Vec<_> = components.iter().map(|component| component.degrees).collect();
        Base::student_mixture(&weights, &means, &shapes, &degrees)
    }

    /// Normalises the weights.
    fn normalise(&mut self) {
        let total = log_sum_exp(self.components.iter().map(|component| component.log_weight));
        self.components.iter_mut().for_each(|component| component.log_weight -= total);
    }

    /// The public representation of the components.
    pub(crate) fn to_components(&self) -> Vec<Component> {
        self.components.iter().map(Gaussian::to_component).collect()
    }
}

/// Subtracts the log of the terms' sum from each term, at every point.
struct Normalise<'a> {
    terms: &'a mut [Buffer],
    log_sum: &'a mut [f64],
}

impl Kernel for Normalise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { terms, log_sum } = self;
        for at in (0..log_sum.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            // Start from a finite value, so that a point far from all components gets responsibilities
            // and not NaN.
            let mut largest = F64::splat(simd, f64::MIN);
            for k in 0..terms.len() {
                largest = largest.max(F64::load(simd, &terms[k][at..]));
            }
            let mut sum = F64::splat(simd, 0.0);
            for k in 0..terms.len() {
                sum = sum + (F64::load(simd, &terms[k][at..]) - largest).exp();
            }
            let log = largest + sum.ln();
            log.store(&mut log_sum[at..]);
            for k in 0..terms.len() {
                (F64::load(simd, &terms[k][at..]) - log).store(&mut terms[k][at..]);
            }
        }
    }
}

/// Weights times responsibilities: each point's weight in a component.
fn own_weights(log_share: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut own = Buffer::from(log_share);
    dispatch(Exp(&mut own));
    own.iter().zip(weights).map(|(share, weight)| share * weight).collect()
}

struct Exp<'a>(&'a mut [f64]);

impl Kernel for Exp<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for at in (0..self.0.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            F64::load(simd, &self.0[at..]).exp().store(&mut self.0[at..]);
        }
    }
}
