//! Mixtures fitted to weighted points by expectation–maximisation.
//!
//! The number of components is found by splitting (`split.rs`). A covariance is shrunk towards the previous
//! one as a whole matrix, and so in its own coordinates. This preserves the known long and short
//! directions, which shrinking towards a diagonal would lose.

use super::{Mixture, component::Gaussian, own_weights, points::Points};
use crate::{
    Batch,
    flow::{Base, Noise},
    rng::{Purpose, Stream},
};
use rayon::prelude::*;

/// Rounds of expectation–maximisation after each change of the components. Moves need the approximate
/// shape, not an exact fit.
pub(super) const ROUNDS: usize = 8;

/// Rounds of splitting per fit: up to 2⁶ components from one.
const SPLITS: usize = 6;

/// Draws for estimating the covariance of a base.
const BASE_DRAWS: usize = 4_096;

impl Mixture {
    /// Fits points with weights that sum to 1, starting from an earlier fit if given.
    pub(crate) fn fit(z: &Batch, weights: &[f64], earlier: Option<&Self>) -> Self {
        let points = Points::new(z, weights);
        let mut best = Self { components: vec![points.whole()], dim: z.dim() };
        let mut best_score = points.score(&best);
        if let Some(earlier) = earlier.filter(|earlier| earlier.components.len() > 1) {
            let moved = earlier.clone().improve(&points, Light::Dropped);
            let score = points.score(&moved);
            if score > best_score {
                (best, best_score) = (moved, score);
            }
        }
        best.grow(&points, best_score, Light::Dropped)
    }

    /// Refits this mixture to points with weights that sum to 1, including its tails.
    pub(crate) fn adapt(&self, z: &Batch, weights: &[f64]) -> Self {
        let points = Points::new(z, weights);
        // Core and tails depend on each other.
        let moved = self.clone().improve(&points, Light::Kept).with_tails(&points);
        let moved = moved.improve(&points, Light::Kept).with_tails(&points);
        let score = points.score(&moved);
        moved.grow(&points, score, Light::Kept).with_tails(&points)
    }

    /// One component with the covariance of a base's draws; `None` if it is not positive definite.
    pub(crate) fn of_base(base: &Base, seed: u64) -> Option<Self> {
        let (dim, count) = (base.dim(), BASE_DRAWS);
        let (mut noise, mut z) = (Noise::zeros(dim, count), Batch::zeros(dim, count));
        let mut log_q = vec![0.0; z.padded_len()];
        base.draw(&Stream::new(seed, Purpose::Modes), 0, 0, &mut noise);
        base.forward(&noise, &mut z, &mut log_q);
        let weights = vec![1.0 / count as f64; count];
        let points = Points::new(&z, &weights);
        Some(Self { components: vec![points.component(&weights, None)?], dim })
    }

    /// The quality of the mixture for points with weights that sum to 1: the mean log density minus a
    /// penalty for its parameters.
    pub(crate) fn score(&self, z: &Batch, weights: &[f64]) -> f64 {
        Points::new(z, weights).score(self)
    }

    /// Splits components as long as the score improves.
    fn grow(self, points: &Points, mut best_score: f64, light: Light) -> Self {
        let mut best = self;
        for _ in 0..SPLITS {
            let split = best.split(points);
            if split.components.len() == best.components.len() {
                break;
            }
            let split = split.improve(points, light);
            let score = points.score(&split);
            if score <= best_score {
                break;
            }
            (best, best_score) = (split, score);
        }
        best
    }

    /// Performs some rounds of expectation–maximisation.
    fn improve(mut self, points: &Points, light: Light) -> Self {
        let mut earlier = self.components.clone();
        for _ in 0..ROUNDS {
            let shares = self.log_shares(points.z);
            let fitted: Vec<Option<Gaussian>> = (shares.par_iter().zip(&earlier))
                .map(|(row, earlier)| {
                    let own = own_weights(row, points.weights);
                    let fitted = points.component(&own, Some(earlier));
                    match light {
                        Light::Dropped => fitted,
                        Light::Kept => Some(fitted.unwrap_or_else(|| {
                            let weight = own.iter().sum::<f64>().max(LEAST_WEIGHT);
                            Gaussian { log_weight: weight.ln(), ..earlier.clone() }
                        })),
                    }
                })
                .collect();
            if fitted.iter().all(Option::is_none) {
                return self;
            }
            earlier = earlier
                .into_iter()
                .zip(&fitted)
                .filter_map(|(earlier, fitted)| fitted.is_some().then_some(earlier))
                .collect();
            self.components = fitted.into_iter().flatten().collect();
            self.normalise();
        }
        self
    }
}

/// The treatment of components with too few points for a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Light {
    /// Drop the component: particles have left it.
    Dropped,
    /// Keep its shape, for a proposal: few draws so far do not prove that the component has no mass.
    Kept,
}

/// Components below this weight are dropped.
const LEAST_WEIGHT: f64 = 1e-3;
