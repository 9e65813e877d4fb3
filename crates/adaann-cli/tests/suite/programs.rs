//! A run folder may be untrusted: reading it starts no program without permission.

use crate::support::common;
use common::{Place, TINY, stderr, stdout, table};
use std::{fs, process::Output};

/// A program that writes a mark when started, and whose density has its peak at 1.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import sys
open("started", "a").write("x")
sys.stdin.readline()
print('{"gradient": false}', flush=True)
for line in sys.stdin:
    if not line.startswith("batch"):
        print(-sum((float(x) - 1) ** 2 for x in line.split()), flush=True)
"#;

/// A folder with the run `r` of a model with a program and this number of parameters.
fn place(parameters: &[&str]) -> Place {
    let place = Place::new();
    place.write_program(PROGRAM);
    let lines: String = parameters.iter().map(|p| format!("{p} = \"normal(0, 2)\"\n")).collect();
    place.write("m.toml", &format!("command = \"./program\"\n[parameters]\n{lines}"));
    let output = place.adaann("fit m.toml --out r --quiet --threads 1", TINY);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.path("started").exists(), "who names the file asks for its program");
    fs::remove_file(place.path("started")).unwrap();
    place
}

fn started(place: &Place) -> bool {
    fs::remove_file(place.path("started")).is_ok()
}

/// A command that must succeed.
fn done(place: &Place, words: &str) -> Output {
    let output = place.adaann(words, &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    output
}

#[test]
fn what_needs_no_likelihood_is_done_without_the_program() {
    for parameters in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
        let place = place(parameters);
        let said = stdout(&done(&place, "report r"));
        let note = "'./program' computes it; --allow-command starts it";
        // Figures show the target's density in at most two dimensions.
        assert_eq!(said.contains(note), parameters.len() < 3, "{said}");
        done(&place, "report r --out page.html");
        if parameters.len() < 3 {
            assert!(place.read("page.html").contains("which was not started"));
        }
        done(&place, "export r");
        done(&place, "compare r r");
        assert!(!started(&place), "{parameters:?}");
    }
}

#[test]
fn what_needs_it_names_the_program_and_the_flag() {
    let place = place(&["a"]);
    place.write("points.csv", "a\n1\n2\n");
    for words in [
        "sample r",
        "sample r --unweighted",
        "density r points.csv",
        "check r",
        "check r/model.toml",
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("'./program'") && said.contains("--allow-command"), "{said}");
        assert!(!started(&place), "{words}");
    }
    // The model is printed in any case.
    assert!(stdout(&place.adaann("check r", &[])).contains("normal(0, 2)"));
}

#[test]
fn with_the_flag_it_is_started_and_named() {
    let place = place(&["a"]);
    place.write("points.csv", "a\n1\n2\n");
    for words in ["sample r", "density r points.csv", "report r", "check r"] {
        let output = done(&place, &format!("{words} --allow-command"));
        assert!(stderr(&output).starts_with("starting './program' in "), "{}", stderr(&output));
        assert!(started(&place), "{words}");
    }
    let output = done(&place, "density r points.csv --allow-command");
    let (_, rows) = table(&stdout(&output));
    // The program returns 0 and -1 there, and the log prior decreases by (4 - 1) / 8.
    assert!((rows[0][1] - rows[1][1] - 1.375).abs() < 1e-12, "{rows:?}");
    assert!(!stdout(&done(&place, "report r --allow-command")).contains("the figures lack"));
}
