//! The program `adaann`, which approximates densities from the command line, and [`embed`], the same
//! functions for front ends in other languages.
//!
//! Arguments become settings, settings become a run, and a run writes a folder; all other commands read the
//! folder. This crate does all printing of the project; `adaann-report` draws the figures.
//!
//! Each module uses only the modules above it in this table, which a test checks:
//!
//! | Module | Purpose |
//! | --- | --- |
//! | `text` | terminal output: colours, tables, error messages |
//! | `args` | the command line and the settings that it sets |
//! | `ranks` | the other processes of a job, and the messages to them |
//! | `folder` | the run folder: files, figures, report page, texts |
//! | `job` | a run from its settings to its folder, with progress and interruption |
//! | `commands` | the commands, one file or folder each |
//! | `embed` | the same runs and commands, embedded in another program |

mod args;
mod commands;
pub mod embed;
mod folder;
mod job;
mod ranks;
mod text;

use std::{ffi::OsString, process::ExitCode};

/// Runs the command line, whose first argument is the program's name, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    commands::main(arguments)
}
