//! Model files from `adaann init` to tables, pages and other programs, with the real binary.

mod arviz;
mod calibrate;
mod check;
mod failures;
mod folders;
mod settings;
mod whole_way;

use crate::support::common::{Place, stderr};
use std::fs;
use std::path::Path;
use std::process::Output;

/// Settings that take a second.
const QUICK: &[&str] = &[
    "--flow",
    "planar",
    "--layers",
    "4",
    "--tau",
    "1",
    "--warmup",
    "20",
    "--updates",
    "1",
    "--refine",
    "20",
    "--samples",
    "16",
    "--refine-samples",
    "32",
    "--variance-samples",
    "64",
    "--draws",
    "300",
    "--quiet",
    "--check-particles",
    "100",
];

/// Runs the binary, which must succeed.
#[track_caller]
fn succeed(place: &Place, words: &str) -> Output {
    let output = place.adaann(words, &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    output
}

/// Fits a model with quick settings, which must succeed.
#[track_caller]
fn fit(place: &Place, words: &str) -> Output {
    let output = place.adaann(&format!("fit {words}"), QUICK);
    assert!(output.status.success(), "fit {words}: {}", stderr(&output));
    output
}

/// Runs the binary, which must refuse, and returns its message.
#[track_caller]
fn refuse(place: &Place, words: &str, code: i32) -> String {
    let output = place.adaann(words, &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {said}");
    assert!(said.starts_with("error: "), "{words}: {said}");
    said
}

/// Copies files of the gallery, with their folders.
fn copy(place: &Place, names: &[&str]) {
    for name in names {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
        let to = place.path(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("the folder is made");
        fs::copy(&from, &to).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
