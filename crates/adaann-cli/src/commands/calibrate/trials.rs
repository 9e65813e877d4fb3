//! The trials that are missing, over all threads: each with a seed of its own, in any order.

use crate::{
    commands::calibrate::{
        journal::{Entry, Journal},
        progress::Progress,
    },
    job::interrupt,
};
use adaann::{
    Error,
    answer::{self, Event},
    calibrate::{seed_of, trial},
    crew::Crew,
    model::Model,
};
use anyhow::Result;
use std::{collections::BTreeSet, ops::ControlFlow, thread};

/// What is run.
pub(super) struct Plan<'a> {
    pub(super) model: &'a Model,
    /// The fit of every trial.
    pub(super) fit: &'a answer::Plan,
    /// Draws that ranks are among.
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) trials: usize,
    /// 0 for all cores.
    pub(super) threads: usize,
}

/// Runs the trials that the journal does not have yet; gives all of the plan, in order. Fewer of them
/// if somebody has asked for an end.
pub(super) fn run(
    plan: &Plan,
    journal: &mut Journal,
    mut progress: Progress,
) -> Result<Vec<Entry>> {
    let done: BTreeSet<usize> = journal.entries().iter().map(|entry| entry.number).collect();
    let left: Vec<usize> = (1..=plan.trials).filter(|number| !done.contains(number)).collect();
    progress.begin(plan.trials - left.len(), plan.trials);
    let threads = match plan.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let crew = Crew::sharing(threads, left.len()).until(interrupt::flag());
    crew.run(
        left.len(),
        |i| one(plan, left[i]),
        |i, outcome| -> Result<Option<()>> {
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

/// A trial; none if it was stopped.
fn one(plan: &Plan, number: usize) -> Option<Entry> {
    let mut watch = |_: &Event| match interrupt::asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let seed = seed_of(plan.seed, number);
    let found = trial(plan.model, plan.fit, plan.draws, seed, &mut watch).transpose()?;
    Some(match found {
        Ok(trial) => Entry { number, outcome: Ok(trial) },
        Err(error) => Entry::failed(number, &error),
    })
}
