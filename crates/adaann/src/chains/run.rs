//! Long chains: warm-up, then draws until they are worth enough.

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
/// Chains begin at `starts`: at some of them, evenly, where these are more, and again from the first where
/// they are fewer; starts without a density are left out, and those far from the mass climb towards it first. `shape` is a covariance, row by row, that is thought to be near that of the density; without
/// one all coordinates are taken to have spread 1 at first. Runs on the threads of the rayon pool it is
/// called in; their number never changes the result.
///
/// The answer is right for as much of the density as the chains pass through: modes that they do not
/// pass between show as an R-hat far above 1, if chains start in more than one.
///
/// # Errors
/// If a setting is out of range, starts or shape do not fit the target, no start has a density, or the
/// target fails.
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

/// The same with a list of what was finished before: it goes on where that ends, and keeps it.
///
/// # Errors
/// As [`run`], and if the list is that of other chains.
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

/// Chains that are being drawn from.
#[derive(Serialize, Deserialize)]
struct Sampling {
    state: State,
    draws: Draws,
    warm_up_divergences: usize,
    /// Sums over the iterations.
    acceptance: f64,
    steps: usize,
    /// Iterations so far, and when to look next.
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

/// Iterations before R-hat and effective sample size are first looked at, and at least between looks.
const FIRST_LOOK: usize = 50;
const BETWEEN_LOOKS: usize = 25;

impl Sampler<'_> {
    /// Draws until they are worth enough.
    fn sample(
        &self,
        mut sampling: Sampling,
        observer: &mut dyn Observer,
        ledger: &mut Ledger,
    ) -> Result<Chains> {
        let settings = self.settings;
        // Who only looks wants to see where they are.
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
            // There is always a draw, of each chain where it is.
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

/// When to look again: where the draws will be worth enough if they go on as they do, since looking costs
/// as much as some iterations. R-hat − 1 falls as 1/n, as the error of a variance between chains.
fn next_look(done: usize, ess: f64, r_hat: f64, settings: &Settings) -> usize {
    let longer =
        (settings.target_ess / ess.max(1.0)).max((r_hat - 1.0) / (settings.max_r_hat - 1.0));
    let expected = 1.05 * done as f64 * longer;
    (expected as usize)
        .clamp(done + (done / 5).max(BETWEEN_LOOKS), done + (done / 2).max(BETWEEN_LOOKS))
}
