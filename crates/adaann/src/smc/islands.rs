//! Islands: runs with random numbers of their own, pooled by the evidence that each has found.

use super::{
    Observer, Population, ancestry::Ancestry, particles::Particles, sampler::Sampler,
    spread::standard_error, state::State,
};
use crate::{Result, importance::log_sum_exp};

/// Runs islands, of which there is at least one, one after another.
///
/// An observer that stops the first gets it as it is; one that stops a later island gets those that
/// have arrived.
pub(super) fn run(samplers: &[Sampler], observer: &mut dyn Observer) -> Result<Population> {
    let (mut arrived, mut stages, mut evaluations) = (Vec::<State>::new(), Vec::new(), 0);
    let mut is_stopped = false;
    for sampler in samplers {
        let mut state = sampler.start()?;
        state.evaluations += evaluations;
        let mut own = Vec::new();
        is_stopped = sampler.go_on(&mut state, &mut own, observer)?;
        evaluations = state.evaluations;
        if is_stopped && arrived.is_empty() {
            return Ok(sampler.stopped(state, own));
        }
        if is_stopped {
            break;
        }
        sampler.keep_moving(&mut state)?;
        evaluations = state.evaluations;
        stages.extend(own);
        arrived.push(state);
    }
    let log_z: Vec<f64> = arrived.iter().map(|state| state.log_z).collect();
    let mut pooled = pool(arrived, &log_z);
    pooled.evaluations = evaluations;
    let population = match is_stopped {
        true => samplers[0].stopped(pooled, stages),
        false => samplers[0].finish(pooled, stages)?,
    };
    // Z_k may differ by orders of magnitude, where a standard error of their mean stays below it.
    let log_z_error = population.log_z_error.max(standard_error(&log_z));
    Ok(Population { log_z_error, island_log_z: log_z, ..population })
}

/// All particles, those of island k with Z_k times their weight: Z is the mean of the Z_k, which has
/// no bias if they have none.
fn pool(mut islands: Vec<State>, log_z: &[f64]) -> State {
    if islands.len() == 1 {
        return islands.remove(0);
    }
    let total = log_sum_exp(log_z.iter().copied());
    let particles: Vec<Particles> = islands.iter().map(|state| state.particles.clone()).collect();
    let log_weights = islands.iter().zip(log_z).flat_map(|(state, log_z)| {
        state.log_weights.iter().map(move |weight| weight + log_z - total)
    });
    let log_weights = log_weights.collect();
    let ancestry = Ancestry::join(islands.iter().map(|state| &state.ancestry));
    // Random numbers that none has used, of the first island's stream.
    let draws = islands.iter().map(|state| state.draws).max().unwrap_or(0);
    let heaviest = (0..log_z.len()).max_by(|&i, &j| log_z[i].total_cmp(&log_z[j])).unwrap_or(0);
    State {
        particles: Particles::concat(&particles),
        log_weights,
        ancestry,
        draws,
        log_z: total - (log_z.len() as f64).ln(),
        ..islands.swap_remove(heaviest)
    }
}
