//! The same run from several seeds, in parallel, and the best of them.

use super::{Fit, Observer, Outcome, Settings};
use crate::{
    Error, Result,
    checkpoint::Ledger,
    crew::{Crew, Elsewhere},
    error,
    schedule::Rule,
    target::Target,
};
use std::cmp::Ordering;

/// A run that puts more than this share of its draws where p is 0 is no candidate for the best:
/// its neg-ELBO speaks of the other draws only.
const MOST_LOST: f64 = 0.01;

/// One of several runs.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Restart {
    /// Its seed.
    pub seed: u64,
    /// What it has found.
    pub outcome: Outcome,
    /// Points at which the target was evaluated, for the fit and to compare it.
    pub evaluations: usize,
    /// E_q[log q − log p] at the end, over the same number of fresh draws for each run. NaN for a run that is compared
    /// with no other, or for which there was no time.
    pub neg_elbo: f64,
    /// Share of those draws that have log density −∞ or none; NaN likewise.
    pub lost: f64,
}

impl Restart {
    /// A run that is compared with no other.
    fn alone(seed: u64, outcome: Outcome) -> Self {
        let evaluations = outcome.target_evaluations;
        Self { seed, outcome, evaluations, neg_elbo: f64::NAN, lost: f64::NAN }
    }

    /// A run with what it is compared by.
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

/// Several seeds, and the draws of each by which they are compared.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// How many seeds run, from that of the settings on.
    pub seeds: usize,
    /// Draws of each, if there is more than one.
    pub draws: usize,
}

impl Comparison {
    /// So many seeds, and as many draws as tell their neg-ELBOs apart to hundredths.
    pub fn of(seeds: usize) -> Self {
        Self { seeds, draws: 10_000 }
    }
}

/// One of several runs: that of the seed of the settings, with what it is compared by: so many draws.
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

/// Several runs.
#[derive(Debug)]
pub struct Restarts {
    /// Those that came to an end, best first: by neg-ELBO, those that stay in the support before the others,
    /// and last those that failed late ([`Outcome::failure`]).
    pub runs: Vec<Restart>,
    /// The seeds of the others, with what went wrong.
    pub failed: Vec<(u64, Error)>,
}

/// Runs `count` seeds, from that of the settings on.
///
/// The threads of the pool it is called in are shared out: a run has one of them if there are
/// at least as many seeds. A seed that fails or panics costs only itself.
///
/// # Errors
/// If a setting is out of range, or no run came to an end: then the error of the first seed.
pub fn restarts<O: Observer>(
    target: &dyn Target,
    settings: &Settings,
    count: usize,
    observer: impl Fn(u64) -> O + Sync,
) -> Result<Restarts> {
    let comparison = Comparison::of(count);
    restarts_with(target, settings, None, comparison, observer, |_| Ok(Ledger::off()), None)
}

/// The same with a list of what was finished before for each seed: each goes on where its own ends. A rule, if
/// one is given, chooses the temperatures in place of the settings' schedule. Others elsewhere, if there are some, do
/// whole seeds, by their place from that of the settings on.
///
/// # Errors
/// As [`restarts`]; a seed whose list cannot be read or is that of another run fails.
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
    let crew = Crew::sharing(rayon::current_num_threads(), count);
    let keep = |_, result: Result<Result<Restart>>| Ok::<_, Error>(Some(result.flatten()));
    let results = crew.run_with(count, run, elsewhere, keep)?;
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
    // Stable, so that equals stay in the order of their seeds.
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
