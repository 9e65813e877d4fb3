//! Sequential Monte Carlo along a path: weight, resample, move.

use super::{
    Observer, Population, Settings, Stage,
    state::{At, State},
};
use crate::{
    Result,
    flow::Base,
    path::Tempered,
    rng::{Purpose, Stream},
    schedule::Position,
    target::{Target, Unconstrained},
};

/// Sequential Monte Carlo from the base to the target.
///
/// First along q_0^(1 − s) p_{t_0}^s to the density at the schedule's first t, then along the path.
/// Runs on the threads of the rayon pool it is called in; their number never changes the result.
///
/// # Errors
/// If a setting is out of range, the target fails, or too few particles have a density at all.
#[doc(alias("sequential Monte Carlo", "annealed importance sampling"))]
pub fn smc(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Population> {
    settings.check(target)?;
    rayon::scope(|_| {
        let sampler = Sampler::new(target, settings)?;
        let mut state = sampler.start()?;
        let mut stages = Vec::new();
        while let Some(stage) = sampler.advance(&mut state)? {
            let told = observer.observe(&stage);
            // Once t = 1 is reached there is nothing left to stop.
            let is_stopped = told.is_break() && stage.t < 1.0;
            stages.push(stage);
            if is_stopped {
                return Ok(sampler.stopped(state, stages));
            }
        }
        sampler.finish(state, stages)
    })
}

/// What does not change in a run.
pub(super) struct Sampler<'a> {
    pub(super) settings: &'a Settings,
    pub(super) density: Tempered<'a>,
    /// Where particles start; the density has it as its reference.
    pub(super) base: Base,
    pub(super) stream: Stream,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(target: &'a dyn Target, settings: &'a Settings) -> Result<Self> {
        let target = Unconstrained::new(target)?;
        let base = settings.base.resolve(&target, settings.seed)?;
        let reference = Some(base.clone());
        let density = Tempered { target, path: settings.path, reference };
        let stream = Stream::new(settings.seed, Purpose::MonteCarlo);
        Ok(Self { settings, density, base, stream })
    }

    /// Goes on to the next temperature; none after t = 1.
    pub(super) fn advance(&self, state: &mut State) -> Result<Option<Stage>> {
        match state.at {
            At::Start(at) => self.advance_from_base(state, at).map(Some),
            At::Path(at) if at.t < 1.0 => self.advance_on_path(state, at).map(Some),
            At::Path(_) => Ok(None),
        }
    }

    fn advance_on_path(&self, state: &mut State, at: Position) -> Result<Stage> {
        let Settings { path, schedule, .. } = self.settings;
        let step = state.advance(schedule, at, [path.weights(0.0), path.weights(1.0)])?;
        let at = at.after(&step);
        let settled = self.settle(state, path.weights(at.t), 1, at.t == 1.0)?;
        state.at = At::Path(at);
        Ok(settled.stage(state, at.t, None, step.std_b))
    }
}
