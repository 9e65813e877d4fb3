//! What can go wrong, with the values that say where and what to do.

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
    /// A setting that does not go with others.
    #[error("{message}")]
    Conflict {
        /// The setting's name.
        setting: &'static str,
        /// What is wrong; names of settings stand in backticks.
        message: String,
    },
    /// A name that nothing is registered under.
    #[error("there is no {kind} called '{name}'{}", suggestion(.nearest))]
    UnknownName {
        /// What was looked for: target, flow, schedule.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The registered name nearest to it, if one is near.
        nearest: Option<String>,
    },
    /// Points, parameters or files of another size than expected.
    #[error("{what}: {found} found, {expected} expected")]
    Shape {
        /// What has the wrong size.
        what: String,
        /// The size it has.
        found: String,
        /// The size it should have.
        expected: String,
    },
    /// Data that no posterior can be made from.
    #[error("{0}")]
    Data(String),
    /// A target could not be evaluated.
    #[error("the target failed: {0}")]
    Target(String),
    /// The time that the work may take is over.
    #[error("the time that the run may take was over")]
    OutOfTime,
    /// The likelihood is that of a program that nobody has allowed to be started.
    #[error(
        "the likelihood is computed by the program '{program}' in {folder}, which is not started unless that is allowed"
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
    /// Training lost its way: more than half the points of a stage were lost, or the gradient was
    /// not finite again and again.
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
        /// What the system said; part of the message, and so not a source of its own.
        cause: std::io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// One of several runs panicked, with this message.
    #[error(
        "it panicked: {0}; a target or an observer of your own may be at fault, else adaann is"
    )]
    Panicked(String),
    /// A folder that another process is at work in.
    #[error("another process{} is at work in {folder}; wait for it to end, or choose another folder", number(.process))]
    Locked {
        /// The folder.
        folder: String,
        /// The number of the process, if it can be read.
        process: Option<u32>,
    },
}

impl Error {
    /// The setting that is to blame, if one is.
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

/// The error for a setting that does not go with others.
pub(crate) fn conflict(setting: &'static str, message: impl Into<String>) -> Error {
    Error::Conflict { setting, message: message.into() }
}

/// Refuses a count of zero.
pub(crate) fn at_least_one(name: &'static str, count: usize) -> Result<()> {
    if count == 0 { Err(setting(name, count, "at least 1")) } else { Ok(()) }
}

/// The error for something of another size than expected.
pub(crate) fn shape(what: &str, found: impl ToString, expected: impl ToString) -> Error {
    Error::Shape { what: what.into(), found: found.to_string(), expected: expected.to_string() }
}
