//! Adaptive importance sampling: a mixture follows the weights of its own draws, and is then frozen.
//!
//! Every draw from a known proposal keeps its weight (`archive.rs`), the mixture is fitted to all of them,
//! and a round that makes it worse is undone (`rounds.rs`). All reported numbers come from fresh draws of
//! the final proposal (`frozen.rs`), because the draws that shaped it would be biased in its favour.

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
