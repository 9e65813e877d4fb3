//! Errors of campaigns and their pages.

use std::io;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error(transparent)]
    Library(#[from] adaann::Error),
    /// A figure that cannot be drawn.
    #[error(transparent)]
    Figure(#[from] adaann_report::Error),
    /// An example that is not in the file of experiments.
    #[error("unknown example '{id}'; choose one of {}", .known.join(", "))]
    UnknownExample {
        /// The requested id.
        id: String,
        /// The known ids.
        known: Vec<String>,
    },
    /// A file of experiments that cannot be read.
    #[error("the experiments cannot be read: {0}")]
    Experiments(#[source] toml::de::Error),
    /// An invalid run in that file.
    #[error("the run '{run}' of the experiments: {reason}")]
    Run {
        /// The id of the run.
        run: String,
        /// The problem.
        reason: RunError,
    },
    /// The saved data of a trial is missing or incomplete.
    #[error("{path}: {reason}; run the same campaign again to recreate it")]
    Kept {
        /// The file.
        path: String,
        /// The problem.
        reason: String,
    },
    /// A folder that cannot be created.
    #[error("cannot create the folder {path}: {cause}")]
    Create {
        /// The folder.
        path: String,
        /// The error of the system. It is part of the message, and so not a separate source.
        cause: io::Error,
    },
    /// A folder that cannot be replaced.
    #[error("cannot replace the folder {path}: {cause}")]
    Replace {
        /// The folder.
        path: String,
        /// The error of the system.
        cause: io::Error,
    },
}

/// What is wrong with a run of a file of experiments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The numbers of values and learning rates differ.
    #[error("it has {values} values but {rates} learning rates; each value needs one")]
    Rates {
        /// The number of values.
        values: usize,
        /// The number of learning rates.
        rates: usize,
    },
    /// One of `values` and `parameter` without the other.
    #[error("`values` and `parameter` must be given together")]
    Parameter,
    /// Invalid settings.
    #[error("{0}")]
    Settings(#[from] toml::de::Error),
    /// A density that is not registered, or has no such choices.
    #[error(transparent)]
    Density(#[from] adaann::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
