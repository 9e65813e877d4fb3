//! How long a mixture is adapted, and what the result must reach.

use crate::budget::Budget;

/// The rules of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// Draws per round.
    pub(crate) draws: usize,
    /// Adaptation ends when a round's effective share reaches this.
    pub(crate) enough: f64,
    /// The most rounds before the proposal is tried.
    pub(crate) most_rounds: usize,
    /// The most trials; after a disappointing trial, adaptation continues with twice the draws.
    pub(crate) attempts: usize,
    /// The effective sample size that the final draws should reach.
    pub(crate) target_ess: f64,
    /// The most draws to take to reach it.
    pub(crate) most_draws: usize,
    /// A fixed number of draws, whatever their effective sample size.
    pub(crate) exactly: Option<usize>,
    /// The budget. One round and some draws are taken in any case.
    pub(crate) budget: Budget,
}

impl Rules {
    /// Rules for a target in `dim` dimensions.
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

/// Weights with an effective share below this are poor: 4,000 effective draws would need 200,000
/// draws.
pub(super) const POOR: f64 = 0.02;

/// If the largest weight is at most this many times the mean, the tail is harmless: among nearly equal
/// weights its shape is noise.
pub(super) const HARMLESS: f64 = 10.0;
