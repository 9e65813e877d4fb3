//! `mpirun -n 64 adaann-mpi fit model.toml`: the program `adaann` on several ranks of MPI.
//!
//! Rank 0 does what the arguments say, owns the folder and prints; the others answer what it asks, and sleep while they
//! wait. Only the main thread of a process speaks MPI, and it does nothing else: a rank that computes for hours still
//! answers when it is asked whether it is there.

mod arguments;
mod asking;
mod greeting;
mod serving;
mod wire;

use arguments::Arguments;
use mpi::{Threading, traits::Communicator};
use std::process::ExitCode;
use wire::Wire;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(2);
        }
    };
    let Some((universe, level)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI was initialised before");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    if level < Threading::Funneled {
        eprintln!("error: this MPI has no threads, and adaann has; build MPI with them");
        return ExitCode::FAILURE;
    }
    if world.size() == 1 {
        // Nobody to share with: the program as it is.
        return adaann_cli::main(arguments.all);
    }
    let threads = match greeting::threads(&world, arguments.threads) {
        Ok(threads) => threads,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let wire = Wire::new(&world);
    match world.rank() {
        0 => asking::run(&wire, arguments, threads),
        _ => serving::run(&wire, threads),
    }
}
