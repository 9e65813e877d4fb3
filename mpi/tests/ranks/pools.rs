//! Python pools: every kind gives the same bits.

use crate::place::{LONG, Place, ended, stderr};
use std::process::{Command, Output, Stdio};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name}: see mpi/test"))
}

/// Runs `pools.py` with one kind of pool.
fn pool(place: &Place, kind: &str, more: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/pools.py");
    let python = variable("MPI_PYTHON");
    let mut command = match kind {
        "mpi4py" => {
            let mut command = Command::new(variable("MPIEXEC"));
            command.args(["-n", "3", &python, "-m", "mpi4py.futures"]);
            command
        }
        _ => Command::new(python),
    };
    command.arg(script).arg(kind).args(more).env("PYTHONPATH", variable("MPI_SITE"));
    command.current_dir(place.path(".")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().expect("it starts"), LONG)
}

#[test]
fn every_pool_gives_the_same_bits() {
    let place = Place::new();
    let said = |kind: &str| {
        let output = pool(&place, kind, &[]);
        assert!(output.status.success(), "{kind}: {}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let without = said("none");
    assert!(without.starts_with("reliable "), "{without}");
    for kind in ["multiprocessing", "dask", "mpi4py"] {
        assert_eq!(said(kind), without, "{kind}");
    }
}

#[test]
fn what_fails_in_a_worker_comes_back() {
    let place = Place::new();
    for kind in ["dask", "mpi4py"] {
        let output = pool(&place, kind, &["--raises"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("ValueError: beyond the wall"), "{kind}: {said} {}", stderr(&output));
    }
}
