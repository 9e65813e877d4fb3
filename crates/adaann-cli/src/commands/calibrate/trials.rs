//! Runs the missing trials on all threads, each with its own seed, in any order.

use crate::{
    commands::calibrate::{
        journal::{Entry, Journal},
        progress::Progress,
    },
    folder::subject::described,
    job::interrupt,
    ranks::{self, Question, Ranks},
};
use adaann::{
    Error,
    answer::{self, Event},
    calibrate::{seed_of, trial},
    model::Model,
    tasks::{Elsewhere, Workers},
};
use anyhow::{Result, bail};
use std::{collections::BTreeSet, ops::ControlFlow, thread};

/// The plan of a calibration.
pub(super) struct Plan<'a> {
    pub(super) model: &'a Model,
    /// The fit of every trial.
    pub(super) fit: &'a answer::Plan,
    /// Number of draws among which the truth is ranked.
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) trials: usize,
    /// 0 for all cores.
    pub(super) threads: usize,
}

/// Runs the trials that the journal lacks, and returns all trials of the plan in order; fewer if the run
/// was interrupted.
pub(super) fn run(
    plan: &Plan,
    journal: &mut Journal,
    mut progress: Progress,
) -> Result<Vec<Entry>> {
    let done: BTreeSet<usize> = journal.entries().iter().map(|entry| entry.number).collect();
    let left: Vec<usize> = (1..=plan.trials).filter(|number| !done.contains(number)).collect();
    progress.begin(plan.trials - left.len(), plan.trials);
    let threads = match ranks::threads(plan.threads) {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let elsewhere = ranks::get().map(|ranks| TrialsElsewhere::new(ranks, plan, &left));
    let elsewhere = elsewhere.as_ref().map(|all| all as &dyn Elsewhere<Option<Entry>>);
    let pool = Workers::sharing(threads, left.len()).until(interrupt::flag());
    pool.run_with(
        left.len(),
        |i| one(plan, left[i]),
        elsewhere,
        |i, outcome| -> Result<Option<()>> {
            // A lost rank does not count as a failed trial.
            if let Some(why) = ranks::failure() {
                bail!("{why}; repeat the command to run the remaining trials");
            }
            let failed = |error: Error| Some(Entry::failed(left[i], &error));
            let Some(entry) = outcome.unwrap_or_else(failed) else { return Ok(None) };
            let is_failure = entry.outcome.is_err();
            journal.append(entry)?;
            progress.advance(is_failure);
            Ok(None)
        },
    )?;
    journal.sort_by_key(|entry| entry.number)?;
    let entries = journal.entries().iter();
    Ok(entries.filter(|entry| entry.number <= plan.trials).cloned().collect())
}

/// The other ranks, for the remaining trials.
struct TrialsElsewhere<'a> {
    ranks: &'static Ranks,
    plan: &'a Plan<'a>,
    left: &'a [usize],
    /// The number of the model in messages to ranks.
    subject: u64,
}

impl<'a> TrialsElsewhere<'a> {
    fn new(ranks: &'static Ranks, plan: &'a Plan<'a>, left: &'a [usize]) -> Self {
        Self { ranks, plan, left, subject: ranks.tell(&described(plan.model)) }
    }
}

impl Elsewhere<Option<Entry>> for TrialsElsewhere<'_> {
    fn seats(&self) -> usize {
        self.ranks.seats()
    }

    fn run(&self, task: usize) -> adaann::Result<Option<Entry>> {
        let (Plan { fit, draws, seed, .. }, number) = (self.plan, self.left[task]);
        let (subject, fit, draws, seed) = (self.subject, (*fit).clone(), *draws, *seed);
        self.ranks.ask(&Question::Trial { subject, fit, draws, seed, number }, |_| ())
    }
}

/// Runs a trial; `None` if it was stopped.
fn one(plan: &Plan, number: usize) -> Option<Entry> {
    let Plan { model, fit, draws, seed, .. } = *plan;
    run_one(model, fit, draws, seed, number)
}

/// Runs trial `number` of the calibration with this seed; `None` if it was stopped.
pub(crate) fn run_one(
    model: &Model,
    fit: &answer::Plan,
    draws: usize,
    seed: u64,
    number: usize,
) -> Option<Entry> {
    let mut watch = |_: &Event| match interrupt::asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let found = trial(model, fit, draws, seed_of(seed, number), &mut watch).transpose()?;
    Some(match found {
        Ok(trial) => Entry { number, outcome: Ok(trial) },
        Err(error) => Entry::failed(number, &error),
    })
}
