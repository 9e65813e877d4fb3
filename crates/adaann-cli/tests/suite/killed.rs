//! Runs that are killed (SIGKILL) or stopped (SIGINT, SIGTERM) at any moment resume, and end with the same
//! bytes.
//!
//! Every test run sends a few signals for each kind of run; `ADAANN_KILLS=150` sends that many in total.
#![cfg(unix)]

use crate::support::common;
use common::{Place, assert_same, names, stderr};
use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A kind of run, and settings with which it takes a second or so.
struct Kind {
    name: &'static str,
    words: &'static str,
}

const KINDS: [Kind; 12] = [
    Kind { name: "planar", words: "run bimodal" },
    Kind {
        name: "spline",
        words: "run two-moons --flow spline --warmup 100 --refine 600 --forward-kl 2 --draws 1000",
    },
    Kind { name: "restarts", words: "run bimodal --seeds 2 --refine 1500" },
    Kind { name: "ladder", words: "run hiv" },
    Kind { name: "prior", words: "fit prior.toml --method prior" },
    Kind { name: "mixture", words: "run many-well --param dim=8" },
    Kind { name: "bent", words: "run funnel --param dim=3" },
    Kind { name: "edges", words: "run two-moons" },
    Kind { name: "flow", words: "run many-well --param dim=2 --method flow" },
    Kind { name: "chains", words: "run rosenbrock --method chains" },
    Kind { name: "smc rung", words: "run mixture40 --method smc" },
    Kind { name: "particles", words: "smc shells --param dim=5 --islands 2" },
];

/// The signals, sent in turn.
const SIGNALS: [&str; 3] = ["KILL", "INT", "TERM"];

/// The number of runs of a kind that receive a signal.
fn moments() -> usize {
    let asked = std::env::var("ADAANN_KILLS").ok().and_then(|text| text.parse().ok());
    asked.map_or(SIGNALS.len(), |moments: usize| moments.div_ceil(KINDS.len() + 1))
}

/// Pseudo-random moments, different for each test and the same every time.
pub(crate) struct Moments(pub(crate) u64);

impl Moments {
    /// A share between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

pub(crate) fn start(place: &Place, words: &str, out: &str) -> Child {
    let mut command = place.command();
    command.args(words.split(' ')).args(["--out", out, "--quiet", "--checkpoint", "0.01s"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
}

pub(crate) fn send(child: &Child, signal: &str) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.expect("kill starts").success());
}

/// Waits for a stopped run.
pub(crate) fn ended(mut child: Child) -> Option<i32> {
    let asked = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            return status.code();
        }
        if asked.elapsed() > Duration::from_secs(120) {
            child.kill().expect("it can be killed");
            panic!("it did not end within two minutes");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Is there a finished run?
fn is_whole(place: &Place, out: &str) -> bool {
    let has = |name: &str| place.path(out).join(name).exists();
    has("summary.json") && !has("state") && place.summary(out)["stopped"] != true
}

/// Sends signals until enough runs were interrupted, and finishes each run in between.
fn assert_survives(place: &Place, kind: &Kind, resume: bool) {
    let Kind { name, words } = kind;
    let started = Instant::now();
    let whole = place.adaann(words, &["--out", "whole", "--quiet"]);
    assert!(whole.status.success(), "{words}: {}", stderr(&whole));
    let took = started.elapsed();
    let mut moments_of = Moments(name.len() as u64);
    let mut met = 0;
    for run in 0.. {
        let out = format!("met-{run}");
        let signal = SIGNALS[met % SIGNALS.len()];
        let mut child = start(place, words, &out);
        std::thread::sleep(took.mul_f64(moments_of.next()).min(Duration::from_secs(20)));
        // A finished run receives no signal.
        let was_alive = child.try_wait().expect("it can be asked").is_none();
        if was_alive {
            send(&child, signal);
        }
        let code = ended(child);
        assert!(code.is_none_or(|code| code == 0 || code == 130), "{words}: {signal}, {code:?}");
        met += usize::from(was_alive);
        let is_begun = place.path(&out).join("state").exists();
        if !is_whole(place, &out) {
            let words = if resume && is_begun {
                format!("resume {out} --quiet --allow-command")
            } else {
                format!("{words} --quiet --out {out}")
            };
            let output = place.adaann(&words, &[]);
            assert!(output.status.success(), "{words} after {signal}: {}", stderr(&output));
        }
        assert_same(place, &format!("{name} after {signal}"), "whole", &out);
        fs::remove_dir_all(place.path(&out)).unwrap();
        if met >= moments() || run > 10 * moments() {
            break;
        }
    }
    assert!(met > 0, "{name} was never met");
    assert_eq!(names(&place.path("")).iter().filter(|name| name.starts_with('.')).count(), 0);
}

#[test]
fn every_kind_of_run_goes_on_to_the_same_bytes() {
    for (i, kind) in KINDS.iter().enumerate() {
        let place = Place::new();
        place.write("prior.toml", "[parameters]\nx = \"normal(0, 1)\"\ny = \"gamma(2, 3)\"\n");
        assert_survives(&place, kind, i % 2 == 0);
    }
}

/// A slow program whose density has its peak at 1.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import sys, time
sys.stdin.readline()
print('{"gradient": false}', flush=True)
for line in sys.stdin:
    if line.startswith("batch"):
        time.sleep(0.0005)
    else:
        print(-sum((float(x) - 1) ** 2 for x in line.split()), flush=True)
"#;

#[test]
fn a_run_with_a_program_goes_on_to_the_same_bytes() {
    let place = Place::new();
    place.write_program_model(PROGRAM);
    assert_survives(&place, &Kind { name: "program", words: "fit m.toml" }, true);
}

#[test]
fn another_run_is_not_gone_on_with() {
    let place = Place::new();
    let words = "run many-well --param dim=16 --method flow";
    let mut child = start(&place, words, "r");
    while !place.path("r/state/1.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The name is reserved as long as the first process runs.
    let output = place.adaann(words, &["--out", "r"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains(&format!("process {}", child.id())), "{said}");
    child.kill().unwrap();
    child.wait().unwrap();
    for (words, difference) in [
        ("run many-well --param dim=16 --method flow --seed 2", "answer.seed 2, was 1"),
        ("run many-well --param dim=16 --method smc", "answer.method \"smc\", was \"flow\""),
        ("run many-well --param dim=8 --method flow", "parameters.dim 8.0, was 16.0"),
    ] {
        let output = place.adaann(words, &["--out", "r"]);
        assert_eq!(output.status.code(), Some(2), "{words}");
        let said = stderr(&output);
        assert!(said.contains(difference) && said.contains("--restart"), "{words}: {said}");
    }
    // With all checkpoints damaged, nothing is overwritten.
    let checkpoints: Vec<_> = names(&place.path("r/state"));
    for name in &checkpoints {
        place.write(&format!("r/state/{name}"), "damaged");
    }
    let output = place.adaann(words, &["--out", "r"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(names(&place.path("r/state")), checkpoints);
    let output = place.adaann("run many-well --param dim=2", &["--out", "r", "--restart"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!place.path("r/state").exists(), "a finished run has none");
    let output = place.adaann("resume r", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is finished"), "{}", stderr(&output));
}

#[test]
fn what_was_interrupted_goes_on() {
    let place = Place::new();
    let words = "run many-well --param dim=2 --method flow";
    let whole = place.adaann(words, &["--out", "whole", "--quiet"]);
    assert!(whole.status.success());
    // No checkpoint is due for half a minute, so that the interrupt writes the first one.
    let mut command = place.command();
    command.args(words.split(' ')).args(["--out", "r", "--quiet"]);
    let mut child = command.spawn().expect("the binary starts");
    std::thread::sleep(Duration::from_millis(300));
    let status =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    let code = child.wait().unwrap().code();
    if code == Some(130) {
        assert_eq!(place.summary("r")["stopped"], true);
        assert!(place.path("r/state").exists());
        let output = place.adaann(words, &["--out", "r"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("resuming r"), "{}", stderr(&output));
    }
    assert_same(&place, "interrupted", "whole", "r");
}

/// The files of a running process's state.
fn checkpoints(place: &Place, run: &str) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(place.path(run).join("state")).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    let files = files.flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors")).collect()
}

#[test]
fn a_folder_that_was_tampered_with_is_refused_or_begun_again() {
    let place = Place::new();
    let mut child = start(&place, "run bimodal", "r");
    while checkpoints(&place, "r").is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it is killed before its end");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let record = place.read("r/run.toml");
    let draws = record.lines().find(|line| line.starts_with("draws = ")).expect("draws");
    place.write("r/run.toml", &record.replace(draws, "draws = -1"));
    let output = place.adaann("resume r --quiet", &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("one of draws, seeds"), "{}", stderr(&output));
    place.write("r/run.toml", &record);
    // A pipe does not block.
    for file in checkpoints(&place, "r") {
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    }
    let output = place.adaann("resume r --quiet", &[]);
    assert!(output.status.code().is_some_and(|code| code < 3), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}
