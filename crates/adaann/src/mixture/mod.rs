//! Mixtures of Gaussians fitted to weighted points: what kernels take as the local shape of a density,
//! and what draws are proposed from.
//!
//! [`Component`] is what is to be seen of one. Each fit starts from the one before, so that a
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

use crate::{Batch, Result, flow::Base, importance::log_sum_exp};
use component::Gaussian;

/// A mixture of Gaussians.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    pub(crate) components: Vec<Gaussian>,
    dim: usize,
}

impl Mixture {
    /// log of weight times density of each component at every point, component by component;
    /// constants that all of them share are left out.
    fn log_terms(&self, points: &Batch) -> Vec<Vec<f64>> {
        let terms = |component: &Gaussian| component.log_terms(&component.squares(points, None));
        self.components.iter().map(terms).collect()
    }

    /// log of each component's share in the density at every point.
    pub(crate) fn log_shares(&self, points: &Batch) -> Vec<Vec<f64>> {
        if self.components.len() == 1 {
            return vec![vec![0.0; points.len()]];
        }
        let mut terms = self.log_terms(points);
        for i in 0..points.len() {
            let total = log_sum_exp(terms.iter().map(|row| row[i]));
            terms.iter_mut().for_each(|row| row[i] -= total);
        }
        terms
    }

    /// A mixture of components; none if a covariance is none.
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

    /// The same density as a base, to draw from.
    ///
    /// # Errors
    /// If a covariance is no longer one after it was multiplied out.
    pub(crate) fn to_base(&self) -> Result<Base> {
        let components = self.to_components();
        let weights: Vec<f64> = components.iter().map(|component| component.weight).collect();
        let means: Vec<f64> = components.iter().flat_map(|c| c.mean.iter().copied()).collect();
        let shapes: Vec<f64> =
            components.iter().flat_map(|c| c.covariance.iter().copied()).collect();
        let degrees: Vec<_> = components.iter().map(|component| component.degrees).collect();
        Base::student_mixture(&weights, &means, &shapes, &degrees)
    }

    /// Makes the weights sum to 1.
    fn normalise(&mut self) {
        let total = log_sum_exp(self.components.iter().map(|component| component.log_weight));
        self.components.iter_mut().for_each(|component| component.log_weight -= total);
    }

    /// The components as others see them.
    pub(crate) fn to_components(&self) -> Vec<Component> {
        self.components.iter().map(Gaussian::to_component).collect()
    }
}
