//! `adaann paper`: a killed and resumed run ends with the same bytes, and its page works in a browser.
#![cfg(unix)]

use crate::support::{chromium, common};
use common::{Place, stderr};
use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

/// The first example with one trial of each run, which takes seconds.
const SMALL: [&str; 5] = ["paper", "ex1", "--trials", "1", "--out"];

/// Trials in the journal.
fn done(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder.join("journal")) else { return 0 };
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    texts.map(|text| text.matches("\"number\"").count()).sum()
}

/// Results and figures, which must be identical.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let figures = fs::read_dir(folder.join("figures")).unwrap();
    let mut files: Vec<_> = figures
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.push(("results.json".into(), fs::read(folder.join("results.json")).unwrap()));
    files.sort();
    files
}

#[test]
fn killed_and_resumed_it_ends_with_the_same_bytes() {
    let place = Place::new();
    let whole = place.command().args(SMALL).args(["whole", "--threads", "2"]).output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));

    let mut child = place
        .command()
        .args(SMALL)
        .args(["cut", "--threads", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while done(&place.path("cut")) < 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "no trial is done");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("cut/index.html").exists(), "it was killed before its end");
    let before = done(&place.path("cut"));

    let again = place.command().args(SMALL).args(["cut", "--threads", "1"]).output().unwrap();
    assert!(again.status.success(), "{}", stderr(&again));
    let all = done(&place.path("whole"));
    assert!(before < all && done(&place.path("cut")) == all, "{before} of {all} were kept");
    let (expected, found) = (bytes(&place.path("whole")), bytes(&place.path("cut")));
    assert!(expected.iter().any(|(name, _)| name == "ex1-tolerances.svg"));
    assert!(expected == found, "the files differ");

    check_page(&fs::read_to_string(place.path("whole/index.html")).unwrap());
    let table =
        fs::read_to_string(place.path("whole/tables/steps-updates-and-quality-in-example-1.csv"));
    let row = table.unwrap().lines().find(|line| line.contains("linear")).unwrap().to_owned();
    assert!(row.contains("9,902") && row.contains("9,901"), "paper and ours: {row}");
}

fn check_page(html: &str) {
    assert!(html.len() < 10_000_000, "{} bytes", html.len());
    let Some(browser) = chromium::find() else { return };
    let loaded = chromium::load(&browser, html, 1280);
    assert_eq!(loaded.console, [""; 0]);
    assert_eq!(loaded.dom.matches("class=\"readout\"").count(), 3, "one for each figure");
    for words in ["9,902", "steps: paper", "ours", "ratio", "cores"] {
        assert!(loaded.dom.contains(words), "{words}");
    }
}

/// Ctrl-C keeps the completed trials, and the message says how to resume.
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let place = Place::new();
    let log = fs::File::create(place.path("log")).unwrap();
    let mut child = place
        .command()
        .args(["paper", "ex5", "--trials", "1", "--out", "p"])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !place.path("p/journal/lock").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(place.read("log").contains("repeat the command to resume"));
    assert!(!place.path("p/index.html").exists());
}

#[test]
fn bad_requests_are_refused() {
    let place = Place::new();
    for (words, message) in [
        ("paper ex6", "ex6"),
        ("paper --quick --full", "cannot be used with"),
        ("paper --trials 0", "--trials must be from 1 to 10000"),
        ("paper --threads 5000", "--threads is 5000, but must be a whole number from 0 to 1024"),
        ("paper --trials 20000", "--trials must be from 1 to 10000"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(stderr(&output).contains(message), "{words}: {}", stderr(&output));
    }
    assert_eq!(place.entries(), [""; 0]);
    fs::write(place.path("file"), "").unwrap();
    let output = place.adaann("paper ex1 --trials 1 --out file", &[]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("cannot create the folder"), "{}", stderr(&output));
}
