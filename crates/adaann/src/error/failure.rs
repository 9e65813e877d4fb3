//! Why a run ended before its end, with something to show all the same.

/// What ended a run late: it could not go on, and what it had by then is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// The inverse temperature of what is kept.
    pub t: f64,
    /// That at which it could not go on.
    pub failed_at: f64,
    /// What happened and what to try.
    pub reason: String,
}

impl Failure {
    /// The same as an error, for those to whom half a run is none.
    pub(crate) fn into_error(self) -> super::Error {
        super::Error::Diverged { t: self.failed_at, reason: self.reason }
    }
}
