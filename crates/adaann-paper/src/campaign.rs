//! Runs all trials of the paper on all cores: each on one thread, with its own random stream, in any order.

use crate::{
    Error, Result, cost,
    experiments::{Example, Point, Run, Size},
    journal::{Journal, Journals},
    kept::Kept,
    trial::{self, Trial},
};
use adaann::tasks::{Elsewhere, Workers};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// The examples to run, and the number of trials.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The size, which sets the number of trials.
    pub size: Size,
    /// Trials at every point, overriding the size.
    pub trials: Option<usize>,
    /// Trials at every point of runs that take hours, overriding both.
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
            // A run that the size omits stays omitted.
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

/// Receives the progress of a campaign.
pub trait Progress {
    /// A run has `total` trials, of which `done` are already in the journal. The others have this total cost.
    fn begin(&self, run: &Run, done: usize, total: usize, cost: f64);
    /// This many trials of the journal are discarded, because their settings are outdated or they are incomplete.
    fn discard(&self, run: &Run, trials: usize);
    /// A trial of this cost has finished.
    fn advance(&self, run: &Run, trial: &Trial, cost: f64);
}

/// Ignores progress.
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
    /// Results by the names of their runs. The folder contains the saved flows.
    pub(crate) fn new(trials: BTreeMap<String, Vec<Trial>>, folder: PathBuf) -> Self {
        Self { trials, folder }
    }

    /// The trials of a run, ordered by point and number. Empty if the run was omitted.
    pub fn of(&self, run: &Run) -> &[Trial] {
        self.trials.get(&run.id).map_or(&[], Vec::as_slice)
    }

    /// The trials of a run at one point.
    pub fn at(&self, run: &Run, value: Option<f64>) -> Vec<&Trial> {
        self.of(run).iter().filter(|trial| trial.value == value).collect()
    }

    /// The saved flows and schedule of a trial.
    ///
    /// # Errors
    /// If nothing was saved.
    pub fn kept(&self, run: &Run, point: &Point, number: usize) -> Result<Kept> {
        Kept::read(&self.folder, &name(run, point, number))
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

/// A trial with the data saved for figures, or `None` if it was stopped.
pub type Made = Option<(Trial, Option<Kept>)>;

/// Other workers that run trials, such as processes on other machines.
pub trait Others: Sync {
    /// The number of trials that they run at a time.
    fn seats(&self) -> usize;

    /// Runs a trial by the id of its run, the value of its point and its number, as [`trial()`] does.
    ///
    /// # Errors
    /// If the worker could not run it.
    fn trial(&self, run: &str, value: Option<f64>, number: usize) -> adaann::Result<Made>;
}

/// Runs one trial, without saving its flow.
///
/// # Errors
/// If the run or the point does not exist.
pub fn trial(
    examples: &[Example],
    run: &str,
    value: Option<f64>,
    number: usize,
    stop: &AtomicBool,
) -> Result<Made> {
    let found = examples.iter().flat_map(|example| &example.runs).find(|known| known.id == run);
    let point = found.and_then(|run| run.points.iter().find(|point| point.value == value));
    match found.zip(point) {
        Some((run, point)) => Ok(trial::run(run, point, number, stop)),
        None => Err(Error::UnknownExample { id: run.to_owned(), known: Vec::new() }),
    }
}

/// The tasks of a campaign, for other workers.
struct TasksElsewhere<'a> {
    others: &'a dyn Others,
    tasks: &'a [Task<'a>],
    folder: &'a Path,
}

impl Elsewhere<Result<Option<Trial>>> for TasksElsewhere<'_> {
    fn seats(&self) -> usize {
        self.others.seats()
    }

    fn run(&self, task: usize) -> adaann::Result<Result<Option<Trial>>> {
        let task = self.tasks[task];
        let made = self.others.trial(&task.run.id, task.point.value, task.number)?;
        Ok(task.keep(self.folder, made))
    }
}

/// A trial to run.
#[derive(Clone, Copy)]
struct Task<'a> {
    run: &'a Run,
    point: &'a Point,
    number: usize,
}

impl Task<'_> {
    /// Runs the trial, and saves its flow if a figure shows it. Returns `None` if it was stopped.
    fn run(&self, folder: &Path, stop: &AtomicBool) -> Result<Option<Trial>> {
        let Self { run, point, number } = *self;
        self.keep(folder, trial::run(run, point, number, stop))
    }

    /// Saves the data for figures.
    fn keep(&self, folder: &Path, made: Made) -> Result<Option<Trial>> {
        let Self { run, point, number } = *self;
        let Some((trial, kept)) = made else { return Ok(None) };
        if let Some(kept) = kept {
            kept.write(folder, &name(run, point, number))?;
        }
        Ok(Some(trial))
    }
}

/// Runs the trials that the journal lacks, on the threads of the current rayon pool and on other workers, if any.
///
/// Returns `None` if it was stopped; the journal contains the finished trials. A trial that fails or panics counts as a
/// result.
///
/// # Errors
/// If an example is unknown, another process uses the folder, or a file cannot be read or written.
pub fn run(
    examples: &[Example],
    plan: &Plan,
    folder: &Path,
    stop: &AtomicBool,
    progress: &dyn Progress,
    others: Option<&dyn Others>,
) -> Result<Option<Results>> {
    if let Some(unknown) = plan.examples.iter().find(|id| examples.iter().all(|e| e.id != **id)) {
        let known = examples.iter().map(|example| example.id.clone()).collect();
        return Err(Error::UnknownExample { id: unknown.clone(), known });
    }
    let journals = Journals::open(folder)?;
    let mut done = BTreeMap::new();
    let mut tasks = Vec::new();
    for run in plan.runs(examples) {
        let (journal, discarded) = usable(&journals, run)?;
        if discarded > 0 {
            progress.discard(run, discarded);
        }
        let mut left = missing(run, plan.trials(run), journal.entries());
        let total = plan.trials(run) * run.points.len();
        let cost = left.iter().map(|task| cost::of_trial(task.point)).sum();
        progress.begin(run, total - left.len(), total, cost);
        tasks.append(&mut left);
        done.insert(run.id.as_str(), journal);
    }
    // Each trial runs on one thread, because its processor time is measured.
    let workers = Workers::of_single_threads(rayon::current_num_threads(), tasks.len()).until(stop);
    let (folder, listed) = (journals.folder(), &tasks[..]);
    let elsewhere = others.map(|others| TasksElsewhere { others, tasks: listed, folder });
    workers.run_with(
        tasks.len(),
        |i| tasks[i].run(folder, stop),
        elsewhere.as_ref().map(|all| all as &dyn Elsewhere<Result<Option<Trial>>>),
        |i, outcome| -> Result<Option<()>> {
            let Task { run, point, number } = tasks[i];
            let trial = match outcome {
                Ok(trial) => trial?,
                // Losing another worker is not a failure of the trial.
                Err(error) if !matches!(error, adaann::Error::Panicked(_)) => {
                    return Err(error.into());
                }
                Err(panic) => Some(Trial::new(run, point, number, Err(panic.to_string()))),
            };
            let Some(trial) = trial else { return Ok(None) };
            let journal = done.get_mut(run.id.as_str()).expect("entered above");
            journal.append(trial.clone())?;
            progress.advance(run, &trial, cost::of_trial(point));
            Ok(None)
        },
    )?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut trials = BTreeMap::new();
    for run in plan.runs(examples) {
        let mut found = done[run.id.as_str()].entries().to_vec();
        found.retain(|trial| trial.number <= plan.trials(run));
        let place = |trial: &Trial| run.points.iter().position(|p| p.value == trial.value);
        found.sort_by_key(|trial| (place(trial), trial.number));
        trials.insert(run.id.clone(), found);
    }
    Ok(Some(Results::new(trials, journals.folder().to_owned())))
}

/// The journal of a run with the trials of the current settings, and the number of discarded trials.
fn usable(journals: &Journals, run: &Run) -> Result<(Journal, usize)> {
    let mut journal = journals.of(run)?;
    let of_point = |trial: &Trial| run.points.iter().find(|point| point.value == trial.value);
    let before = journal.entries().len() + journal.strange();
    journal.retain(|trial| {
        of_point(trial).is_some_and(|point| {
            let fingerprint = trial::fingerprint(run, point);
            let name = name(run, point, trial.number);
            let has_flow = !(run.watch || run.keep)
                || trial.outcome.is_err()
                || Kept::is_current(journals.folder(), &name, fingerprint);
            trial.fingerprint == fingerprint && has_flow
        })
    });
    journal.settle()?;
    let discarded = before - journal.entries().len();
    Ok((journal, discarded))
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
