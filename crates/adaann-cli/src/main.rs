//! `adaann`: approximates a density from the command line, and draws what it found.

use std::process::ExitCode;

fn main() -> ExitCode {
    adaann_cli::main(std::env::args_os())
}
