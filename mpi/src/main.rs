//! `mpirun -n 64 adaann-mpi fit model.toml`: the program `adaann` on several MPI ranks.
//!
//! Rank 0 runs the command, owns the folder and prints. The other ranks handle its requests and sleep while they wait.
//! Only the main thread of a process calls MPI, and it does nothing else, so a rank that computes for hours still
//! answers pings.
//!
//! At rank 0 the command runs in a thread of its own. Its requests wait in the library's `ranks::Queue`. The main
//! thread sends them to the next free rank (`asking.rs`), and the worker threads of rank 0 take requests too. The
//! other ranks (`serving.rs`) reply through `embed::Rank`. `ranks/` of the command line defines the requests.

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
        eprintln!("error: MPI is already initialised");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    if level < Threading::Funneled {
        eprintln!(
            "error: this MPI lacks support for threads, which adaann needs; use an MPI built with MPI_THREAD_FUNNELED"
        );
        return ExitCode::FAILURE;
    }
    if world.size() == 1 {
        // A single rank runs like the program without MPI.
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
