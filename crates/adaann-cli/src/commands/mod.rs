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

use crate::args::Command;
use adaann::Instructions;
use anyhow::Result;
use std::process::ExitCode;

/// Does what was asked.
pub(crate) fn obey(command: Command) -> Result<ExitCode> {
    // A slip there would else be ignored in silence.
    Instructions::from_environment()?;
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
