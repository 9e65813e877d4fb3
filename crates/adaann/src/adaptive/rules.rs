//! How long a mixture is adapted, and what is asked of it.

use crate::budget::Budget;

/// The rules of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// Draws of a round.
    pub(crate) draws: usize,
    /// Adapting ends when so large a share of a round's draws counts.
    pub(crate) enough: f64,
    /// Rounds before the proposal is tried.
    pub(crate) most_rounds: usize,
    /// How often it is tried and, where it disappoints, adapted further with twice the draws.
    pub(crate) attempts: usize,
    /// How many draws of the target the last draws are to be worth.
    pub(crate) target_ess: f64,
    /// The most draws that are taken for it.
    pub(crate) most_draws: usize,
    /// So many, whatever they are worth.
    pub(crate) exactly: Option<usize>,
    /// What may be spent; one round and some draws are taken whatever it is.
    pub(crate) budget: Budget,
}

impl Rules {
    /// Rules for a target of so many dimensions.
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            draws: 1_000 + 20 * dim,
            enough: 0.8,
            most_rounds: 12,
            attempts: 4,
            target_ess: 4_000.0,
            most_draws: 200_000,
            exactly: None,
            budget: Budget::default(),
        }
    }
}

/// Weights that are worth less than this share of the draws are poor: for 4,000 draws of the target
/// 200,000 would be needed.
pub(super) const POOR: f64 = 0.02;

/// A largest weight of no more than this many times the mean makes a tail harmless, whatever its shape
/// seems: of nearly equal weights it is noise.
pub(super) const HARMLESS: f64 = 10.0;
