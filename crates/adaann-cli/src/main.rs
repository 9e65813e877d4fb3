//! `adaann`: approximates densities from the command line and draws the results.

use std::process::ExitCode;

fn main() -> ExitCode {
    adaann_cli::main(std::env::args_os())
}
