//! Fits the degrees of freedom of components by maximum likelihood.

use super::{Mixture, component::Gaussian, own_weights, points::Points};
use rayon::prelude::*;

/// Candidate degrees of freedom, besides a Gaussian.
const DEGREES: [f64; 7] = [3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 200.0];

impl Mixture {
    /// The same components, each with the maximum-likelihood tails for its points.
    pub(super) fn with_tails(mut self, points: &Points) -> Self {
        let shares = self.log_shares(points.z);
        self.components = (self.components.par_iter().zip(&shares))
            .map(|(component, shares)| {
                likeliest(points, component, &own_weights(shares, points.weights))
            })
            .collect();
        self
    }
}

fn likeliest(points: &Points, component: &Gaussian, own: &[f64]) -> Gaussian {
    let squares = component.squares(points.z, None);
    let tried = DEGREES.into_iter().map(Some).chain([None]);
    let tried = tried.map(|degrees| Gaussian { degrees, ..component.clone() });
    let likelihood = |with: &Gaussian| -> f64 {
        let terms = with.log_terms(&squares);
        own.iter().zip(terms).filter(|(w, _)| **w > 0.0).map(|(w, term)| w * term).sum()
    };
    let best = tried.map(|with| (likelihood(&with), with)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| component.clone(), |(_, with)| with)
}
