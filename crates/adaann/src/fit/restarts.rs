//! Runs the same fit from several seeds, in parallel, and ranks the results.

use super::{Fit, Observer, Outcome, Settings};
use crate::{
    Error, Result,
    checkpoint::Ledger,
    error,
    schedule::Rule,
    target::Target,
    tasks::{Elsewhere, Workers},
};
use std::cmp::Ordering;

/// A run with more than this share of its draws where p is 0 cannot be the best: its neg-ELBO covers only the other
/// draws.
const MOST_LOST: f64 = 0.01;

/// One of several runs.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Restart {
    /// Its seed.
    pub seed: u64,
    /// Its outcome.
    pub outcome: Outcome,
    /// The evaluations of the target, for the fit and for the comparison.
    pub evaluations: usize,
    /// E_q[log q − log p] at the end, over the same number of fresh draws for each run. NaN for a single run, or if
    /// there was no time.
    pub neg_elbo: f64,
    /// Share of those draws whose log density is −∞ or NaN; NaN likewise.
    pub lost: f64,
}

impl Restart {
    /// A single run, without a comparison.
    fn alone(seed: u64, outcome: Outcome) -> Self {
        let evaluations = outcome.target_evaluations;
        Self { seed, outcome, evaluations, neg_elbo: f64::NAN, lost: f64::NAN }
    }

    /// A run with the numbers by which it is compared.
    fn compared(target: &dyn Target, seed: u64, outcome: Outcome, draws: usize) -> Result<Self> {
        let sample = outcome.approximation(target)?.sample(draws, seed);
        let alone = Self::alone(seed, outcome);
        match sample {
            Err(Error::OutOfTime) => Ok(alone),
            sample => {
                let sample = sample?;
                let lost = sample.lost() as f64 / draws as f64;
                let evaluations = alone.evaluations + draws;
                Ok(Self { evaluations, neg_elbo: sample.neg_elbo(), lost, ..alone })
            }
        }
    }

    /// Orders runs from the best to the worst.
    fn order(&self, other: &Self) -> Ordering {
        let kind = |run: &Self| (run.outcome.failure.is_some(), run.lost > MOST_LOST);
        let by_loss = || self.neg_elbo.total_cmp(&other.neg_elbo);
        kind(self).cmp(&kind(other)).then_with(by_loss)
    }
}

/// The number of seeds, and of draws per seed for the comparison.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// The number of seeds, starting with that of the settings.
    pub seeds: usize,
    /// The number of draws for each, if there is more than one seed.
    pub draws: usize,
}

impl Comparison {
    /// A comparison of `seeds` seeds, with enough draws to tell their neg-ELBOs apart to hundredths.
    pub fn of(seeds: usize) -> Self {
        Self { seeds, draws: 10_000 }
    }
}

/// Runs the seed of the settings as one of several, with the numbers by which it is compared.
///
/// # Errors
/// As [`Fit::run_with`](super::Fit::run_with).
pub fn restart(
    target: &dyn Target,
    settings: &Settings,
    rule: Option<&(dyn Rule + Sync)>,
    draws: usize,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Restart> {
    let outcome = run_one(target, settings, rule, observer, ledger)?;
    Restart::compared(target, settings.seed, outcome, draws)
}

fn run_one(
    target: &dyn Target,
    settings: &Settings,
    rule: Option<&(dyn Rule + Sync)>,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Outcome> {
    let fit = Fit::new(target, settings);
    let fit = if let Some(rule) = rule { fit.rule(rule) } else { fit };
    fit.run_with(observer, ledger)
}

/// The results of several seeds.
#[derive(Debug)]
pub struct Restarts {
    /// The finished runs, best first: by neg-ELBO, those that stay in the support before the others, and last those
    /// that failed late ([`Outcome::failure`]).
    pub runs: Vec<Restart>,
    /// The seeds that failed, with their errors.
    pub failed: Vec<(u64, Error)>,
}

/// Runs `count` seeds, starting with that of the settings.
///
/// The runs share the threads of the current pool: with at least as many seeds as threads, each run has one thread. A
/// seed that fails or panics does not affect the others.
///
/// # Errors
/// If a setting is out of range, or no run finished: then the error of the first seed.
pub fn restarts<O: Observer>(
    target: &dyn Target,
    settings: &Settings,
    count: usize,
    observer: impl Fn(u64) -> O + Sync,
) -> Result<Restarts> {
    let comparison = Comparison::of(count);
    restarts_with(target, settings, None, comparison, observer, |_| Ok(Ledger::off()), None)
}

/// Like [`restarts`], with a ledger of finished work for each seed: each run resumes where its ledger ends. A rule, if
/// given, chooses the temperatures instead of the settings' schedule. Other processes, if any, run whole seeds, by
/// their offset from the seed of the settings.
///
/// # Errors
/// As [`restarts`]; a seed fails if its ledger cannot be read or belongs to another run.
pub fn restarts_with<O: Observer>(
    target: &dyn Target,
    settings: &Settings,
    rule: Option<&(dyn Rule + Sync)>,
    comparison: Comparison,
    observer: impl Fn(u64) -> O + Sync,
    ledger: impl Fn(u64) -> Result<Ledger> + Sync,
    elsewhere: Option<&dyn Elsewhere<Result<Restart>>>,
) -> Result<Restarts> {
    let Comparison { seeds: count, draws } = comparison;
    error::at_least_one("seeds", count)?;
    settings.check(target)?;
    let seed_of = |i: usize| settings.seed.wrapping_add(i as u64);
    let run = |i: usize| -> Result<Restart> {
        let seed = seed_of(i);
        let settings = Settings { seed, ..settings.clone() };
        let (mut observer, mut ledger) = (observer(seed), ledger(seed)?);
        if count == 1 {
            let outcome = run_one(target, &settings, rule, &mut observer, &mut ledger)?;
            return Ok(Restart::alone(seed, outcome));
        }
        restart(target, &settings, rule, draws, &mut observer, &mut ledger)
    };
    let pool = Workers::sharing(rayon::current_num_threads(), count);
    let keep = |_, result: Result<Result<Restart>>| Ok::<_, Error>(Some(result.flatten()));
    let results = pool.run_with(count, run, elsewhere, keep)?;
    let mut all = Restarts { runs: Vec::new(), failed: Vec::new() };
    for (i, result) in results {
        match result {
            Ok(run) => all.runs.push(run),
            Err(error) => all.failed.push((seed_of(i), error)),
        }
    }
    if all.runs.is_empty() {
        return Err(all.failed.swap_remove(0).1);
    }
    // A stable sort keeps ties in the order of their seeds.
    all.runs.sort_by(Restart::order);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, Program, fit::fit, schedule::Schedule, schedule::Work};

    #[test]
    fn what_failed_late_comes_last() {
        let target = Program::record(1, |z| -0.5 * z[0].square());
        let work = Work { warmup: 1, anneal: 1, refine: 5 };
        let settings = Settings { schedule: Schedule::None, work, ..Settings::default() };
        let outcome = fit(&target, &settings, &mut ()).unwrap();
        let failure = Some(Failure { t: 0.5, failed_at: 0.6, reason: "no step".into() });
        let failed = Outcome { failure, ..outcome.clone() };
        let restart =
            |outcome, neg_elbo, lost| Restart { seed: 1, outcome, evaluations: 0, neg_elbo, lost };
        let order = [
            restart(outcome.clone(), 3.0, 0.0),
            restart(outcome.clone(), f64::NAN, f64::NAN),
            restart(outcome, 1.0, 0.5),
            restart(failed, 0.0, 0.0),
        ];
        assert!(order.is_sorted_by(|a, b| a.order(b).is_lt()), "{order:?}");
    }
}
