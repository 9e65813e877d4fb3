//! Runs long chains: warm-up, then draws until their effective sample size is large enough.

use super::{
    Chains, Observer, Settings,
    draws::{Draws, pairs},
    rank,
    state::{Sampler, State},
    warm_up::Windows,
};
use crate::{
    Batch, Result,
    checkpoint::{Done, Ledger},
    target::Unconstrained,
};
use serde::{Deserialize, Serialize};

/// Hamiltonian Monte Carlo with many chains side by side, on log p + log|J| in unconstrained coordinates.
///
/// Chains begin at `starts`: at an even selection if there are more starts than chains, and repeated from the first if
/// there are fewer. Starts without a density are dropped, and chains far from the mass first climb towards it. `shape`
/// is a covariance, row by row, that should be near that of the density; without it, all coordinates are assumed to
/// have a standard deviation of 1. Uses the threads of the current rayon pool; their number never changes the result.
///
/// The answer is right for the part of the density that the chains visit. If chains start in several modes and do not
/// pass between them, R-hat is far above 1.
///
/// # Errors
/// If a setting is out of range, starts or shape do not match the target, no start has a density, or the target fails.
#[doc(alias("HMC", "MCMC", "NUTS", "ChEES"))]
pub fn run(
    target: &Unconstrained,
    starts: &Batch,
    shape: Option<&[f64]>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Chains> {
    run_with(target, starts, shape, settings, observer, &mut Ledger::off())
}

/// Like [`run`], with a ledger of finished work: it resumes where the ledger ends, and records its own work.
///
/// # Errors
/// As [`run`], and if the ledger belongs to other chains.
pub fn run_with(
    target: &Unconstrained,
    starts: &Batch,
    shape: Option<&[f64]>,
    settings: &Settings,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Chains> {
    settings.check()?;
    rayon::scope(|_| {
        let sampler = Sampler::new(target, settings);
        let state = ledger.part("warm-up", |ledger| {
            let mut way = match ledger.take_up()? {
                Some(way) => way,
                None => {
                    let mut state = sampler.start(starts, shape)?;
                    sampler.approach(&mut state)?;
                    Windows::first(state)
                }
            };
            sampler.warm_up(&mut way, observer, ledger)?;
            let is_stopped = way.state.is_stopped;
            Ok(if is_stopped { Done::Stopped(way.state) } else { Done::Whole(way.state) })
        })?;
        ledger.part("draws", |ledger| {
            let kept = ledger.take_up()?;
            let found =
                sampler.sample(kept.unwrap_or_else(|| Sampling::first(state)), observer, ledger)?;
            Ok(if found.stopped { Done::Stopped(found) } else { Done::Whole(found) })
        })
    })
}

/// The state of chains after warm-up.
#[derive(Serialize, Deserialize)]
struct Sampling {
    state: State,
    draws: Draws,
    warm_up_divergences: usize,
    /// Sums over the iterations.
    acceptance: f64,
    steps: usize,
    /// Iterations so far, and the next check.
    done: usize,
    look: usize,
    has_converged: bool,
}

impl Sampling {
    fn first(state: State) -> Self {
        let draws = Draws::new(state.places.z.dim(), state.places.len());
        let warm_up_divergences = state.divergences;
        Self {
            state,
            draws,
            warm_up_divergences,
            acceptance: 0.0,
            steps: 0,
            done: 0,
            look: FIRST_LOOK,
            has_converged: false,
        }
    }
}

/// Iterations before R-hat and effective sample size are first computed, and the least interval between checks.
const FIRST_LOOK: usize = 50;
const BETWEEN_LOOKS: usize = 25;

impl Sampler<'_> {
    /// Draws until the effective sample size is large enough.
    fn sample(
        &self,
        mut sampling: Sampling,
        observer: &mut dyn Observer,
        ledger: &mut Ledger,
    ) -> Result<Chains> {
        let settings = self.settings;
        // A viewer shows the current state.
        sampling.state.is_stopped |= ledger.is_looking() && sampling.done > 0;
        while !sampling.state.is_stopped
            && !sampling.has_converged
            && sampling.done < settings.max_iterations
        {
            let Sampling { state, draws, acceptance, steps, done, look, has_converged, .. } =
                &mut sampling;
            let most = settings.max_evaluations;
            let Some((moved, own_steps)) = self.iterate(state, most)? else { break };
            *done += 1;
            *acceptance += moved.mean_acceptance();
            *steps += own_steps;
            state.tell(observer, false, *done, &moved, own_steps);
            state.move_to(moved);
            draws.push(&state.places);
            if done == look {
                let (r_hat, ess) = draws.look();
                (state.r_hat, state.bulk_ess) = (Some(r_hat), Some(ess));
                *has_converged = ess >= settings.target_ess && r_hat < settings.max_r_hat;
                *look = next_look(*done, ess, r_hat, settings);
            }
            ledger.offer(&sampling);
        }
        let has_converged = sampling.has_converged;
        let Sampling { state, mut draws, warm_up_divergences, acceptance, steps, done, .. } =
            sampling;
        let chains = state.places.len();
        if done == 0 {
            // There is always a draw: the current position of each chain.
            draws.push(&state.places);
        }
        let [r_hat, bulk_ess] = pairs(draws.each(rank::r_hat_and_bulk_ess));
        let count = done.max(1) as f64;
        Ok(Chains {
            chains,
            iterations: draws.iterations(),
            acceptance: acceptance / count,
            step_size: state.step_size,
            steps: steps as f64 / count,
            divergences: state.divergences - warm_up_divergences,
            evaluations: state.evaluations,
            r_hat,
            bulk_ess,
            tail_ess: draws.each(rank::tail_ess),
            covariance: state.metric.covariance(),
            has_converged,
            stopped: state.is_stopped,
            z: draws.batch(),
            log_density: draws.into_log_density(),
        })
    }
}

/// The iteration of the next check: where the effective sample size is expected to be large enough, since a check costs
/// as much as some iterations. R-hat − 1 falls as 1/n, like the error of a variance between chains.
fn next_look(done: usize, ess: f64, r_hat: f64, settings: &Settings) -> usize {
    let longer =
        (settings.target_ess / ess.max(1.0)).max((r_hat - 1.0) / (settings.max_r_hat - 1.0));
    let expected = 1.05 * done as f64 * longer;
    (expected as usize)
        .clamp(done + (done / 5).max(BETWEEN_LOOKS), done + (done / 2).max(BETWEEN_LOOKS))
}
