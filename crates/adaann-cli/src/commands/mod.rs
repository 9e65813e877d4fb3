//! The commands, one file or folder each: from the arguments to the output.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod density;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod init;
pub(crate) mod lengthen;
pub(crate) mod list;
pub(crate) mod opened;
pub(crate) mod paper;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod smc;
pub(crate) mod verify;

use crate::{
    args::{Cli, Command},
    job::threads,
    text::failure,
};
use adaann::Instructions;
use anyhow::Result;
use clap::{CommandFactory, Parser};
use std::{ffi::OsString, process::ExitCode};

/// Parses the arguments (the program's name first), runs the command, reports errors, and returns the exit code.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let asked = match Cli::try_parse_from(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            // This also prints the help. If printing fails, the exit code still reports the error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    dispatch(asked.command).unwrap_or_else(|error| failure::report(&error, &Cli::command()))
}

/// Runs a command.
pub(crate) fn dispatch(command: Command) -> Result<ExitCode> {
    // Report a misspelt environment variable early; otherwise it would be ignored silently.
    Instructions::from_environment()?;
    threads::check(0)?;
    match command {
        Command::Run(args) => run::run(&args),
        Command::Init(args) => init::init(&args),
        Command::Check(args) => check::check(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Calibrate(args) => calibrate::calibrate(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Smc(args) => smc::smc(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Sample(args) => sample::sample(&args),
        Command::Export(args) => export::export(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::List => list::list(),
        Command::Paper(args) => paper::paper(&args),
        Command::Density(args) => density::density(&args),
        Command::Report(args) => report::report(&args),
        Command::Verify(args) => verify::verify(&args),
    }
}
