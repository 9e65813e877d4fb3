//! What a rung of the ladder cost, what it reached, and why it was left.

use super::Method;
use serde::{Deserialize, Serialize};

/// One method that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// Which one.
    pub method: Method,
    /// Points at which the target was evaluated.
    pub evaluations: usize,
    /// The share of its draws that count as draws of the target, where it has draws.
    pub ess_share: Option<f64>,
    /// What it came to.
    pub left: Left,
    /// A line on what it found.
    pub found: String,
}

/// Why a rung was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// It gives the answer.
    Answered,
    /// It is where the next one starts.
    Prepared,
    /// Too few of its draws count.
    PoorWeights,
    /// It could not be done.
    Failed,
}
