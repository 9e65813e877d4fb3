//! One file or folder a command: from its arguments to what it prints and writes.

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

/// Does what the arguments of the program ask for, its name first, says what is wrong, and gives the exit code.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let asked = match Cli::try_parse_from(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            // Help is printed like this, too. Where there is nobody to tell, the code says it.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    obey(asked.command).unwrap_or_else(|error| failure::report(&error, &Cli::command()))
}

/// Does what was asked.
pub(crate) fn obey(command: Command) -> Result<ExitCode> {
    // A slip there would else be ignored in silence.
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
