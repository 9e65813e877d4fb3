//! From an error to one sentence and an exit code: 2 for what the user asked, 1 for the rest.

use crate::args::Cli;
use adaann::Error;
use clap::CommandFactory;
use std::{fmt, io, process::ExitCode};

/// Something in the request itself is wrong: a flag, a name, a folder that is already there.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The error for a request that cannot be met.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// Prints the error and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        // `adaann list | head`: the reader has what it wanted.
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {}", sentence(error));
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || matches!(error.downcast_ref(), Some(Error::Setting { .. } | Error::UnknownName { .. }))
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// The whole chain in one sentence; a setting that is a flag is written as one.
fn sentence(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    match error.downcast_ref() {
        Some(Error::Setting { setting, .. }) if is_flag(setting) => format!("--{text}"),
        _ => text,
    }
}

fn is_flag(name: &str) -> bool {
    let cli = Cli::command();
    let run = cli.find_subcommand("run").expect("there is a subcommand 'run'");
    run.get_arguments().any(|arg| arg.get_long() == Some(name))
}
