//! The state of a run between temperatures, apart from its report.

use super::{
    ancestry::Ancestry, drift::Lag, length::PathLength, particles::Particles, step_size::StepSizes,
};
use crate::{mixture::Mixture, schedule::Position};

/// The state between two temperatures. Together with the target and the settings it suffices to
/// resume; equal states give bit-identical results.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct State {
    pub(super) at: At,
    pub(super) particles: Particles,
    /// Log weights of the particles; their exponentials sum to 1.
    pub(super) log_weights: Vec<f64>,
    pub(super) ancestry: Ancestry,
    /// The mixture that describes the particles' shape.
    pub(super) mixture: Mixture,
    pub(super) step_sizes: StepSizes,
    pub(super) path_length: PathLength,
    /// The evidence for a lag of the particles.
    pub(super) lag: Lag,
    /// The fraction of the rule's step to take.
    pub(super) pace: f64,
    /// Number of returns so far.
    pub(super) returns: usize,
    /// Recent states, oldest first, in case particles have to go back.
    pub(super) past: Vec<State>,
    /// Random draws used.
    pub(super) draws: u64,
    /// log Z of the current density.
    pub(super) log_z: f64,
    /// Number of target evaluations.
    pub(super) evaluations: usize,
}

/// The position of the particles on their way.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum At {
    /// Between the base and the density at the schedule's first t.
    Start(Position),
    /// At a value of t.
    Path(Position),
}

impl State {
    /// The particles' weights, which sum to 1.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|w| w.exp()).collect()
    }

    /// Gives all particles the same weight.
    pub(super) fn equal_weights(&mut self) {
        let count = self.particles.len();
        self.log_weights = vec![-(count as f64).ln(); count];
    }
}
