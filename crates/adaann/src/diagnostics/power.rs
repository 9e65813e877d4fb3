//! The power of a search to find modes beyond those it found.

use serde::{Deserialize, Serialize};

/// What shows that other modes of some size can, or cannot, be ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Power {
    /// The formulas of the density show that it is log-concave, so it has one mode.
    LogConcave,
    /// The formulas show that the density is a sum of log-concave terms, and the search has reached the peak of every
    /// term.
    LogConcaveTerms {
        /// How many terms there are.
        terms: usize,
    },
    /// The draws are exact draws of the target itself, so they include every mode of some size.
    ExactDraws,
    /// Modes were planted at random, and the recorded starts of the search show which of them it would have found.
    Planted {
        /// How many modes were planted.
        planted: usize,
        /// How many of them the search would have found.
        caught: usize,
    },
}

impl Power {
    /// What the power rests on: its name in files, which stays the same when the text changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::LogConcave => "log-concave",
            Self::LogConcaveTerms { .. } => "log-concave-terms",
            Self::ExactDraws => "exact-draws",
            Self::Planted { .. } => "planted",
        }
    }

    /// The share of planted modes that the search would have found; 1 where all modes are known.
    pub fn share(self) -> f64 {
        match self {
            Self::LogConcave | Self::LogConcaveTerms { .. } | Self::ExactDraws => 1.0,
            Self::Planted { planted, caught } => caught as f64 / planted.max(1) as f64,
        }
    }
}
