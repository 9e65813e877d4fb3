//! Islands: runs with random numbers of their own, pooled by the evidence that each has found.

use super::{
    Observer, Population, Stage,
    ancestry::Ancestry,
    particles::Particles,
    sampler::Sampler,
    spread::standard_error,
    state::{At, State},
};
use crate::{
    Error, Failure, Result,
    checkpoint::{Done, Ledger},
    importance::log_sum_exp,
};

/// Runs islands, of which there is at least one, one after another.
///
/// An observer that stops the first gets it as it is; one that stops a later island gets those that
/// have arrived.
pub(super) fn run(
    samplers: &[Sampler],
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Population> {
    let (mut arrived, mut stages, mut evaluations) = (Vec::<State>::new(), Vec::new(), 0);
    let (mut is_stopped, mut failure) = (false, None);
    for sampler in samplers {
        if ledger.is_looking() && ledger.is_asked_to_end() && !arrived.is_empty() {
            is_stopped = true;
            break;
        }
        if sampler.is_spent(evaluations) && !arrived.is_empty() {
            is_stopped = true;
            break;
        }
        let island = ledger.part("island", |ledger| {
            let way = travel(sampler, evaluations, observer, ledger)?;
            Ok(if way.is_stopped { Done::Stopped(way) } else { Done::Whole(way) })
        })?;
        let Way { state, stages: own, .. } = island;
        is_stopped = island.is_stopped;
        failure = island.failure;
        evaluations = state.evaluations;
        if is_stopped && arrived.is_empty() {
            return Ok(sampler.stopped(state, own));
        }
        if failure.is_some() && arrived.is_empty() {
            return Ok(Population { stopped: false, failure, ..sampler.stopped(state, own) });
        }
        if is_stopped || failure.is_some() {
            break;
        }
        stages.extend(own);
        arrived.push(state);
    }
    let log_z: Vec<f64> = arrived.iter().map(|state| state.log_z).collect();
    let island_lengths: Vec<usize> = arrived.iter().map(|state| state.particles.len()).collect();
    let mut pooled = pool(arrived, &log_z);
    pooled.evaluations = evaluations;
    // Who only looks wants to see what there is, without more draws.
    is_stopped |= ledger.is_looking();
    let population = match is_stopped || failure.is_some() {
        true => samplers[0].stopped(pooled, stages),
        false => samplers[0].finish(pooled, stages)?,
    };
    // What is kept is that of the islands which have arrived.
    let failure = failure.map(|failure| Failure { t: 1.0, ..failure });
    let population = Population { stopped: is_stopped, failure, ..population };
    // Z_k may differ by orders of magnitude, where a standard error of their mean stays below it.
    let log_z_error = population.log_z_error.max(standard_error(&log_z, &island_lengths));
    Ok(Population { log_z_error, island_log_z: log_z, island_lengths, ..population })
}

/// One island on its way, or at its end.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Way {
    state: State,
    stages: Vec<Stage>,
    is_stopped: bool,
    /// What it could not go on for, after it had got somewhere.
    #[serde(default)]
    failure: Option<Failure>,
}

/// Goes all the way with one island, from its start or from where it was left.
fn travel(
    sampler: &Sampler,
    evaluations: usize,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Way> {
    let mut way = match ledger.take_up::<Way>()? {
        // Who only looks wants to see where it is.
        Some(way) if ledger.is_looking() => return Ok(Way { is_stopped: true, ..way }),
        Some(way) => Way { is_stopped: false, ..way },
        None => {
            let mut state = sampler.start()?;
            state.evaluations += evaluations;
            Way { state, stages: Vec::new(), is_stopped: false, failure: None }
        }
    };
    loop {
        let advanced = way.advance(sampler);
        // Particles stay where they were before the step for which there was no time.
        if matches!(advanced, Err(Error::OutOfTime)) && !way.stages.is_empty() {
            return Ok(Way { is_stopped: true, ..way });
        }
        let Some(stage) = advanced? else { break };
        let told = observer.observe(&stage);
        // Once t = 1 is reached there is nothing left to stop.
        way.is_stopped = (told.is_break() || sampler.is_spent(stage.evaluations)) && stage.t < 1.0;
        // Particles may have gone back.
        while way.stages.last().is_some_and(|last| !last.is_before(&stage)) {
            way.stages.pop();
        }
        way.stages.push(stage);
        ledger.offer(&way);
        if way.is_stopped {
            return Ok(way);
        }
    }
    if way.failure.is_none() {
        sampler.keep_moving(&mut way.state)?;
    }
    Ok(way)
}

impl Way {
    /// Goes on to the next temperature. A schedule that finds no step once there was a t is where it ends.
    fn advance(&mut self, sampler: &Sampler) -> Result<Option<Stage>> {
        match (sampler.advance(&mut self.state), self.state.at) {
            (Err(Error::Schedule(error)), At::Path(at)) if at.t > 0.0 => {
                // Particles may have gone back.
                self.stages.retain(|stage| stage.start.is_some() || stage.t <= at.t);
                let (t, failed_at) = (at.t, at.t);
                self.failure = Some(Failure { t, failed_at, reason: error.to_string() });
                Ok(None)
            }
            (advanced, _) => advanced,
        }
    }
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
