//! Adaptive importance sampling: a mixture that follows the weights of its own draws, and then stands
//! still.
//!
//! Every draw from a known proposal keeps its weight (`archive.rs`), the mixture is fitted to all of them,
//! and a round that makes it worse is undone (`rounds.rs`). What is reported comes from fresh draws of the
//! proposal as it is in the end (`frozen.rs`): those that shaped it would flatter it.

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
