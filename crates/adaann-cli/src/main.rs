//! `adaann`: approximates a density from the command line, and draws what it found.
//!
//! Arguments become settings, settings a run, a run a folder; everything else reads the folder. All
//! printing and drawing of the project happens here.

mod args;
mod csv;
mod density;
mod failure;
mod figures;
mod folder;
mod interrupt;
mod list;
mod names;
mod pace;
mod progress;
mod record;
mod report;
mod run;
mod settings;
mod summary;
mod table;
mod values;
mod warnings;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::List => list::list(),
        Command::Density(args) => density::density(&args),
    };
    outcome.unwrap_or_else(|error| failure::report(&error))
}
