//! A run that failed part-way but kept a usable result.

/// Why a run stopped before t = 1, with the result that it kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// The inverse temperature of the kept result.
    pub t: f64,
    /// The inverse temperature at which it failed.
    pub failed_at: f64,
    /// What happened and what to try.
    pub reason: String,
}

impl Failure {
    /// The same as an error, for callers that need a complete run.
    pub(crate) fn into_error(self) -> super::Error {
        super::Error::Diverged { t: self.failed_at, reason: self.reason }
    }
}
