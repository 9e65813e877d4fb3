//! Turns an error into one sentence and an exit code: 2 for a wrong request, 1 for all other failures.

use adaann::{Error, model::Diagnostics, support::visible};
use clap::Command;
use std::{fmt, io, process::ExitCode};

/// The request itself is wrong: a flag, a name, a folder that already exists.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error with exit code 2.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// Prints the error and returns the exit code. `program` has the flags, under which settings are named.
pub(crate) fn report(error: &anyhow::Error, program: &Command) -> ExitCode {
    if is_closed_pipe(error) {
        // As in `adaann list | head`.
        return ExitCode::SUCCESS;
    }
    match error.downcast_ref::<Diagnostics>() {
        // Each diagnostic already begins with `error:`.
        Some(diagnostics) => eprintln!("{}", visible::lines(&diagnostics.to_string())),
        None => eprintln!("error: {}", visible::lines(&sentence(error, program))),
    }
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || error.is::<Diagnostics>()
        || matches!(
            error.downcast_ref(),
            Some(
                Error::Setting { .. }
                    | Error::Forbidden { .. }
                    | Error::Conflict { .. }
                    | Error::UnknownName { .. }
                    | Error::Data(_)
            )
        )
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes in one sentence, with settings written as flags.
fn sentence(error: &anyhow::Error, program: &Command) -> String {
    match error.downcast_ref() {
        Some(Error::Setting { setting, value, range }) => {
            let name =
                flag(setting, program).map_or(setting.to_string(), |flag| format!("--{flag}"));
            format!("{name} is {value}, but must be {range}")
        }
        Some(Error::Conflict { message, .. }) => as_flags(message),
        Some(Error::Forbidden { program, folder }) => format!(
            "this needs the likelihood, which the program '{program}' computes; if you trust it, \
             pass --allow-command to start it in {folder}"
        ),
        Some(Error::Schedule(schedule)) => as_flags(&schedule.to_string()),
        Some(Error::Diverged { .. }) => shortened(&with_flags(&chain(error))),
        _ => chain(error),
    }
}

/// Settings that the messages of failed training name, to be written as flags.
const REMEDIES: [&str; 5] = ["lr", "clip", "refine-lr", "refine-clip", "forward-kl-lr"];

/// Writes the settings in `REMEDIES` as flags.
fn with_flags(text: &str) -> String {
    let flag = |word: &str| match REMEDIES.contains(&word) {
        true => format!("--{word}"),
        false => word.to_owned(),
    };
    text.split(' ').map(flag).collect::<Vec<_>>().join(" ")
}

/// Writes numbers of more than 17 digits with an exponent.
fn shortened(text: &str) -> String {
    const MOST: usize = 17;
    let short = |word: &str| {
        let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
        match digits.parse::<f64>() {
            Ok(number) if digits.len() > MOST => word.replace(digits, &format!("{number:e}")),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

/// The message of failed training, with settings as flags and short numbers.
pub(crate) fn in_flags(text: &str) -> String {
    shortened(&with_flags(&as_flags(text)))
}

/// Writes settings, which are in backticks, as flags.
pub(crate) fn as_flags(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(i, part)| if i % 2 == 1 { format!("--{part}") } else { part.to_owned() }).collect()
}

/// An error with its causes, without those whose message the text already contains.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// The flag of a library setting, which has the same name.
fn flag<'a>(setting: &'a str, program: &Command) -> Option<&'a str> {
    let mut commands = ["run", "smc"].into_iter().filter_map(|name| program.find_subcommand(name));
    let has =
        |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some(setting));
    commands.any(has).then_some(setting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    fn said(error: &anyhow::Error) -> String {
        sentence(error, &Cli::command())
    }

    #[test]
    fn causes_are_told_once() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = anyhow::Error::from(missing()).context("f: no such file");
        assert_eq!(said(&error), "f: no such file");
        let error = anyhow::Error::from(missing()).context("cannot read f").context("no run");
        assert_eq!(said(&error), "no run: cannot read f: no such file");
    }

    #[test]
    fn settings_in_backticks_become_flags() {
        let said = as_flags("`stage-most` belongs to `stage-ess`, which is not given");
        assert_eq!(said, "--stage-most belongs to --stage-ess, which is not given");
        assert_eq!(as_flags("nothing to do"), "nothing to do");
    }

    #[test]
    fn remedies_are_flags_and_numbers_short() {
        let reason = format!("not finite; set refine-lr below lr ({}), or set clip", 1e300);
        let text = said(&Error::Diverged { t: 1.0, reason }.into());
        let expected = "not finite; set --refine-lr below --lr (1e300), or set --clip";
        assert!(text.ends_with(expected), "{text}");
        let error = adaann::schedule::ScheduleError::Resolution {
            t: 0.01,
            epsilon: 1e-9,
            remedy: "lower `ess`",
        };
        assert!(said(&Error::from(error).into()).contains("; lower --ess, or start from"));
    }

    #[test]
    fn settings_are_named_as_their_flags() {
        for (setting, start) in [
            ("tau", "--tau is 0,"),
            ("max-ratio", "--max-ratio is 0,"),
            ("temperatures", "--temperatures is 0,"),
            ("kept-sweeps", "--kept-sweeps is 0,"),
            ("dim", "dim is 0,"),
        ] {
            let error = Error::Setting { setting, value: "0".into(), range: "above 0".into() };
            let text = said(&error.into());
            assert!(text.starts_with(start), "{text}");
        }
    }
}
