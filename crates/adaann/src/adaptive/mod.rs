//! Adaptive importance sampling: a mixture follows the weights of its own draws, and is then frozen.
//!
//! Every draw from a known proposal keeps its weight (`archive.rs`), the mixture is fitted to all of them,
//! and a round that makes it worse is undone (`rounds.rs`). All reported numbers come from fresh draws of
//! the final proposal (`frozen.rs`), because the draws that shaped it would be biased in its favour.
//!
//! It starts from a mixture, the Gaussians at the peaks that a search has found or one fitted to particles, and
//! draws in rounds. Every draw is weighted by p over the mean of all rounds' proposals, and the mixture is fitted
//! to all draws and shrunk towards its previous value. Draws that all proposals generate too rarely mark edges, and
//! components around them reach further and join the mixture (`edges.rs`).
//!
//! All draws together are a second estimator: a stated error is at least the difference between the two
//! (`importance/gaps.rs`). A proposal is judged by all draws, not only its own, because a proposal that misses mass
//! has the best weights. If they stay poor, `warp/` fits a map by regression, through which the mixture is then
//! drawn (`shape.rs`).

mod archive;
mod edges;
mod frozen;
mod proposal;
mod rounds;
mod rules;
mod run;
mod shape;
mod starts;
#[cfg(test)]
mod tests;

pub(crate) use rules::Rules;
pub(crate) use run::{Adapted, run};
pub(crate) use shape::{Shape, flow_of};
pub(crate) use starts::starts;
