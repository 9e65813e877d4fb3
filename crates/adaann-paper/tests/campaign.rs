//! Campaigns: the same bytes for any number of threads and any number of interruptions.

use adaann_paper::{
    campaign::{self, Plan, Progress, Results},
    experiments::{self, Example, Run, Size},
    output,
    trial::Trial,
};
use adaann_report::Page;
use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// A family of two densities, with one run that is saved and one that is watched.
const SMALL: &str = r#"
[[example]]
id = "ex1"
title = "small"
sections = "none"
trials = { quick = 3, normal = 3, full = 3 }
[example.settings]
flow = { planar = { layers = 4, activation = "tanh" } }
base = { mean = [0.0], sd = [4.0] }
schedule = { adaann = { t0 = 0.1, tau = 0.5 } }
work = { warmup = 20, anneal = 2, refine = 10 }
samples = 20
refine-samples = 20
variance-samples = 50

[[example.case]]
id = "family"
target = "mixture1d"
component-sd = 0.25
parameter = "mu"
values = [1, 3]
lr = [0.01, 0.002]
[[example.case.run]]
id = "adaann"
label = "AdaAnn"
kind = "adaann"
keep = true
[[example.case.run]]
id = "none"
label = "none"
kind = "none"
watch = true
settings = { schedule = "none", work = { warmup = 0, anneal = 1, refine = 30 } }
"#;

fn small() -> Vec<Example> {
    experiments::parse(SMALL).unwrap()
}

fn plan() -> Plan {
    Plan { size: Size::Quick, trials: None, large_trials: None, examples: vec!["ex1".into()] }
}

fn run(examples: &[Example], folder: &Path, threads: usize) -> Results {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let go = AtomicBool::new(false);
    pool.install(|| campaign::run(examples, &plan(), folder, &go, &(), None)).unwrap().unwrap()
}

/// Everything that must not change: the results and the saved flows.
fn bytes(folder: &Path, results: &Results) -> Vec<(String, Vec<u8>)> {
    let page = Page {
        title: String::new(),
        lead: String::new(),
        blocks: Vec::new(),
        footer: String::new(),
        contents: false,
    };
    output::write(folder, &page, results).unwrap();
    let mut files = vec![("results.json".into(), fs::read(folder.join("results.json")).unwrap())];
    for entry in fs::read_dir(folder.join("journal")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        // The lines of the journal contain times, and their order depends on when trials end.
        if !name.ends_with(".jsonl") {
            files.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn threads_change_nothing() {
    let examples = small();
    let folders = [1, 3].map(|threads| (threads, tempfile::tempdir().unwrap()));
    let [one, three] =
        folders.each_ref().map(|(n, at)| bytes(at.path(), &run(&examples, at.path(), *n)));
    assert!(one.len() > 6, "the flows are kept: {}", one.len());
    assert_eq!(one, three);
}

/// Raises the flag after some trials.
struct StopAfter<'a> {
    left: AtomicUsize,
    flag: &'a AtomicBool,
}

impl Progress for StopAfter<'_> {
    fn begin(&self, _: &Run, _: usize, _: usize, _: f64) {}
    fn discard(&self, _: &Run, _: usize) {}
    fn advance(&self, _: &Run, _: &Trial, _: f64) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interrupted_campaign_ends_with_the_same_bytes() {
    let examples = small();
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = bytes(whole.path(), &run(&examples, whole.path(), 2));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for trials in [1, 4] {
        let flag = AtomicBool::new(false);
        let stop = StopAfter { left: AtomicUsize::new(trials), flag: &flag };
        let found = pool
            .install(|| campaign::run(&examples, &plan(), cut.path(), &flag, &stop, None))
            .unwrap();
        assert!(found.is_none(), "it was stopped");
    }
    // A kill or a full disk leaves half a line at the end.
    let path = cut.path().join("journal/ex1-family-adaann.jsonl");
    let mut journal = fs::read(&path).unwrap();
    journal.extend(b"{\"value\":1.0,\"numb");
    fs::write(&path, journal).unwrap();
    assert_eq!(bytes(cut.path(), &run(&examples, cut.path(), 2)), expected);
}

#[test]
fn what_is_there_is_not_run_again() {
    struct Count(AtomicUsize);
    impl Progress for Count {
        fn begin(&self, _: &Run, _: usize, _: usize, _: f64) {}
        fn discard(&self, _: &Run, _: usize) {}
        fn advance(&self, _: &Run, _: &Trial, _: f64) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let go = AtomicBool::new(false);
    let trials_of = |examples: &[Example]| {
        let count = Count(AtomicUsize::new(0));
        campaign::run(examples, &plan(), folder.path(), &go, &count, None).unwrap().unwrap();
        count.0.into_inner()
    };
    assert_eq!(trials_of(&small()), 12);
    assert_eq!(trials_of(&small()), 0);
    // Another learning rate at mu = 3: only that point is run again, in both runs.
    let changed = experiments::parse(&SMALL.replace("0.002]", "0.003]")).unwrap();
    assert_eq!(trials_of(&changed), 6);
    // A trial whose flow is missing is run again.
    fs::remove_file(folder.path().join("journal/ex1-family-adaann-3-2.flow.safetensors")).unwrap();
    assert_eq!(trials_of(&changed), 1);
}

/// A power failure may corrupt the journal. The affected trials are run again, and this is reported.
#[test]
fn broken_lines_are_run_again() {
    struct Discarded(AtomicUsize);
    impl Progress for Discarded {
        fn begin(&self, _: &Run, _: usize, _: usize, _: f64) {}
        fn discard(&self, _: &Run, trials: usize) {
            self.0.fetch_add(trials, Ordering::Relaxed);
        }
        fn advance(&self, _: &Run, _: &Trial, _: f64) {}
    }
    let folder = tempfile::tempdir().unwrap();
    let expected = bytes(folder.path(), &run(&small(), folder.path(), 1));
    let path = folder.path().join("journal/ex1-family-none.jsonl");
    let mut lines = fs::read(&path).unwrap();
    let cut = lines.iter().position(|byte| *byte == b'\n').unwrap();
    lines[..cut].fill(0xff);
    fs::write(&path, lines).unwrap();
    let (go, said) = (AtomicBool::new(false), Discarded(AtomicUsize::new(0)));
    let results =
        campaign::run(&small(), &plan(), folder.path(), &go, &said, None).unwrap().unwrap();
    assert_eq!(said.0.into_inner(), 1);
    assert_eq!(bytes(folder.path(), &results), expected);
}

#[test]
fn two_processes_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("journal")).unwrap();
    let lock = fs::File::create(folder.path().join("journal/lock")).unwrap();
    lock.lock().unwrap();
    let go = AtomicBool::new(false);
    let error = campaign::run(&small(), &plan(), folder.path(), &go, &(), None).unwrap_err();
    assert!(error.to_string().contains("another process"), "{error}");
}

/// A failing run is a result and does not end the campaign.
#[test]
fn a_failed_trial_is_recorded() {
    // A learning rate that throws every point to infinity.
    let text = SMALL.replace("lr = [0.01, 0.002]", "lr = [1e300, 0.002]");
    let folder = tempfile::tempdir().unwrap();
    let examples = experiments::parse(&text).unwrap();
    let results = run(&examples, folder.path(), 2);
    let found = results.at(&examples[0].runs[0], Some(1.0));
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|trial| trial.outcome.is_err()), "{found:?}");
    assert!(results.at(&examples[0].runs[0], Some(3.0)).iter().all(|t| t.outcome.is_ok()));
}
