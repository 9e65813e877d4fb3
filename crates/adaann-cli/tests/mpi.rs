//! `adaann-mpi`, which has tests of its own: `mpi/test` builds it and runs them with several ranks.
//!
//! They need an MPI, which a script fetches once. So they run where `CI` or `ADAANN_MPI` is set, and there they must.

use std::{env, io::Write, path::Path, process::Command};

#[test]
fn ranks_pass_their_tests() {
    if env::var_os("CI").is_none() && env::var_os("ADAANN_MPI").is_none() {
        // Not by a macro, whose words the test harness keeps to itself.
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
