//! A run that fails late writes its results so far, reports the reason, and ends with exit code 1.
#![cfg(unix)]

use crate::support::common;
use common::{Place, stderr, stdout};

/// A program for a normal density that gives other answers at some points.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import sys
sys.stdin.readline()
print('{"gradient": true}', flush=True)
asked = 0
for line in sys.stdin:
    if not line.startswith("batch"):
        asked += 1
        x = float(line.split()[0])
        if FROM <= asked < TO:
            print(ANSWER, flush=True)
        else:
            print(-0.5 * (x - 1) ** 2, 1 - x, flush=True)
"#;

fn place(from: usize, to: usize, answer: &str) -> Place {
    let place = Place::new();
    let program = PROGRAM.replace("FROM", &from.to_string()).replace("TO", &to.to_string());
    place.write_program_model(&program.replace("ANSWER", answer));
    place
}

/// There are 400 points at t_0 and 200 at each later value, so that 380 consecutive points cover most of one value.
#[test]
fn a_flow_that_diverges_late_is_kept() {
    let place = place(1_900, 2_280, "'nan'");
    let words = "fit m.toml --method adaann --path power --schedule linear --t0 0.1 --epsilon 0.1 \
                 --warmup 20 --updates 10 --samples 20 --threads 1 --draws 1000 --out r";
    let output = place.adaann(words, &[]);
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    let said = stdout(&output);
    for part in ["DO NOT TRUST", "the run ended early", "per cent of the points have a log density"]
    {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(stderr(&output).contains("error: the run ended early: "), "{}", stderr(&output));
    let summary = place.summary("r");
    let t = summary["t"].as_f64().unwrap();
    assert!(t > 0.5 && t < 1.0, "{t}");
    assert_eq!(summary["stopped"], false);
    assert!(summary["ended_early"].as_str().unwrap().contains("training failed at t = "));
    assert_eq!(summary["verdict"]["reasons"][0]["finding_code"], "ended-early");
    assert_eq!(summary["verdict"]["trust"], "distrust");
    // The run has ended, so there is nothing to resume.
    assert!(!place.path("r/state").exists());
    assert!(place.read("r/report.html").contains("(ended early)"));
    let sample = place.adaann("sample r -n 20 --allow-command", &[]);
    assert!(sample.status.success(), "{}", stderr(&sample));
    assert!(stderr(&sample).contains("ended early: annealed to t = "), "{}", stderr(&sample));
}

#[test]
fn particles_whose_schedule_fails_late_are_kept() {
    let place = place(20_000, 1_000_000, "1e200 * asked, 0");
    let words = "smc m.toml --particles 200 --path power --schedule adaann --t0 0.05 --tau 0.1 --no-jumps \
                 --move rwm --threads 1 --out r";
    let output = place.adaann(words, &[]);
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("the run ended early"), "{}", stdout(&output));
    assert!(stderr(&output).contains("error: the run ended early: "), "{}", stderr(&output));
    let summary = place.summary("r");
    let t = summary["t"].as_f64().unwrap();
    assert!(t > 0.05 && t < 1.0, "{t}");
    assert!(summary["ended_early"].is_string());
    assert_eq!(summary["stopped"], false);
    assert!(!place.path("r/state").exists());
}
