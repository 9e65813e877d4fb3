//! The experiments of the AdaAnn paper as data, and a runner for them.
//!
//! `experiments.toml` lists every setting in the order of the paper, so that they can be compared line by line.
//! [`campaign::run`] runs all trials on all cores and stores each result in a journal.
//!
//! | File | Contents |
//! | --- | --- |
//! | `experiments.toml` | every setting and learning rate of the paper |
//! | `published.toml` | every number that the paper prints |
//! | `campaign.rs` | all trials, on the library's tasks, each on one thread with a seed derived from its name |
//! | `trial.rs` | the measurements of a fit |
//! | `watch.rs` | observations of flows during training |
//! | `exact.rs` | AdaAnn's steps without noise |
//! | `chapters/` | tables and figures of the results |
//! | `output.rs` | the output folder |
//!
//! Tests compare the two TOML files with each other and with the library's presets.
//!
//! Each result is appended to a journal. To resume, a trial that is in the journal with the same fingerprint of
//! settings is skipped. The output folder has `index.html`, `paper.md` for the book, `figures/`, `tables/`,
//! `results.json`, and `times.json` separately, because times differ in every run.

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
