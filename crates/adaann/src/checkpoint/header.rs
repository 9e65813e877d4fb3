//! The header of a checkpoint, which is read before its state.

use super::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that is written and read.
pub const FORMAT: u32 = 1;

/// The header of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the file's format; writing sets it to [`FORMAT`].
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The instruction set of the computation; another one gives different last bits.
    pub instructions: String,
    /// The values that the run depends on.
    pub fingerprint: Fingerprint,
    /// Numbers the checkpoints of a run from 1; set when the checkpoint is written. Unlike clocks,
    /// numbers never jump.
    pub sequence: u64,
    /// Any other information that is useful before resuming.
    pub about: BTreeMap<String, String>,
}

impl Header {
    /// The header of a checkpoint that this program is about to write.
    pub fn new(instructions: impl Into<String>, fingerprint: Fingerprint) -> Self {
        Self {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").into(),
            instructions: instructions.into(),
            fingerprint,
            sequence: 0,
            about: BTreeMap::new(),
        }
    }

    /// Adds a piece of information.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.about.insert(name.into(), value.to_string());
        self
    }
}
