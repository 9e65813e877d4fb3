//! What a run carries from temperature to temperature, apart from what it reports.

use super::{
    ancestry::Ancestry, drift::Lag, length::PathLength, particles::Particles, step_size::StepSizes,
};
use crate::{mixture::Mixture, schedule::Position};

/// A run between two temperatures. With the target and the settings it is all that it takes to go
/// on; the same state gives the same bits.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct State {
    pub(super) at: At,
    pub(super) particles: Particles,
    /// log of the particles' weights; they sum to 1 as exponentials.
    pub(super) log_weights: Vec<f64>,
    pub(super) ancestry: Ancestry,
    /// The particles' shape.
    pub(super) mixture: Mixture,
    pub(super) step_sizes: StepSizes,
    pub(super) path_length: PathLength,
    /// How far particles are behind, as far as it was seen.
    pub(super) lag: Lag,
    /// The share of the rule's steps that is taken.
    pub(super) pace: f64,
    /// How often particles went back.
    pub(super) returns: usize,
    /// The last states, the oldest first, in case particles have to go back.
    pub(super) past: Vec<State>,
    /// Random draws used.
    pub(super) draws: u64,
    /// log Z of the density that the particles stand for.
    pub(super) log_z: f64,
    /// Points at which the target was evaluated.
    pub(super) evaluations: usize,
}

/// Where particles are on their way.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum At {
    /// Between the base and the density at the schedule's first t.
    Start(Position),
    /// At a value of t.
    Path(Position),
}

impl State {
    /// The particles' weights, whose sum is 1.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|w| w.exp()).collect()
    }

    /// Gives all particles the same weight.
    pub(super) fn equal_weights(&mut self) {
        let count = self.particles.len();
        self.log_weights = vec![-(count as f64).ln(); count];
    }
}
