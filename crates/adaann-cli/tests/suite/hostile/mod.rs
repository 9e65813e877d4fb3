//! Hostile calls, model files, run folders and programs must not make the binary panic, abort, hang, leave files or
//! processes behind, or end with a wrong exit code.
//!
//! Every test run includes a short form. `ADAANN_HOSTILE=5000` runs that many calls, 2 model files per 5 calls, 1
//! folder (with eight commands) per 10 calls, and all programs. `ADAANN_HOSTILE_SEED` sets the seed,
//! `ADAANN_HOSTILE_ONLY=models` runs one part, and `ADAANN_HOSTILE_ONLY=calls:317` repeats one trial, as named in the
//! list of failures.
//!
//! All trials run in a sandbox (`sandbox.rs`). Without a sandbox, devices are left out, and root is refused.
#![cfg(target_os = "linux")]

mod calls;
mod dice;
mod ended;
mod faults;
mod folders;
mod help;
mod models;
mod parts;
mod place;
mod programs;
mod sandbox;
mod text;
mod trial;
mod values;

use faults::Fault;
use parts::{Parts, Sizes};
use std::{env, fs, os::unix::fs::PermissionsExt, path::Path};
use trial::Trial;

const SHORT: Sizes = Sizes { calls: 150, models: 60, folders: 20, programs: 6 };

fn sizes() -> Sizes {
    let asked = env::var("ADAANN_HOSTILE").ok();
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else { return SHORT };
    let calls: usize = asked.parse().expect("ADAANN_HOSTILE is a number of calls");
    let programs = programs::PROGRAMS.len();
    Sizes { calls, models: calls * 2 / 5, folders: calls.div_ceil(10), programs }
}

/// Tests the harness itself: scripts in place of the binary show every fault, and each must be detected.
#[test]
fn what_is_wrong_is_seen() {
    for (script, expected) in [
        ("exit 0", None),
        ("echo refused >&2; exit 2", None),
        ("echo 'thread panicked at x' >&2; exit 101", Some(Fault::Panic)),
        ("kill -SEGV $$", Some(Fault::Abort)),
        ("echo 'memory allocation of 8 bytes failed' >&2; exit 1", Some(Fault::Abort)),
        ("echo failed >&2; exit 7", Some(Fault::WrongCode)),
        ("echo 'Usage: adaann run' >&2; exit 1", Some(Fault::WrongCode)),
        ("exit 1", Some(Fault::WrongCode)),
        ("echo failed >&2; exit 130", Some(Fault::WrongCode)),
        ("echo refused >&2; mkdir new; exit 2", Some(Fault::LeftBehind)),
        ("mkdir .new.partial; exit 0", Some(Fault::LeftBehind)),
        ("echo x > ../up; exit 0", Some(Fault::LeftBehind)),
        ("echo x > mine; exit 0", Some(Fault::LeftBehind)),
        ("rm mine; exit 0", Some(Fault::LeftBehind)),
        ("sleep 60 >&- 2>&- & exit 0", Some(Fault::LeftBehind)),
        ("echo x > new; exit 0", None),
    ] {
        let place = tempfile::tempdir().expect("a temporary folder");
        let binary = place.path().join("script");
        let folder = place.path().join("trial");
        fs::write(&binary, format!("#!/bin/sh\n{script}\n")).expect("a file");
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("mine");
        let binary = binary.to_str().expect("a plain name");
        let trial = Trial { binary, name: String::new(), folder };
        fs::create_dir_all(trial.here()).expect("a folder");
        fs::write(trial.here().join("mine"), "").expect("a file");
        let outcome = trial.call(&["sample".into(), "new".into()], false);
        let found: Vec<_> = outcome.faults.iter().map(|(fault, _)| *fault).collect();
        assert_eq!(found, Vec::from_iter(expected), "{script}");
    }
}

#[test]
fn nothing_breaks_it() {
    if env::var_os(sandbox::INSIDE).is_some() {
        let parts =
            Parts::new("/sandbox/adaann", Path::new("/sandbox/models"), Path::new("/work"), true);
        return parts.hold(&sizes());
    }
    match sandbox::pass() {
        Some(passed) => assert!(passed, "see above"),
        None if sandbox::is_root() => {
            let why = "hostile calls are not made: this is root, and there can be no sandbox here \
                       (unshare, user namespaces); run the test as another user";
            assert!(env::var_os("ADAANN_HOSTILE").is_none(), "{why}");
            eprintln!("{why}");
        }
        None => {
            eprintln!("hostile calls without devices: there can be no sandbox here");
            let work = tempfile::tempdir().expect("a temporary folder");
            let models = Path::new(sandbox::models());
            Parts::new(env!("CARGO_BIN_EXE_adaann"), models, work.path(), false).hold(&sizes());
        }
    }
}
