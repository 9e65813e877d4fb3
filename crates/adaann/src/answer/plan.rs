//! The plan of a run: the ladder, one of its methods, or Algorithm 1.

use super::{Method, Settings};
use crate::fit;
use serde::{Deserialize, Serialize};

/// The plan of a run, with all its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "a run has one plan, so its size does not matter")]
pub enum Plan {
    /// The ladder, or one of its methods: [`approximate`](super::approximate).
    #[serde(rename = "answer")]
    Answer(Settings),
    /// The paper's Algorithm 1: [`fit`](fit::fit).
    #[serde(rename = "settings")]
    Adaann(Box<fit::Settings>),
}

impl Plan {
    /// The method of the plan.
    pub fn method(&self) -> Method {
        match self {
            Self::Answer(settings) => settings.method,
            Self::Adaann(_) => Method::Adaann,
        }
    }

    /// The seed of every random number.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Answer(settings) => settings.seed,
            Self::Adaann(settings) => settings.seed,
        }
    }

    /// The same plan with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        match self {
            Self::Answer(settings) => Self::Answer(Settings { seed, ..settings }),
            Self::Adaann(settings) => Self::Adaann(Box::new(fit::Settings { seed, ..*settings })),
        }
    }
}
