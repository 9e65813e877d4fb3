//! Which of two estimates of the same gradient an update follows.
//!
//! The objective E_q[log q − log p_t] depends on the flow's parameters θ along two ways: the draws
//! x move, and log q changes where they are. At a point held fixed the second is the score
//! ∇_θ log q(x), whose mean over q is 0: it adds nothing but noise, and it is all that is left to an
//! update when q is p_t.

use serde::{Deserialize, Serialize};

/// An estimate of the gradient of E_q[log q − log p_t].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gradient {
    /// The derivative of the update's own objective, both ways.
    #[default]
    Total,
    /// That along the way of the draws alone (Roeder, Wu and Duvenaud 2017; Vaitl and others 2024):
    /// the same mean, and no variance where q is p_t, for one more pass through the layers.
    Path,
}
