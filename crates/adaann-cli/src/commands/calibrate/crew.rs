//! All trials, over all threads: each on one, with a seed of its own, in any order.

use crate::commands::calibrate::{
    journal::{Entry, Journal},
    progress::Progress,
};
use crate::job::interrupt;
use adaann::{
    Settings,
    calibrate::{seed_of, trial},
    fit::Event,
    model::Model,
};
use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// What is run.
pub(super) struct Plan<'a> {
    pub(super) model: &'a Model,
    pub(super) settings: &'a Settings,
    /// Draws that ranks are among.
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) trials: usize,
    /// 0 for all cores.
    pub(super) threads: usize,
}

/// Runs the trials that the journal does not have yet; gives all of the plan, in order. Fewer of them
/// if somebody has asked for an end.
pub(super) fn run(plan: &Plan, journal: &mut Journal, progress: &Progress) -> Result<Vec<Entry>> {
    let done: BTreeSet<usize> = journal.entries.iter().map(|entry| entry.number).collect();
    let left: Vec<usize> = (1..=plan.trials).filter(|number| !done.contains(number)).collect();
    progress.begin(plan.trials - left.len(), plan.trials);
    let threads = match plan.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let (next, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Mutex::new(&mut *journal);
    let work = || -> Result<()> {
        // A pool of one: a trial that waited in a larger one would begin another in the meantime.
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.context("cannot start a thread")?;
        while let Some(&number) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ends = || interrupt::asked() || halt.load(Ordering::Relaxed);
            if ends() {
                break;
            }
            let Some(entry) = pool.install(|| one(plan, number)).filter(|_| !ends()) else { break };
            let is_failure = entry.outcome.is_err();
            shared.lock().expect("no thread panics with it").append(entry)?;
            progress.advance(is_failure);
        }
        Ok(())
    };
    let outcome = thread::scope(|scope| {
        let crew: Vec<_> = (0..threads.min(left.len()))
            .map(|_| scope.spawn(|| work().inspect_err(|_| halt.store(true, Ordering::Relaxed))))
            .collect();
        crew.into_iter().try_for_each(|one| one.join().expect("a trial does not panic"))
    });
    progress.finish();
    outcome?;
    journal.rewrite()?;
    let entries = journal.entries.iter();
    Ok(entries.filter(|entry| entry.number <= plan.trials).cloned().collect())
}

/// A trial; none if it was stopped.
fn one(plan: &Plan, number: usize) -> Option<Entry> {
    let mut watch = |_: &Event| match interrupt::asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let seed = seed_of(plan.seed, number);
    let outcome = trial(plan.model, plan.settings, plan.draws, seed, &mut watch).transpose()?;
    // A message of several lines would be several lines of the file.
    let outcome =
        outcome.map_err(|error| error.to_string().split_whitespace().collect::<Vec<_>>().join(" "));
    Some(Entry { number, outcome })
}
