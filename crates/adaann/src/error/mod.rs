//! The library's errors, with the values that say where and what to do.

mod failure;
mod schedule;

pub use failure::Failure;
pub use schedule::ScheduleError;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting outside its range.
    #[error("{setting} is {value}, but must be {range}")]
    Setting {
        /// The setting's name, as files have it.
        setting: &'static str,
        /// The value given.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// A setting that conflicts with others.
    #[error("{message}")]
    Conflict {
        /// The setting's name.
        setting: &'static str,
        /// What is wrong; names of settings are in backticks.
        message: String,
    },
    /// A name that is not registered.
    #[error("there is no {kind} called '{name}'{}", suggestion(.nearest))]
    UnknownName {
        /// The kind of name: target, flow, schedule.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The registered name nearest to it, if one is near.
        nearest: Option<String>,
    },
    /// Points, parameters or files of an unexpected size.
    #[error("{what}: {found} found, {expected} expected")]
    Shape {
        /// What has the wrong size.
        what: String,
        /// The size it has.
        found: String,
        /// The size it should have.
        expected: String,
    },
    /// Data that does not allow a posterior.
    #[error("{0}")]
    Data(String),
    /// A target could not be evaluated.
    #[error("the target failed: {0}")]
    Target(String),
    /// The time limit has passed.
    #[error("the time limit of the run has passed")]
    OutOfTime,
    /// The likelihood needs an external program that the user has not allowed to start.
    #[error(
        "the likelihood is computed by the program '{program}' in {folder}, which runs only if you allow it"
    )]
    Forbidden {
        /// The program with its arguments.
        program: String,
        /// The folder that it runs in.
        folder: String,
    },
    /// A schedule could not choose its next step.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Training diverged: more than half the points of a stage were not finite, or the gradient was
    /// repeatedly not finite.
    #[error("training failed at t = {}: {reason}", short(*t))]
    Diverged {
        /// The inverse temperature where it happened.
        t: f64,
        /// What happened and what to try.
        reason: String,
    },
    /// A saved flow or checkpoint that cannot be loaded.
    #[error("cannot load: {0}")]
    Load(String),
    /// A flow or a state that cannot be saved.
    #[error("cannot save: {0}")]
    Save(String),
    /// Reading or writing failed.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The system's error; part of the message, and so not a source of its own.
        cause: std::io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// One of several runs panicked, with this message.
    #[error("it panicked: {0}; this is a bug in your target or observer, or else in adaann")]
    Panicked(String),
    /// A folder in use by another process.
    #[error("another process{} is at work in {folder}; wait for it to end, or choose another folder", number(.process))]
    Locked {
        /// The folder.
        folder: String,
        /// The number of the process, if it can be read.
        process: Option<u32>,
    },
}

impl Error {
    /// The setting that caused the error, if any.
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Setting { setting, .. } | Self::Conflict { setting, .. } => Some(setting),
            _ => None,
        }
    }
}

/// A number with the digits that matter to a reader.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || x >= 1e-3 { format!("{x:.4}") } else { format!("{x:.2e}") }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean '{name}'?"))
}

fn number(process: &Option<u32>) -> String {
    process.map_or(String::new(), |number| format!(" ({number})"))
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error for a setting outside its range.
pub(crate) fn setting(
    setting: &'static str,
    value: impl ToString,
    range: impl Into<String>,
) -> Error {
    Error::Setting { setting, value: value.to_string(), range: range.into() }
}

/// The error for a setting that conflicts with others.
pub(crate) fn conflict(setting: &'static str, message: impl Into<String>) -> Error {
    Error::Conflict { setting, message: message.into() }
}

/// Refuses a count of zero.
pub(crate) fn at_least_one(name: &'static str, count: usize) -> Result<()> {
    if count == 0 { Err(setting(name, count, "at least 1")) } else { Ok(()) }
}

/// The error for something of an unexpected size.
pub(crate) fn shape(what: &str, found: impl ToString, expected: impl ToString) -> Error {
    Error::Shape { what: what.into(), found: found.to_string(), expected: expected.to_string() }
}
