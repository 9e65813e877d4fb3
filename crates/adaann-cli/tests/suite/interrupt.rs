//! Ctrl-C ends a run cleanly: its results are kept, and the folder is complete.
#![cfg(unix)]

use crate::support::common;
use common::{Place, table};
use std::{
    fs::File,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Waits until `done`, for at most a minute.
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.expect("kill starts").success());
}

/// Starts a long run, and waits until its progress contains a word.
fn started(place: &Place, words: &str, word: &str) -> Child {
    let log = place.path("log");
    let child = place
        .command()
        .args(words.split(' '))
        .args(["--out", "parent/r"])
        .stdout(Stdio::null())
        .stderr(File::create(&log).expect("the log can be written"))
        .spawn()
        .expect("the binary starts");
    wait_for("a line of progress", || place.read("log").contains(word));
    assert!(!place.path("parent/r").exists(), "there is no folder before the end");
    child
}

/// Interrupts a run, which must end with the exit code for that.
fn interrupt(mut child: Child, name: &str) {
    signal(&child, name);
    let mut code = None;
    wait_for("the end of the run", || {
        code = child.try_wait().expect("the run can be waited for").map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(130)), "{name}");
}

/// The hidden folder and its parents are removed during a run.
#[test]
fn a_folder_that_is_taken_away_is_made_again() {
    let place = Place::new();
    let words = "run bimodal --layers 2 --tau 0.5 --refine 10000000 --draws 100";
    let child = started(&place, words, "loss");
    std::fs::remove_dir_all(place.path("parent")).unwrap();
    interrupt(child, "-INT");
    assert_eq!(place.summary("parent/r")["stopped"], true);
    let said = place.read("log");
    assert!(said.contains("parent/r was removed during the run"), "{said}");
    assert_eq!(common::names(&place.path("parent")), ["r"]);
    assert!(!place.path("parent/r/lock").exists());
}

#[test]
fn what_was_done_is_kept() {
    for (name, seeds) in [("-INT", "1"), ("-TERM", "2")] {
        let place = Place::new();
        let words = "run bimodal --layers 2 --tau 0.5 --refine 10000000 --draws 100 --seeds";
        interrupt(started(&place, &format!("{words} {seeds}"), "loss"), name);
        let summary = place.summary("parent/r");
        assert_eq!(summary["stopped"], true);
        assert!(summary["warnings"][0].as_str().unwrap().contains("stopped"));
        let (_, trace) = table(&place.read("parent/r/trace.csv"));
        assert_eq!(summary["updates"], trace.len());
        assert!(!trace.is_empty(), "it was stopped in the middle");
        assert_eq!(table(&place.read("parent/r/draws.csv")).1.len(), 100);
        assert!(place.path("parent/r/flow.safetensors").is_file());
        assert!(place.path("parent/r/report.html").is_file());
        assert_eq!(common::names(&place.path("parent")), ["r"]);
        let verdict = summary["verdict"].to_string();
        assert!(verdict.contains("the run was stopped"), "{verdict}");
    }
}

/// A density with 2³² modes in 64 dimensions is too hard for the first rungs.
#[test]
fn a_climb_that_is_stopped_keeps_the_best_that_was_there() {
    let place = Place::new();
    interrupt(started(&place, "run many-well --param dim=64 --target-ess 100000", "%  "), "-INT");
    let summary = place.summary("parent/r");
    assert_eq!(summary["stopped"], true);
    assert!(summary["warnings"][0].as_str().unwrap().contains("stopped"), "{summary}");
    let verdict = summary["verdict"].to_string();
    assert!(verdict.contains("the run was stopped"), "{verdict}");
    assert!(!summary["rungs"].as_array().unwrap().is_empty());
    assert!(!table(&place.read("parent/r/draws.csv")).1.is_empty());
    assert!(place.path("parent/r/flow.safetensors").is_file());
    assert!(place.path("parent/r/report.html").is_file());
    assert_eq!(common::names(&place.path("parent")), ["r"]);
}

/// Particles of a density with 2³² modes pass many temperatures, so that the check is still running when it is
/// interrupted.
#[test]
fn a_check_that_is_stopped_keeps_the_fit() {
    let place = Place::new();
    let words = "run many-well --param dim=64 --schedule none --refine 1 --refine-samples 20 --draws 100 \
                 --check-particles 2000 --strict";
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    interrupt(started(&place, &words, "check by independent particles"), "-INT");
    let summary = place.summary("parent/r");
    assert_eq!((&summary["stopped"], &summary["updates"]), (&false.into(), &1.into()));
    let verdict = summary["verdict"].to_string();
    assert!(verdict.contains("check for lost modes failed: it was stopped"), "{verdict}");
    assert_eq!(summary["check"], serde_json::Value::Null);
    assert_eq!(table(&place.read("parent/r/draws.csv")).1.len(), 100);
    assert!(place.path("parent/r/report.html").is_file());
}

#[test]
fn particles_that_are_stopped_say_where_they_are() {
    let place = Place::new();
    interrupt(started(&place, "smc many-well --particles 2000", "particles: "), "-TERM");
    let summary = place.summary("parent/r");
    assert_eq!(summary["stopped"], true);
    let t = summary["t"].as_f64().unwrap();
    let said = summary["warnings"][0].as_str().unwrap();
    assert!(t < 1.0 && said.contains(&format!("stopped at t = {t:.4}")), "{said}");
    let (_, draws) = table(&place.read("parent/r/draws.csv"));
    assert_eq!(draws.len(), 2_000);
    let sum: f64 = draws.iter().map(|draw| draw[draw.len() - 1]).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

/// A model whose fits take a moment.
const MEAN: &str = "[data]\ny = [1, 2]\n[parameters]\nmu = \"normal(0, 1)\"\n[likelihood]\n\
                    y = \"normal(mu, 1)\"\n[fit]\nflow = \"linear\"\nwarmup = 5\nrefine = 5\n";

/// Starts a long calibration, and waits until some of its trials are done.
fn calibrating(place: &Place) -> Child {
    place.write("mean.toml", MEAN);
    let child = place
        .command()
        .args("calibrate mean.toml -n 100000 --out c".split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let trials = || place.path("c/trials.csv").is_file() && place.read("c/trials.csv").len() > 200;
    wait_for("some trials", trials);
    child
}

#[test]
fn a_calibration_keeps_the_trials_that_are_done() {
    let place = Place::new();
    interrupt(calibrating(&place), "-INT");
    let summary = place.summary("c");
    assert_eq!(summary["stopped"], true);
    assert!(summary["warnings"][0].as_str().unwrap().contains("repeat the command to resume"));
    let lines = place.read("c/trials.csv").lines().count();
    assert_eq!(summary["finished"], lines - 1);
}

/// A second process is refused, with the id of the first; the lock of a killed one is taken over.
#[test]
fn a_folder_belongs_to_one_process_at_a_time() {
    let place = Place::new();
    let mut first = calibrating(&place);
    let second = place.adaann("calibrate mean.toml -n 10 --out c", &[]);
    let said = common::stderr(&second);
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("another process ({}) is at work in c", first.id())), "{said}");
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    let lock = place.read("c/.lock");
    let number = lock.split_whitespace().next();
    assert_eq!(number, Some(&first.id().to_string()[..]), "it could not tidy up");
    let count = place.read("c/trials.csv").lines().count() + 5;
    let third = place.adaann(&format!("calibrate mean.toml -n {count} --out c"), &[]);
    let said = common::stderr(&third);
    assert!(third.status.success(), "{said}");
    assert!(said.contains("trials are already done"), "{said}");
    assert_eq!(place.summary("c")["finished"], count);
    assert_eq!(place.read("c/.lock"), "", "it ended in peace");
}

/// Every batch takes half a second, so that an answer from the current state would take minutes.
const SLOW: &str = r#"#!/usr/bin/env python3
import sys, time
sys.stdin.readline()
print('{"gradient": true}', flush=True)
for line in sys.stdin:
    if line.startswith("batch"):
        time.sleep(0.5)
    else:
        x = float(line.split()[0])
        print(-0.5 * (x - 1) ** 2, 1 - x, flush=True)
"#;

#[test]
fn who_would_wait_too_long_has_a_checkpoint() {
    let place = Place::new();
    place.write_program_model(SLOW);
    interrupt(started(&place, "fit m.toml --method smc", "evaluations"), "-INT");
    assert!(place.read("log").contains("stopped before there was an answer"));
    assert!(place.path("parent/r/state").exists() && !place.path("parent/r/summary.json").exists());
}
