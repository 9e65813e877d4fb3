//! The parts of the harness, their trials on several threads, and the counts.

use super::{
    calls,
    dice::Dice,
    faults::Fault,
    folders, help, models, place, programs,
    trial::{Outcome, Trial},
    values::Values,
};
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

pub(crate) struct Sizes {
    pub(crate) calls: usize,
    pub(crate) models: usize,
    pub(crate) folders: usize,
    pub(crate) programs: usize,
}

pub(crate) struct Parts<'a> {
    binary: &'a str,
    work: PathBuf,
    pantry: PathBuf,
    models: PathBuf,
    sources: Vec<Vec<u8>>,
    commands: Vec<help::Command>,
    values: Values,
    has_sandbox: bool,
    seed: u64,
}

/// Settings that make a fit of any small model short.
const TINY_FIT: &[&str] =
    &["--out", "new", "--target-ess", "100", "--most-draws", "300", "--check", "0", "--quiet"];

/// Commands whose running time depends on their arguments.
const LONG: &[&str] = &["run", "fit", "smc", "calibrate", "paper", "resume"];

impl<'a> Parts<'a> {
    pub(crate) fn new(binary: &'a str, models: &Path, work: &Path, has_sandbox: bool) -> Self {
        let pantry = work.join("pantry");
        place::fill_pantry(binary, &pantry);
        let seed = env::var("ADAANN_HOSTILE_SEED").ok();
        Self {
            binary,
            work: work.to_owned(),
            pantry,
            models: models.to_owned(),
            sources: models::sources(models, has_sandbox),
            commands: help::commands(binary),
            values: Values { targets: help::targets(binary), has_devices: has_sandbox },
            has_sandbox,
            seed: seed.map_or(1, |seed| seed.parse().expect("ADAANN_HOSTILE_SEED is a number")),
        }
    }

    /// Runs all trials, prints the counts, and fails with a list of faults.
    pub(crate) fn hold(&self, sizes: &Sizes) {
        assert!(
            self.commands.len() > 10 && self.values.targets.len() > 10,
            "the help is understood"
        );
        let flags: usize = self.commands.iter().map(|command| command.flags.len()).sum();
        println!("{} commands with {flags} flags in all", self.commands.len());
        let mut outcomes =
            self.part("calls", sizes.calls, |trial, dice| self.one_call(trial, dice));
        outcomes.extend(self.part("models", sizes.models, |trial, dice| self.model(trial, dice)));
        outcomes
            .extend(self.part("folders", sizes.folders, |trial, dice| self.folder(trial, dice)));
        outcomes.extend(self.part("programs", sizes.programs, |trial, _| self.program(trial)));
        let wrong: Vec<_> = outcomes.iter().filter(|outcome| !outcome.faults.is_empty()).collect();
        println!("\n{:>7} calls in all", outcomes.len());
        let asked = outcomes.iter().filter(|outcome| outcome.was_asked).count();
        println!("{asked:>7} of them legal but long, and asked to end");
        for kind in Fault::ALL {
            let has = |outcome: &&&Outcome| outcome.faults.iter().any(|(fault, _)| *fault == kind);
            println!("{:>7} {kind}", wrong.iter().filter(has).count());
        }
        assert!(wrong.is_empty(), "{} of {} calls went wrong", wrong.len(), outcomes.len());
    }

    /// Runs the requested trials of a part.
    fn part(
        &self,
        part: &str,
        count: usize,
        make: impl Fn(&Trial<'_>, &mut Dice) -> Vec<Outcome> + Sync,
    ) -> Vec<Outcome> {
        let only = env::var("ADAANN_HOSTILE_ONLY").unwrap_or_default();
        let (only_part, only_trial) = only.split_once(':').unwrap_or((&only, ""));
        let trials: Vec<usize> = match only_trial.parse() {
            _ if !only.is_empty() && only_part != part => return Vec::new(),
            Ok(trial) => vec![trial],
            Err(_) => (0..count).collect(),
        };
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(&number) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let folder = self.work.join(format!("{part}-{number}"));
                        let name = format!("{part}:{number}");
                        let trial = Trial { binary: self.binary, name, folder };
                        let made = make(&trial, &mut Dice::new(self.seed, part, number));
                        // Print a repeated trial in any case.
                        let is_told = |o: &&Outcome| !o.faults.is_empty() || trials.len() == 1;
                        made.iter().filter(is_told).for_each(Outcome::tell);
                        outcomes.lock().expect("no thread failed").extend(made);
                    }
                });
            }
        });
        let outcomes = outcomes.into_inner().expect("no thread failed");
        let of = |code| outcomes.iter().filter(|o: &&Outcome| o.code == Some(code)).count();
        let codes = [0, 1, 2, 3, 130].map(|code| format!("{code}: {}", of(code))).join(", ");
        println!("{part}: {} trials, {} calls; codes {codes}", trials.len(), outcomes.len());
        outcomes
    }

    fn one_call(&self, trial: &Trial<'_>, dice: &mut Dice) -> Vec<Outcome> {
        let kind = *dice.of(&place::KINDS);
        place::fill(&trial.here(), &self.pantry, kind, self.has_sandbox);
        let words = calls::call(&self.commands, &self.values, dice);
        // Opening a pipe blocks until the other end is open.
        let waits = words.iter().any(|word| word.to_string_lossy().ends_with("fifo"));
        vec![trial.call(&words, waits || is_long(&words))]
    }

    fn model(&self, trial: &Trial<'_>, dice: &mut Dice) -> Vec<Outcome> {
        let text = models::mutated(&self.sources, dice);
        let calls: &[&[&str]] = &[&["check", "m.toml"], &["fit", "m.toml"]];
        let calls = if dice.one_in(5) { calls } else { &calls[..1] };
        let make = |call: &&[&str]| {
            fs::create_dir_all(trial.here()).expect("a folder");
            place::copy(&self.models.join("data"), &trial.here().join("data"));
            place::copy(&self.models.join("simulate.py"), &trial.here().join("simulate.py"));
            fs::write(trial.here().join("m.toml"), &text).expect("a file");
            let more = if call[0] == "fit" { TINY_FIT } else { &[] };
            let words: Vec<OsString> = call.iter().chain(more).map(OsString::from).collect();
            let mut outcome = trial.call(&words, is_long(&words) || models::names_program(&text));
            outcome.call += &format!("   # {}", models::difference(&self.sources, &text));
            outcome
        };
        calls.iter().map(make).collect()
    }

    fn folder(&self, trial: &Trial<'_>, dice: &mut Dice) -> Vec<Outcome> {
        let kind = *dice.of(&place::KINDS);
        let ask = |question: &&[&str]| {
            fs::create_dir_all(trial.here()).expect("a folder");
            let run = trial.here().join("run");
            place::copy(&self.pantry.join(kind), &run);
            // The same damage for each command; an unreadable file could not be copied.
            let thesis = trial.here().join("thesis.csv");
            fs::write(&thesis, "years,work\n3,0\n").expect("a file");
            let damage = folders::damage(&run, &thesis, self.has_sandbox, &mut dice.clone());
            place::copy(&self.pantry.join("ladder"), &trial.here().join("whole"));
            place::copy(&self.pantry.join("points.csv"), &trial.here().join("points.csv"));
            let words: Vec<OsString> = question.iter().map(OsString::from).collect();
            let mut outcome = trial.call(&words, is_long(&words));
            outcome.call += &format!("   # {kind}: {damage}");
            outcome
        };
        folders::QUESTIONS.iter().map(ask).collect()
    }

    fn program(&self, trial: &Trial<'_>) -> Vec<Outcome> {
        let number: usize = trial.name.split(':').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        let (what, script) = programs::PROGRAMS[number];
        let make = |call: &[&str]| {
            fs::create_dir_all(trial.here()).expect("a folder");
            fs::write(trial.here().join("program.sh"), script).expect("a file");
            fs::write(trial.here().join("m.toml"), programs::model()).expect("a file");
            let words: Vec<OsString> = call.iter().map(OsString::from).collect();
            let mut outcome = trial.call(&words, call[0] == "fit");
            outcome.call += &format!("   # a program that {what}");
            outcome
        };
        let fit = [&["fit", "m.toml"], TINY_FIT].concat();
        vec![make(&["check", "m.toml"]), make(&fit)]
    }
}

fn is_long(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| LONG.iter().any(|long| word == long))
}
