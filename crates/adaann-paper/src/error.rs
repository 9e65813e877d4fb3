//! What can go wrong between the paper's settings and its page.

use std::io;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One of the library's.
    #[error(transparent)]
    Library(#[from] adaann::Error),
    /// A figure that cannot be drawn.
    #[error(transparent)]
    Figure(#[from] adaann_report::Error),
    /// An example that is not in the file of experiments.
    #[error("there is no example '{id}'; there are {}", .known.join(", "))]
    UnknownExample {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A file of experiments that cannot be read.
    #[error("the experiments cannot be read: {0}")]
    Experiments(#[source] toml::de::Error),
    /// A run of that file that cannot be made sense of.
    #[error("the run '{run}' of the experiments: {reason}")]
    Run {
        /// The run's id.
        run: String,
        /// What is wrong with it.
        reason: RunError,
    },
    /// What was kept of a trial is not there, or not whole.
    #[error("{path}: {reason}; the same campaign makes it again")]
    Kept {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder that cannot be made.
    #[error("cannot create the folder {path}: {cause}")]
    Create {
        /// The folder.
        path: String,
        /// What the system said; part of the message, and so not a source of its own.
        cause: io::Error,
    },
    /// A folder that cannot be emptied for what is new.
    #[error("cannot replace the folder {path}: {cause}")]
    Replace {
        /// The folder.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
}

/// What is wrong with a run of a file of experiments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Each value has its learning rate.
    #[error("it has {values} values and {rates} learning rates, but each value has one")]
    Rates {
        /// How many values there are.
        values: usize,
        /// How many learning rates.
        rates: usize,
    },
    /// One of `values` and `parameter` without the other.
    #[error("`values` and the name of their `parameter` go together")]
    Parameter,
    /// Settings of another kind.
    #[error("{0}")]
    Settings(#[from] toml::de::Error),
    /// A density that is not registered, or not with these choices.
    #[error(transparent)]
    Density(#[from] adaann::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
