//! All trials of the paper, over all cores: each on one thread, with its own stream, in any order.

use crate::{
    cost,
    experiments::{Example, Point, Run, Size},
    journal::Journal,
    kept::Kept,
    trial::{self, Trial},
};
use anyhow::{Context, Result, bail};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many trials.
    pub size: Size,
    /// Trials at every point, in place of those of the size.
    pub trials: Option<usize>,
    /// Trials at every point of the runs that take hours, in place of both.
    pub large_trials: Option<usize>,
    /// Ids of the examples, like ex1.
    pub examples: Vec<String>,
}

impl Plan {
    /// Trials at each point of a run.
    pub fn trials(&self, run: &Run) -> usize {
        let of_size = run.trials(self.size);
        match (self.large_trials, self.trials) {
            (Some(trials), _) if run.large => trials,
            // A run that a size leaves out stays out.
            (_, Some(trials)) if of_size > 0 => trials,
            _ => of_size,
        }
    }

    /// The runs of the plan, in the paper's order.
    pub fn runs<'a>(&'a self, examples: &'a [Example]) -> impl Iterator<Item = &'a Run> {
        let chosen = examples.iter().filter(|example| self.examples.contains(&example.id));
        chosen.flat_map(|example| &example.runs).filter(|run| self.trials(run) > 0)
    }
}

/// Sees how far the campaign is. Calls come from several threads.
pub trait Progress: Sync {
    /// A run has this many trials, of which some were done before; the others have this cost in all.
    fn begin(&self, run: &Run, done: usize, total: usize, cost: f64);
    /// This many trials of the journal are of no use: of older settings, or not whole.
    fn discard(&self, run: &Run, trials: usize);
    /// A trial of this cost is done.
    fn advance(&self, run: &Run, trial: &Trial, cost: f64);
}

/// Watches nothing.
impl Progress for () {
    fn begin(&self, _: &Run, _: usize, _: usize, _: f64) {}
    fn discard(&self, _: &Run, _: usize) {}
    fn advance(&self, _: &Run, _: &Trial, _: f64) {}
}

/// The trials of all runs.
#[derive(Debug)]
pub struct Results {
    trials: BTreeMap<String, Vec<Trial>>,
    folder: PathBuf,
}

impl Results {
    /// Results by the names of their runs; flows that were kept are in the folder.
    pub(crate) fn new(trials: BTreeMap<String, Vec<Trial>>, folder: PathBuf) -> Self {
        Self { trials, folder }
    }

    /// The trials of a run, by the order of its points, then by number; none if it was left out.
    pub fn of(&self, run: &Run) -> &[Trial] {
        self.trials.get(&run.id).map_or(&[], Vec::as_slice)
    }

    /// The trials of a run at one point.
    pub fn at(&self, run: &Run, value: Option<f64>) -> Vec<&Trial> {
        self.of(run).iter().filter(|trial| trial.value == value).collect()
    }

    /// What was kept of a trial that is shown.
    ///
    /// # Errors
    /// If there is nothing.
    pub fn kept(&self, run: &Run, point: &Point, number: usize) -> Result<Kept> {
        let name = name(run, point, number);
        Kept::read(&self.folder, &name).with_context(|| format!("the flow of {name}"))
    }

    /// Every trial of every run, by the name of the run.
    pub fn all(&self) -> &BTreeMap<String, Vec<Trial>> {
        &self.trials
    }
}

fn name(run: &Run, point: &Point, number: usize) -> String {
    let value = point.value.map_or(String::new(), |value| format!("-{value}"));
    format!("{}{value}-{number}", run.id)
}

/// A trial to be run.
struct Task<'a> {
    run: &'a Run,
    point: &'a Point,
    number: usize,
}

/// What the threads of a campaign share.
struct Crew<'a> {
    tasks: Vec<Task<'a>>,
    /// The task that is taken next.
    next: AtomicUsize,
    /// Raised when one of them has failed.
    halt: AtomicBool,
    /// Raised when somebody asks for an end.
    stop: &'a AtomicBool,
    journal: Journal,
    progress: &'a dyn Progress,
    trials: Mutex<BTreeMap<String, Vec<Trial>>>,
}

impl Crew<'_> {
    /// Takes tasks until there are none, each on this thread alone.
    fn work(&self) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.context("cannot start a thread")?;
        let ends = || self.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed);
        while let Some(task) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if ends() {
                break;
            }
            let Task { run, point, number } = *task;
            let done = pool.install(|| trial::run(run, point, number, self.stop))?;
            let Some((trial, kept)) = done.filter(|_| !ends()) else { break };
            if let Some(kept) = kept {
                kept.write(self.journal.folder(), &name(run, point, number))?;
            }
            let mut trials = self.trials.lock().expect("no thread panics with it");
            self.journal.append(run, &trial)?;
            self.progress.advance(run, &trial, cost::of_trial(point));
            trials.entry(run.id.clone()).or_default().push(trial);
        }
        Ok(())
    }
}

/// Runs what the journal does not have yet, on as many threads as the rayon pool it is called in.
/// None if it was stopped; what was done is in the journal.
///
/// # Errors
/// If the journal cannot be read or written, or a density cannot be evaluated.
pub fn run(
    examples: &[Example],
    plan: &Plan,
    folder: &Path,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Option<Results>> {
    if let Some(unknown) = plan.examples.iter().find(|id| examples.iter().all(|e| e.id != **id)) {
        bail!("there is no example {unknown}");
    }
    let journal = Journal::open(folder)?;
    let mut trials = BTreeMap::new();
    let mut tasks = Vec::new();
    for run in plan.runs(examples) {
        let (done, discarded) = usable(&journal, run)?;
        if discarded > 0 {
            progress.discard(run, discarded);
        }
        let mut left = missing(run, plan.trials(run), &done);
        let total = plan.trials(run) * run.points.len();
        let cost = left.iter().map(|task| cost::of_trial(task.point)).sum();
        progress.begin(run, total - left.len(), total, cost);
        tasks.append(&mut left);
        trials.insert(run.id.clone(), done);
    }
    let crew = Crew {
        tasks,
        next: AtomicUsize::new(0),
        halt: AtomicBool::new(false),
        stop,
        journal,
        progress,
        trials: Mutex::new(trials),
    };
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|| {
                if let Err(error) = crew.work() {
                    crew.halt.store(true, Ordering::Relaxed);
                    failure.lock().expect("no thread panics with it").get_or_insert(error);
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().expect("all threads are done") {
        return Err(error);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let Crew { trials, journal, .. } = crew;
    let mut trials = trials.into_inner().expect("all threads are done");
    for run in plan.runs(examples) {
        let found = trials.get_mut(&run.id).expect("entered above");
        found.retain(|trial| trial.number <= plan.trials(run));
        let place = |trial: &Trial| run.points.iter().position(|p| p.value == trial.value);
        found.sort_by_key(|trial| (place(trial), trial.number));
    }
    Ok(Some(Results::new(trials, journal.folder().to_owned())))
}

/// The trials in the journal that were made with these settings, and how many were not.
fn usable(journal: &Journal, run: &Run) -> Result<(Vec<Trial>, usize)> {
    let (found, broken) = journal.read(run)?;
    let of_point = |trial: &Trial| run.points.iter().find(|point| point.value == trial.value);
    let is_current = |trial: &&Trial| {
        of_point(trial).is_some_and(|point| {
            let fingerprint = trial::fingerprint(run, point);
            let name = name(run, point, trial.number);
            let has_flow = !(run.watch || run.keep)
                || trial.outcome.is_err()
                || Kept::is_current(journal.folder(), &name, fingerprint);
            trial.fingerprint == fingerprint && has_flow
        })
    };
    let kept: Vec<Trial> = found.iter().filter(is_current).cloned().collect();
    let discarded = found.len() - kept.len() + broken;
    if discarded > 0 {
        journal.rewrite(run, &kept)?;
    }
    Ok((kept, discarded))
}

fn missing<'a>(run: &'a Run, trials: usize, done: &[Trial]) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for point in &run.points {
        for number in 1..=trials {
            if !done.iter().any(|trial| trial.value == point.value && trial.number == number) {
                tasks.push(Task { run, point, number });
            }
        }
    }
    tasks
}
