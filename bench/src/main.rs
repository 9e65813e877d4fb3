//! Measurements of `adaann`: `cargo run --release -p adaann-bench -- updates|odes|programs|precision`.

mod networks;
mod peers;
mod precision;
mod programs;
mod updates;

use std::process::ExitCode;
use updates::Kind;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["programs"] => programs::run(),
        ["precision"] => precision::run(),
        ["updates"] => updates::run(Kind::Densities, false),
        ["updates", "--peers"] => updates::run(Kind::Densities, true),
        ["networks"] => networks::run(None),
        ["networks", name] => networks::run(Some(name)),
        ["odes"] => updates::run(Kind::Odes, false),
        ["odes", "--peers"] => updates::run(Kind::Odes, true),
        _ => {
            eprintln!(
                "usage: adaann-bench updates [--peers]   microseconds per parameter update\n       \
                 adaann-bench odes [--peers]      the same for the paper's dynamical systems\n       \
                 adaann-bench programs            recorded programs against hand-written kernels\n       \
                 adaann-bench precision           what f32 layers cost in quality\n\n\
                 --peers runs the same updates in JAX and PyTorch (first bench/peers/install.sh)"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
