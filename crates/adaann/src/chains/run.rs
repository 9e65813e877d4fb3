//! Long chains: warm-up, then draws until they are worth enough.

use super::{
    Chains, Observer, Settings,
    draws::{Draws, pairs},
    rank,
    state::{Sampler, State},
};
use crate::{Batch, Result, target::Unconstrained};

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
    settings.check()?;
    rayon::scope(|_| {
        let sampler = Sampler::new(target, settings);
        let mut state = sampler.start(starts, shape)?;
        sampler.approach(&mut state)?;
        sampler.warm_up(&mut state, observer)?;
        sampler.sample(state, observer)
    })
}

/// Iterations before R-hat and effective sample size are first looked at, and at least between looks.
const FIRST_LOOK: usize = 50;
const BETWEEN_LOOKS: usize = 25;

impl Sampler<'_> {
    /// Draws until they are worth enough.
    fn sample(&self, mut state: State, observer: &mut dyn Observer) -> Result<Chains> {
        let settings = self.settings;
        let (dim, chains) = (state.places.z.dim(), state.places.len());
        let warm_up_divergences = state.divergences;
        let mut draws = Draws::new(dim, chains);
        let (mut acceptance, mut all_steps, mut done) = (0.0, 0, 0);
        let (mut look, mut has_converged) = (FIRST_LOOK, false);
        while !state.is_stopped && !has_converged && done < settings.max_iterations {
            let most = settings.max_evaluations;
            let Some((moved, steps)) = self.iterate(&mut state, most)? else { break };
            done += 1;
            acceptance += moved.mean_acceptance();
            all_steps += steps;
            state.tell(observer, false, done, &moved, steps);
            state.move_to(moved);
            draws.push(&state.places);
            if done == look {
                let (r_hat, ess) = draws.look();
                (state.r_hat, state.bulk_ess) = (Some(r_hat), Some(ess));
                has_converged = ess >= settings.target_ess && r_hat < settings.max_r_hat;
                look = next_look(done, ess, r_hat, settings);
            }
        }
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
            steps: all_steps as f64 / count,
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
