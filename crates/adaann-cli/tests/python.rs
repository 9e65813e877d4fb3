//! Runs the tests of the Python package: `python/test` builds and tests it.
//!
//! These tests need Python and gigabytes of packages, which are downloaded once. They run, and must pass, if
//! `CI` or `ADAANN_PYTHON` is set.

use std::{env, io::Write, path::Path, process::Command};

#[test]
fn the_python_package_passes_its_tests() {
    if env::var_os("CI").is_none() && env::var_os("ADAANN_PYTHON").is_none() {
        // Not by `println!`, whose output the test harness captures.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the tests of the Python package; ADAANN_PYTHON=1 runs them (some gigabytes, once)"
        );
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new(root.join("python/test"))
        .env("ADAANN", env!("CARGO_BIN_EXE_adaann"))
        .status()
        .expect("python/test starts");
    assert!(status.success(), "python/test: {status}");
}
