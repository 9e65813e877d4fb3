//! Measurements of `adaann`: `cargo run --release -p adaann-bench -- updates|programs|precision`.

mod peers;
mod precision;
mod programs;
mod updates;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["programs"] => programs::run(),
        ["precision"] => precision::run(),
        ["updates"] => updates::run(false),
        ["updates", "--peers"] => updates::run(true),
        _ => {
            eprintln!(
                "usage: adaann-bench updates [--peers]   microseconds per parameter update\n       \
                 adaann-bench programs            recorded programs against hand-written kernels\n       \
                 adaann-bench precision           what f32 layers cost in quality\n\n\
                 --peers runs the same updates in JAX and PyTorch (first bench/peers/install.sh)"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
