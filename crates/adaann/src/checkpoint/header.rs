//! What a checkpoint says of itself, before its state is read.

use super::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that is written and read.
pub const FORMAT: u32 = 1;

/// What stands at the head of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the file's format: [`FORMAT`], whatever it was before it was written.
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The instruction set that it was computed with; another one gives other last bits.
    pub instructions: String,
    /// What the run depends on.
    pub fingerprint: Fingerprint,
    /// Checkpoints of a run count from 1; set when it is written. Clocks jump, counts do not.
    pub sequence: u64,
    /// Anything else that is good to know before going on.
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

    /// The same, with one more thing that is good to know.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.about.insert(name.into(), value.to_string());
        self
    }
}
