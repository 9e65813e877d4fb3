//! The last checkpoint of a running or killed run can be displayed, sampled and exported. Its results are marked as
//! unfinished, and the run is not disturbed.
#![cfg(unix)]

use crate::{
    killed::{Moments, start},
    support::common,
};
use common::{Place, assert_same, names, stderr, stdout, table};
use std::{
    fs,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

/// Kinds of runs that take a second or so.
const KINDS: [(&str, &str); 6] = [
    ("planar", "run bimodal"),
    ("restarts", "run bimodal --seeds 2 --refine 1500"),
    ("ladder", "run hiv"),
    ("flow", "run many-well --param dim=2 --method flow"),
    ("chains", "run gaussian --param dim=8 --method chains"),
    ("particles", "smc shells --param dim=5 --islands 2"),
];

/// All files below a folder, with their contents.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        match path.is_dir() {
            true => found.extend(
                files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)),
            ),
            false => found.push((name, fs::read(&path).unwrap())),
        }
    }
    found
}

/// Starts a run and kills it after a share of its time; was it unfinished, with a checkpoint?
fn kill(place: &Place, words: &str, after: Duration) -> bool {
    let mut child = start(place, words, "r");
    std::thread::sleep(after);
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    place.path("r/state").exists() && !place.path("r/summary.json").exists()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn assert_marked(words: &str, output: &Output) {
    assert!(output.status.success(), "{words}: {}", stderr(output));
    assert!(
        stderr(output).contains("do not trust the run in r (unfinished: "),
        "{words}: {}",
        stderr(output)
    );
}

/// Displays the run `r`; false if it has nothing to show yet.
fn show(place: &Place, words: &str) -> bool {
    let before = files(&place.path("r"));
    let page = place.adaann("report r --out page.html --force", &[]);
    if !page.status.success() {
        let said = stderr(&page);
        assert_eq!(page.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("nothing to show yet") && said.contains("adaann resume r"), "{said}");
        assert_eq!(files(&place.path("r")), before, "{words}");
        return false;
    }
    assert_marked(words, &page);
    assert!(stdout(&page).contains("written to page.html (unfinished: "), "{}", stdout(&page));
    let html = place.read("page.html");
    for part in ["(unfinished)", "; unfinished: ", "Verdict: do not trust", "the run is unfinished"]
    {
        assert!(html.contains(part), "{words}: {part} is not in the page");
    }
    let sample = place.adaann("sample r -n 50", &[]);
    assert_marked(words, &sample);
    let (header, rows) = table(&stdout(&sample));
    assert_eq!(rows.len(), 50, "{words}");
    assert!(rows.iter().flatten().all(|x| x.is_finite()), "{words}");
    // The draws are usable as points.
    let columns: Vec<&str> = header.split(',').filter(|name| *name != "log_p").collect();
    let points = rows.iter().map(|row| {
        let fields = row[..columns.len()].iter().map(ToString::to_string).collect::<Vec<_>>();
        fields.join(",") + "\n"
    });
    place.write("points.csv", &(columns.join(",") + "\n" + &points.collect::<String>()));
    let density = place.adaann("density r points.csv", &[]);
    assert_marked(words, &density);
    let (header, found) = table(&stdout(&density));
    assert!(header.ends_with("log_p,log_q"), "{header}");
    for (row, drawn) in found.iter().zip(&rows) {
        let [.., log_p, log_q] = row[..] else { panic!("{row:?}") };
        let known = drawn[columns.len()];
        assert!((log_p - known).abs() < 1e-6 * known.abs().max(1.0), "{words}: {log_p} {known}");
        assert!(log_q.is_finite(), "{words}");
    }
    let export = place.adaann("export r --out draws.nc --force", &[]);
    assert_marked(words, &export);
    let exported = fs::read(place.path("draws.nc")).unwrap();
    assert!(contains(&exported, "status") && contains(&exported, "unfinished: "), "{words}");
    assert_eq!(files(&place.path("r")), before, "{words}: nothing in the folder has changed");
    // In the run folder itself, next to the files that the run needs.
    for command in ["report r", "export r"] {
        assert_marked(words, &place.adaann(command, &[]));
    }
    let after = files(&place.path("r"));
    let own = |name: &String| before.iter().any(|(known, _)| known == name);
    assert_eq!(after.iter().filter(|(name, _)| own(name)).cloned().collect::<Vec<_>>(), before);
    assert!(after.iter().any(|(name, _)| name == "report.html"), "{words}");
    for command in ["predict r", "compare r r", "verify r"] {
        let output = place.adaann(command, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {command}");
        assert!(
            stderr(&output).contains("is unfinished, running or killed"),
            "{}",
            stderr(&output)
        );
    }
    true
}

#[test]
fn what_a_killed_run_has_is_shown_and_it_goes_on_to_the_same_bytes() {
    for (name, words) in KINDS {
        let place = Place::new();
        let started = Instant::now();
        let whole = place.adaann(words, &["--out", "whole", "--quiet"]);
        assert!(whole.status.success(), "{words}: {}", stderr(&whole));
        let took = started.elapsed();
        let mut moments = Moments(3 + name.len() as u64);
        let mut shown = 0;
        for _ in 0..30 {
            let after = took.mul_f64(0.4 + 0.5 * moments.next());
            if kill(&place, words, after) {
                shown += usize::from(show(&place, words));
                let output = place.adaann("resume r --quiet", &[]);
                assert!(output.status.success(), "{words}: {}", stderr(&output));
                fs::remove_dir_all(place.path("r/figures")).unwrap_or_default();
                assert_same(&place, name, "whole", "r");
            }
            fs::remove_dir_all(place.path("r")).unwrap_or_default();
            if shown == 1 {
                break;
            }
        }
        assert!(shown > 0, "{name} had nothing to show");
        let hidden = place.entries().into_iter().filter(|name| name.starts_with('.'));
        assert_eq!(hidden.filter(|name| name != ".r.partial").count(), 0, "{name}");
    }
}

#[test]
fn a_run_under_way_is_looked_at_and_goes_on() {
    let place = Place::new();
    let mut child = start(&place, "run many-well --param dim=16 --method flow", "r");
    let mut shown = 0;
    for _ in 0..200 {
        if place.path("r/state/1.safetensors").exists() || shown > 0 {
            let output = place.adaann("report r", &[]);
            let said = stderr(&output);
            match output.status.success() {
                true => assert_marked("report r", &output),
                false => assert!(said.contains("nothing to show yet"), "{said}"),
            }
            shown += usize::from(output.status.success());
        }
        assert!(child.try_wait().unwrap().is_none(), "the run goes on");
        if shown == 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(shown > 0, "it had nothing to show");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.read("r/report.html").contains("unfinished"));
    assert!(place.path("r/state").exists(), "and it is unfinished still");
}

#[test]
fn without_a_checkpoint_that_can_be_read_nothing_is_shown() {
    let place = Place::new();
    let mut child = start(&place, "run bimodal", "r");
    while !place.path("r/state/seed-1").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let state = place.path("r/state");
    fs::remove_dir_all(&state).unwrap();
    fs::create_dir(&state).unwrap();
    let output = place.adaann("report r", &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("it has no checkpoint yet"), "{}", stderr(&output));
    let record = place.read("r/run.toml");
    place.write("r/run.toml", &record.replace("target = \"bimodal\"", "target = \"no such\""));
    assert_eq!(place.adaann("report r", &[]).status.code(), Some(2));
}

/// A slow program whose density has its peak at 1.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import sys, time
sys.stdin.readline()
print('{"gradient": false}', flush=True)
open("started", "a").write("x")
for line in sys.stdin:
    if line.startswith("batch"):
        time.sleep(0.002)
    else:
        print(-sum((float(x) - 1) ** 2 for x in line.split()), flush=True)
"#;

#[test]
fn a_program_is_started_only_if_that_is_allowed() {
    let place = Place::new();
    place.write_program_model(PROGRAM);
    let mut child = start(&place, "fit m.toml --method adaann --refine 100000", "r");
    let checkpoints = || fs::read_dir(place.path("r/state/seed-1")).into_iter().flatten().flatten();
    while !checkpoints().any(|file| file.path().extension().is_some_and(|end| end == "safetensors"))
    {
        assert!(child.try_wait().unwrap().is_none(), "it takes long");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let starts = place.read("started");
    for command in ["report r", "sample r -n 5", "export r"] {
        let output = place.adaann(command, &[]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("--allow-command"), "{}", stderr(&output));
    }
    assert_eq!(place.read("started"), starts, "nobody has started it");
    for command in ["report r", "sample r -n 5", "export r"] {
        let output = place.adaann(command, &["--allow-command"]);
        assert_marked(command, &output);
        assert!(stderr(&output).contains("starting './program'"), "{}", stderr(&output));
    }
}
