//! Failures of external programs: how runs handle them, and that no processes or files remain.
#![cfg(unix)]

use crate::support::common;
use common::{Place, TINY, stderr, stdout};
use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A program that counts its starts and batches in files. Before each batch it runs a line, which can test
/// whether a name occurs for the first time.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import os, subprocess, sys, time
def first(name):
    try: os.close(os.open(name, os.O_CREAT | os.O_EXCL))
    except FileExistsError: return False
    return True
open("started", "a").write("x")
sys.stdin.readline()
print('{"gradient": false}', flush=True)
batches = 0
for line in sys.stdin:
    points = [sys.stdin.readline().split() for _ in range(int(line.split()[1]))]
    open("batches", "a").write("x")
    batches += 1
    ACCIDENT
    for point in points:
        print(-sum((float(x) - 1) ** 2 for x in point))
    sys.stdout.flush()
"#;

/// A folder with a model `m.toml`, whose program fails.
fn place(accident: &str) -> Place {
    let place = Place::new();
    place.write_program_model(&PROGRAM.replace("ACCIDENT", accident));
    place
}

fn starts(place: &Place) -> usize {
    fs::read_to_string(place.path("started")).map_or(0, |text| text.len())
}

const ONE: &str = "--threads 1 --out r";

#[test]
fn a_death_in_the_middle_changes_nothing_but_a_note() {
    let quiet = place("pass");
    let unlucky = place("if batches == 5 and first('mark'): os.kill(os.getpid(), 9)");
    for (words, more) in [("fit m.toml", TINY), ("smc m.toml --particles 100", &[][..])] {
        let run = |place: &Place| {
            let output = place.adaann(&format!("{words} {ONE} --force"), more);
            assert!(output.status.success(), "{}", stderr(&output));
            (place.read("r/draws.csv"), place.summary("r"), stdout(&output))
        };
        let _ = fs::remove_file(unlucky.path("mark"));
        let (expected, without, _) = run(&quiet);
        let (found, with, said) = run(&unlucky);
        assert_eq!(found, expected, "{words}");
        assert_eq!(with["target_evaluations"], without["target_evaluations"], "{words}");
        let note = "the program was started again once";
        assert!(with["notes"].to_string().contains(note), "{with}");
        assert!(!without["notes"].to_string().contains("again"), "{without}");
        assert!(said.contains(note), "{said}");
    }
}

#[test]
fn one_that_always_dies_ends_the_run_with_its_tries() {
    let place = place("sys.exit('no licence')");
    let fit = |more: &str| {
        fs::write(place.path("started"), "").unwrap();
        let output = place.adaann(&format!("fit m.toml {ONE} {more}"), TINY);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(!place.path("r").exists());
        (stderr(&output), starts(&place))
    };
    let (said, count) = fit("--retries 1");
    assert!(said.contains("exit status: 1") && said.contains("; tried 2 times"), "{said}");
    assert!(said.contains("no licence"), "{said}");
    assert_eq!(count, 2);
    let (said, count) = fit("--retries 0");
    assert!(!said.contains("tried"), "{said}");
    assert_eq!(count, 1);
    // Settings of the file, which flags override.
    let text = place.read("m.toml");
    place.write("m.toml", &format!("{text}[fit]\nretries = 3\n"));
    assert_eq!((fit("").1, fit("--retries 1").1), (4, 2));
}

#[test]
fn one_that_hangs_has_its_time() {
    let place = place("time.sleep(1000)");
    for words in ["fit m.toml --layers 2", "smc m.toml"] {
        let output =
            place.adaann(&format!("{words} {ONE} --retries 0 --command-timeout 2.5s"), &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no answer within 2.5 s"), "{said}");
    }
}

#[test]
fn patience_needs_a_program() {
    let place = place("pass");
    place.write("plain.toml", "density = \"-z^2\"\n[parameters]\nz = {}\n");
    place.write("tries.toml", "density = \"-z^2\"\n[parameters]\nz = {}\n[fit]\nretries = 1\n");
    place.write("long.toml", &format!("{}[fit]\nretries = 5000\n", place.read("m.toml")));
    for (words, expected) in [
        ("run bimodal --retries 1", "--retries does not apply: the target has no command"),
        ("smc bimodal --retries 1", "--retries does not apply: the target has no command"),
        ("fit plain.toml --retries 0", "--retries does not apply: the model has no command"),
        ("smc plain.toml --retries 0", "--retries does not apply: the model has no command"),
        ("fit plain.toml --command-timeout off", "--command-timeout does not apply"),
        ("fit tries.toml", "tries.toml:5:1"),
        ("fit long.toml", "retries is 5000, but must be from 0 to 1000"),
        ("fit m.toml --retries 5000", "--retries is 5000, but must be from 0 to 1000"),
        ("smc m.toml --retries 5000", "--retries is 5000, but must be from 0 to 1000"),
        ("fit m.toml --command-timeout 0s", "--command-timeout is 0, but must be longer"),
        ("fit m.toml --command-timeout 5", "must be a time like 30s"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(expected), "{words}: {said}");
    }
    assert_eq!(starts(&place), 0);
}

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

fn started(place: &Place, words: &str) -> Child {
    let mut command = place.command();
    command.args(words.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the binary starts")
}

/// Waits for the end of an interrupted run.
fn interrupted(mut run: Child) {
    let mut code = None;
    wait_for("the end of the run", || {
        code = run.try_wait().expect("the run can be waited for").map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(130)));
}

/// Does a process run? Zombies do not count.
#[cfg(target_os = "linux")]
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// A program in an endless batch, and its child process that ignores signals.
#[cfg(target_os = "linux")]
#[test]
fn nobody_outlives_an_impatient_user() {
    const HANGS: &str = "\
helper = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; while :; do sleep 1; done'])
    open('pids', 'w').write(f'{os.getpid()} {helper.pid}.')
    time.sleep(1000)";
    for (words, signals) in [("fit m.toml --threads 1", 2), ("check m.toml", 1)] {
        let place = place(HANGS);
        let run = started(&place, words);
        let pids = || fs::read_to_string(place.path("pids")).unwrap_or_default();
        wait_for("the program", || pids().ends_with('.'));
        let pids = pids();
        let pids: Vec<&str> = pids.trim_end_matches('.').split(' ').collect();
        for _ in 0..signals {
            assert!(
                pids.iter().all(|pid| runs(pid)),
                "{words}: one signal lets a run end in order"
            );
            signal(&run, "-INT");
            std::thread::sleep(Duration::from_millis(300));
        }
        interrupted(run);
        wait_for("the end of all", || !pids.iter().any(|pid| runs(pid)));
    }
}

/// The figures of a stopped run omit the target's curve, because it would need another start of the program.
#[test]
fn a_stopped_run_asks_no_more_than_it_must() {
    let place = place("time.sleep(0.0015 * len(points))");
    let run = started(&place, &format!("fit m.toml {ONE}"));
    let batches = || fs::read_to_string(place.path("batches")).map_or(0, |text| text.len());
    wait_for("some batches", || batches() >= 3);
    signal(&run, "-INT");
    interrupted(run);
    assert_eq!(place.summary("r")["stopped"], true);
    assert_eq!(starts(&place), 1);
    assert!(place.read("r/report.html").contains("which was not started"));
    let output = place.adaann("report r --allow-command", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!place.read("r/report.html").contains("which was not started"));
}

/// Only the final draws of a fit have batches of more than 200 points.
#[test]
fn a_run_that_is_stopped_at_its_draws_is_not_checked() {
    let place = place("if len(points) > 200: open('drawing', 'w'); time.sleep(0.05)");
    let tiny = TINY.join(" ").replace("--draws 500", "--draws 20000");
    let run = started(&place, &format!("fit m.toml {ONE} {tiny}"));
    wait_for("the draws", || place.path("drawing").exists());
    signal(&run, "-INT");
    interrupted(run);
    let verdict = place.summary("r")["verdict"].to_string();
    assert!(verdict.contains("no independent check"), "{verdict}");
    assert!(!verdict.contains("check for lost modes failed"), "{verdict}");
    assert_eq!(starts(&place), 1);
}
