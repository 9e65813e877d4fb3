//! The same run from several seeds, in parallel, and the best of them.

use super::{Observer, Outcome, Settings, fit};
use crate::{Error, Result, error, target::Target};
use rayon::ThreadPoolBuilder;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// Draws that the runs are compared by: the Monte Carlo error of their neg-ELBO is then about a
/// hundredth of the spread of log q − log p.
const COMPARISON_DRAWS: usize = 10_000;

/// A run that puts more than this share of its draws where p is 0 is no candidate for the best:
/// its neg-ELBO speaks of the other draws only.
const MOST_LOST: f64 = 0.01;

/// One of several runs.
#[derive(Debug)]
pub struct Restart {
    /// Its seed.
    pub seed: u64,
    /// What it has found.
    pub outcome: Outcome,
    /// E_q[log q − log p] at the end, over the same number of fresh draws for each run.
    pub neg_elbo: f64,
    /// Share of those draws that have log density −∞ or none.
    pub lost: f64,
}

impl Restart {
    fn new(target: &dyn Target, seed: u64, outcome: Outcome) -> Result<Self> {
        let sample = outcome.approximation(target)?.sample(COMPARISON_DRAWS, seed)?;
        let lost = sample.lost() as f64 / COMPARISON_DRAWS as f64;
        Ok(Self { seed, outcome, neg_elbo: sample.neg_elbo(), lost })
    }

    /// Orders runs from the best to the worst.
    fn rank(&self) -> (bool, f64) {
        (self.lost > MOST_LOST, self.neg_elbo)
    }
}

/// Several runs.
#[derive(Debug)]
pub struct Restarts {
    /// Those that came to an end, best first: by neg-ELBO, after those that stay in the support.
    pub runs: Vec<Restart>,
    /// The seeds of the others, with what went wrong.
    pub failed: Vec<(u64, Error)>,
}

/// Runs `count` seeds, from that of the settings on.
///
/// The threads of the pool it is called in are shared out: a run has one of them if there are
/// at least as many seeds.
///
/// # Errors
/// If a setting is out of range, or no run came to an end: then the error of the first seed.
pub fn restarts<O: Observer>(
    target: &dyn Target,
    settings: &Settings,
    count: usize,
    observer: impl Fn(u64) -> O + Sync,
) -> Result<Restarts> {
    error::at_least_one("seeds", count)?;
    settings.check(target)?;
    let threads = rayon::current_num_threads();
    let workers = threads.min(count);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    // Threads of our own, each with its pool: a worker of one pool that waits would begin another
    // run in the meantime, and another.
    let work = || -> Result<()> {
        let pool = ThreadPoolBuilder::new().num_threads(threads / workers).build();
        let pool = pool.map_err(|error| Error::Threads(error.to_string()))?;
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return Ok(());
            }
            let settings =
                Settings { seed: settings.seed.wrapping_add(i as u64), ..settings.clone() };
            let seed = settings.seed;
            let result = pool.install(|| {
                let outcome = fit(target, &settings, &mut observer(seed))?;
                Restart::new(target, seed, outcome)
            });
            results.lock().expect("no run panics while it holds the lock").push((i, seed, result));
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(|worker| worker.join().expect("a run does not panic"))
    })?;
    let mut results = results.into_inner().expect("no run panics while it holds the lock");
    results.sort_by_key(|(i, ..)| *i);
    let mut all = Restarts { runs: Vec::new(), failed: Vec::new() };
    for (_, seed, result) in results {
        match result {
            Ok(run) => all.runs.push(run),
            Err(error) => all.failed.push((seed, error)),
        }
    }
    if all.runs.is_empty() {
        return Err(all.failed.swap_remove(0).1);
    }
    // Stable, so that equals stay in the order of their seeds. A neg-ELBO is never NaN.
    all.runs.sort_by(|a, b| a.rank().partial_cmp(&b.rank()).expect("no NaN"));
    Ok(all)
}
