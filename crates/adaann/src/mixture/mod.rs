//! Mixtures of Gaussians fitted to weighted points: what kernels take as the local shape of a density.
//!
//! [`Component`] is what is to be seen of one. Each fit starts from the one before, so that a
//! mixture follows particles from temperature to temperature.

mod component;
mod em;
mod student;
#[cfg(test)]
mod tests;

pub use component::Component;

use crate::{Batch, importance::log_sum_exp};
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
        let terms = |component: &Gaussian| -> Vec<f64> {
            let height = component.log_weight - component.log_det;
            let squares = component.squares(points, None);
            squares.into_iter().map(|square| height - 0.5 * square).collect()
        };
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

    /// The components as others see them.
    pub(crate) fn to_components(&self) -> Vec<Component> {
        self.components.iter().map(Gaussian::to_component).collect()
    }
}
