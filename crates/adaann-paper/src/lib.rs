//! The experiments of the AdaAnn paper as data, and the machine that runs them.
//!
//! `experiments.toml` has every setting, to be checked against the paper line by line.
//! [`campaign::run`] runs all trials over all cores and keeps each result in a journal.

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
