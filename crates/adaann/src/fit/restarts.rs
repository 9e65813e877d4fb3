//! The same run from several seeds, in parallel, and the best of them.

use super::{Observer, Outcome, Settings, fit};
use crate::{Result, error, target::Target};
use rayon::prelude::*;

/// Draws that the runs are compared by: the Monte Carlo error of their neg-ELBO is then about a
/// hundredth of the spread of log q − log p.
const COMPARISON_DRAWS: usize = 10_000;

/// One of several runs.
#[derive(Debug)]
pub struct Restart {
    /// Its seed.
    pub seed: u64,
    /// What it has found.
    pub outcome: Outcome,
    /// E_q[log q − log p] at the end, over the same number of fresh draws for each run.
    pub neg_elbo: f64,
}

/// Runs `count` seeds, from that of the settings on, and sorts the runs by neg-ELBO, best first.
///
/// # Errors
/// The first error of any run.
pub fn restarts<O: Observer>(
    target: &dyn Target,
    settings: &Settings,
    count: usize,
    observer: impl Fn(u64) -> O + Sync,
) -> Result<Vec<Restart>> {
    error::at_least_one("seeds", count)?;
    settings.check(target)?;
    let mut runs = (0..count as u64)
        .into_par_iter()
        .map(|i| {
            let settings = Settings { seed: settings.seed.wrapping_add(i), ..settings.clone() };
            let outcome = fit(target, &settings, &mut observer(settings.seed))?;
            let sample = outcome.approximation(target)?.sample(COMPARISON_DRAWS, settings.seed)?;
            Ok(Restart { seed: settings.seed, outcome, neg_elbo: sample.neg_elbo() })
        })
        .collect::<Result<Vec<_>>>()?;
    // NaN last: a run whose density is nowhere finite is the worst.
    runs.sort_by(|a, b| a.neg_elbo.total_cmp(&b.neg_elbo).then(a.seed.cmp(&b.seed)));
    Ok(runs)
}
