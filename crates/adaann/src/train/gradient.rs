//! The two gradient estimates that an update can use.
//!
//! The objective E_q[log q − log p_t] depends on the flow's parameters θ in two ways: the draws x
//! move, and log q changes at fixed x. The second part is the score ∇_θ log q(x), whose mean over q
//! is 0. It adds only noise, and if q = p_t it is the whole gradient.

use serde::{Deserialize, Serialize};

/// An estimate of the gradient of E_q[log q − log p_t].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gradient {
    /// The full derivative of the update's objective.
    #[default]
    Total,
    /// The path gradient, through the draws alone (Roeder, Wu and Duvenaud 2017; Vaitl and others
    /// 2024): the same mean, and zero variance where q is p_t, for one more pass through the
    /// layers.
    Path,
}
