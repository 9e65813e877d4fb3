//! The power of a search against modes that it did not find.

use serde::{Deserialize, Serialize};

/// Why other modes of some size can, or cannot, be ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Power {
    /// The density is log-concave, which its formulas show: it has one mode.
    LogConcave,
    /// The density is a sum of log-concave terms, which its formulas show, and the search has reached the peak of every one.
    LogConcaveTerms {
        /// How many terms there are.
        terms: usize,
    },
    /// The draws are exact draws of the target itself: they have seen every mode of some size.
    ExactDraws,
    /// Modes were planted at random, and the recorded starts of the search were asked which of them lie in a
    /// planted basin.
    Planted {
        /// How many modes were planted.
        planted: usize,
        /// How many of them the search would have found.
        caught: usize,
    },
}

impl Power {
    /// What it rests on: its name in files, which stays when words change.
    pub fn code(self) -> &'static str {
        match self {
            Self::LogConcave => "log-concave",
            Self::LogConcaveTerms { .. } => "log-concave-terms",
            Self::ExactDraws => "exact-draws",
            Self::Planted { .. } => "planted",
        }
    }

    /// The share of planted modes that the search would have found: 1 where all modes are known.
    pub fn share(self) -> f64 {
        match self {
            Self::LogConcave | Self::LogConcaveTerms { .. } | Self::ExactDraws => 1.0,
            Self::Planted { planted, caught } => caught as f64 / planted.max(1) as f64,
        }
    }
}
