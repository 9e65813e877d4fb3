//! The cost of a rung of the ladder, its result, and why the ladder left it.

use super::Method;
use serde::{Deserialize, Serialize};
use std::ops::Not;

/// One method that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The method.
    pub method: Method,
    /// The evaluations of the target.
    pub evaluations: usize,
    /// The effective share of its draws, if it has draws.
    pub ess_share: Option<f64>,
    /// Why the ladder left it.
    pub left: Left,
    /// A one-line description of its result.
    pub found: String,
    /// Does it repair an answer with the results of its check?
    #[serde(default, skip_serializing_if = "Not::not")]
    pub is_repair: bool,
}

/// Why the ladder left a rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// It gives the answer.
    Answered,
    /// The next rung starts from its result.
    Prepared,
    /// Too few of its draws are effective.
    PoorWeights,
    /// It failed.
    Failed,
}
