//! The program `adaann`, which approximates a density from the command line and draws what it found, and
//! [`embed`], by which front ends in other languages do the same.
//!
//! Arguments become settings, settings a run, a run a folder; everything else reads the folder. All
//! printing of the project happens here; drawing is `adaann-report`.
//!
//! Each room uses only those above it, which a test holds:
//!
//! | Room | Its one idea |
//! | --- | --- |
//! | `text` | how this program speaks: colours, tables, failures |
//! | `args` | what may be asked, and the settings that it means |
//! | `ranks` | the other processes of a job: what they are told and asked |
//! | `folder` | the run folder: its files, figures, page and words |
//! | `job` | a run from settings to its folder, with progress and interruption |
//! | `commands` | one file or folder a command, from its arguments to what it prints and writes |
//! | `embed` | the same runs and commands for a program that this one is a part of |

mod args;
mod commands;
pub mod embed;
mod folder;
mod job;
mod ranks;
mod text;

use std::{ffi::OsString, process::ExitCode};

/// Does what the arguments ask for, the first of which is the program's name, and gives its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    commands::main(arguments)
}
