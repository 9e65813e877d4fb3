//! Islands: runs with independent random numbers, pooled by their evidence.

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

/// Runs the islands one after another; there must be at least one.
///
/// If an observer stops the first island, the result is its current state. If it stops a later one, the
/// result contains the finished islands.
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
    // A viewer shows the current state without further draws.
    is_stopped |= ledger.is_looking();
    let population = match is_stopped || failure.is_some() {
        true => samplers[0].stopped(pooled, stages),
        false => samplers[0].finish(pooled, stages)?,
    };
    // The result contains only the finished islands.
    let failure = failure.map(|failure| Failure { t: 1.0, ..failure });
    let population = Population { stopped: is_stopped, failure, ..population };
    // If the Z_k differ by orders of magnitude, the genealogy's error of their mean is too small.
    let log_z_error = population.log_z_error.max(standard_error(&log_z, &island_lengths));
    Ok(Population { log_z_error, island_log_z: log_z, island_lengths, ..population })
}

/// The state of one island, running or finished.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Way {
    state: State,
    stages: Vec<Stage>,
    is_stopped: bool,
    /// The failure that ended it early, after some progress.
    #[serde(default)]
    failure: Option<Failure>,
}

/// Runs one island to its end, from its start or its checkpoint.
fn travel(
    sampler: &Sampler,
    evaluations: usize,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Way> {
    let mut way = match ledger.take_up::<Way>()? {
        // A viewer shows the current state.
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
        // When the time is up, particles stay where they were before the last step.
        if matches!(advanced, Err(Error::OutOfTime)) && !way.stages.is_empty() {
            return Ok(Way { is_stopped: true, ..way });
        }
        let Some(stage) = advanced? else { break };
        let told = observer.observe(&stage);
        // At t = 1 nothing remains to be stopped.
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
    /// Advances to the next temperature. If the schedule finds no step after t > 0, the island ends there
    /// with a failure.
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

/// Pools all particles, with the weights of island k multiplied by Z_k. Z is the mean of the Z_k, which
/// is unbiased if they are.
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
    // Random numbers that no island has used, from the first island's stream.
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
