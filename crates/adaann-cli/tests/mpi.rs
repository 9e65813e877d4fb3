//! Runs the tests of `adaann-mpi`: `mpi/test` builds it and tests it with several ranks.
//!
//! These tests need an MPI library, which a script downloads once. They run, and must pass, if `CI` or `ADAANN_MPI`
//! is set.

use std::{env, io::Write, path::Path, process::Command};

#[test]
fn ranks_pass_their_tests() {
    if env::var_os("CI").is_none() && env::var_os("ADAANN_MPI").is_none() {
        // Not by `println!`, whose output the test harness captures.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the tests of adaann-mpi; ADAANN_MPI=1 runs them (122 MB, once)"
        );
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new(root.join("mpi/test"))
        .env("ADAANN", env!("CARGO_BIN_EXE_adaann"))
        .status()
        .expect("mpi/test starts");
    assert!(status.success(), "mpi/test: {status}");
}
