//! The experiments of the AdaAnn paper as data, and a runner for them.
//!
//! `experiments.toml` lists every setting in the order of the paper, so that they can be compared line by line.
//! [`campaign::run`] runs all trials on all cores and stores each result in a journal.

pub mod campaign;
pub mod chapters;
mod cost;
mod error;
pub mod exact;
pub mod experiments;
mod journal;
pub mod kept;
pub mod machine;
pub mod output;
mod published;
mod stats;
pub mod trial;
mod variants;
pub mod watch;

pub use error::{Error, Result, RunError};
pub use variants::Variant;
