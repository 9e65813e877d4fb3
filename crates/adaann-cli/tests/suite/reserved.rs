//! A run reserves the name of its folder, and its results are never lost.

use crate::support::common;
use common::{Place, TINY, names, stderr, stdout};
use std::{
    fs,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A run that takes longer than any test.
fn begin(place: &Place) -> Child {
    let words = "run bimodal --out r --refine 100000000 --schedule none --quiet";
    let mut command = place.command();
    command.args(words.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let lock = place.path(".r.partial/lock");
    while !fs::read_to_string(&lock).is_ok_and(|text| text.ends_with('\n')) {
        assert!(Instant::now() < deadline, "the name is reserved at the start");
        sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_second_run_is_refused_at_once_and_a_killed_one_leaves_nothing() {
    let place = Place::new();
    let mut first = begin(&place);
    for words in ["run bimodal --out r", "run bimodal --out r --force", "smc bimodal --out r"] {
        let output = place.adaann(words, &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(&format!("process {}", first.id())), "{said}");
        assert!(said.contains("--out"), "{said}");
    }
    assert_eq!(place.entries(), [".r.partial"]);
    // A killed process cannot clean up.
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(place.entries(), [".r.partial"]);
    place.run("bimodal --out r");
    assert_eq!(place.entries(), ["r"]);
    assert!(!names(&place.path("r")).contains(&"lock".to_owned()));
}

/// A program that works only at its first start, so that the figures cannot be drawn.
const ONCE: &str = r#"#!/usr/bin/env python3
import os, sys
if os.path.exists("started"):
    sys.exit("once is enough")
open("started", "w")
sys.stdin.readline()
print('{"gradient": false}', flush=True)
for line in sys.stdin:
    if not line.startswith("batch"):
        print(-float(line) ** 2, flush=True)
"#;

#[test]
fn a_run_without_its_page_is_kept() {
    let place = Place::new();
    place.write_program_model(ONCE);
    let output = place.adaann("fit m.toml --out r --threads 1", TINY);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the run is in r, but its figures and page"), "{said}");
    assert!(said.contains("`adaann report r`") && said.contains("once is enough"), "{said}");
    assert!(stdout(&output).contains("written to r"), "the numbers are told all the same");
    assert_eq!(place.adaann("verify r", &[]).status.code(), Some(0));
    for file in ["draws.csv", "flow.safetensors", "summary.json", "run.toml", "model.toml"] {
        assert!(place.path(&format!("r/{file}")).is_file(), "{file}");
    }
    assert!(!place.path("r/report.html").exists());
    place.write("program", &ONCE.replace("sys.exit(\"once is enough\")", "pass"));
    let output = place.adaann("report r --allow-command", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.path("r/report.html").is_file());
}

/// With `--force` a user expects a new run, but an unfinished run is resumed.
#[test]
fn force_on_an_unfinished_run_points_to_restart() {
    let place = Place::new();
    let words = "smc bimodal --particles 400 --out r --checkpoint 0.0001s";
    let stopped = place.adaann(&format!("{words} --max-evaluations 2000"), &[]);
    assert!(stopped.status.success() && place.path("r/state").exists(), "{}", stderr(&stopped));
    // As after a kill.
    for name in ["summary.json", "draws.csv", "stages.csv", "index.json"] {
        fs::remove_file(place.path("r").join(name)).unwrap();
    }
    place.write("r/notes.txt", "mine");
    let refused = place.adaann(&format!("{words} --restart"), &[]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("do not belong to the run, so --restart"),
        "{}",
        stderr(&refused)
    );
    let forced = place.adaann(&format!("{words} --force"), &[]);
    let said = stderr(&forced);
    assert!(forced.status.success(), "{said}");
    assert!(said.contains("resuming r") && said.contains("--restart starts"), "{said}");
    // The run has finished, and foreign files are still there.
    assert!(!place.path("r/state").exists());
    assert_eq!(place.read("r/notes.txt"), "mine");
}
