//! Measurements of `adaann`: `cargo run --release -p adaann-bench -- COMMAND`, one file a command.

mod families;
mod models;
mod networks;
mod peers;
mod precision;
mod programs;
mod regressions;
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
        ["families"] => families::run(),
        ["networks"] => networks::run(None, false),
        ["networks", "--peers"] => networks::run(None, true),
        ["networks", name] => networks::run(Some(name), false),
        ["models"] => models::run(false),
        ["models", "--peers"] => models::run(true),
        ["odes"] => updates::run(Kind::Odes, false),
        ["odes", "--peers"] => updates::run(Kind::Odes, true),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: adaann-bench updates [--peers]   microseconds per parameter update, planar flows\n       \
         adaann-bench odes [--peers]      the same for the paper's dynamical systems\n       \
         adaann-bench networks [--peers]  the same for flows built on networks\n       \
         adaann-bench models [--peers]    models written as text: density and gradient of a point\n       \
         adaann-bench families            what every family of flows reaches on five targets\n       \
         adaann-bench programs            recorded programs against hand-written kernels\n       \
         adaann-bench precision           what f32 layers cost in quality\n\n\
         --peers runs the same in JAX and PyTorch (first bench/peers/install.sh)"
    );
    ExitCode::from(2)
}
