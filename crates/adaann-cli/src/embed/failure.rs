//! Errors of the embedded interface, whose messages name settings as arguments of a function.

use crate::text::failure::{chain, is_usage, usage};
use adaann::{Error, support::visible};
use std::fmt;

/// An error of the embedded interface.
#[derive(Debug)]
pub struct Failure(anyhow::Error);

/// A run was stopped before it had an answer.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped before there was an answer")
    }
}

impl std::error::Error for Stopped {}

impl Failure {
    /// The error of a run that was stopped before it had an answer.
    pub(super) fn stopped() -> Self {
        Self(Stopped.into())
    }

    /// Was the run stopped?
    pub fn is_stopped(&self) -> bool {
        self.0.is::<Stopped>()
    }

    /// An error in the request itself.
    pub fn usage(message: impl Into<String>) -> Self {
        Self(usage(message))
    }

    /// Is the request itself wrong?
    pub fn is_usage(&self) -> bool {
        is_usage(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0.downcast_ref() {
            Some(Error::Setting { setting, value, range }) => {
                format!("{} is {value}, but must be {range}", as_argument(setting))
            }
            _ => chain(&self.0),
        };
        f.write_str(&visible::lines(&as_arguments(&text)))
    }
}

impl std::error::Error for Failure {}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}

/// The name of a setting as an argument.
pub(super) fn as_argument(setting: &str) -> String {
    setting.replace('-', "_")
}

/// Writes settings, in backticks or as flags, as arguments.
fn as_arguments(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let plain = parts.map(|(i, part)| match i % 2 {
        1 if !part.contains(' ') => as_argument(part),
        _ => part.to_owned(),
    });
    let plain: String = plain.collect();
    let word = |word: &str| match word.strip_prefix("--") {
        Some(flag) if flag.starts_with(|c: char| c.is_ascii_lowercase()) => {
            let end = flag.find(|c: char| c != '-' && !c.is_alphanumeric()).unwrap_or(flag.len());
            as_argument(&flag[..end]) + &flag[end..]
        }
        _ => word.to_owned(),
    };
    plain.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_arguments() {
        let said = as_arguments("`target-ess` does not apply; take --base-sd, or --t0.");
        assert_eq!(said, "target_ess does not apply; take base_sd, or t0.");
        let error = Error::Setting {
            setting: "max-evaluations",
            value: "0".into(),
            range: "at least 1".into(),
        };
        assert_eq!(
            Failure::from(error).to_string(),
            "max_evaluations is 0, but must be at least 1"
        );
    }
}
