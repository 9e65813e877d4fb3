//! At a temperature: particles are resampled if need be, and moved until they are far from where they
//! were.

use super::{
    Settings, Stage, distance::Origin, drift::Before, sampler::Sampler, state::State, sweep::Swept,
};
use crate::{Result, mixture::Mixture, path::Parts};

/// What happened there.
pub(super) struct Settled {
    ess: f64,
    resampled: bool,
    sweeps: usize,
    moved: f64,
    last: Swept,
}

/// The density that particles are to settle on.
pub(super) struct Ahead {
    /// How much of each part is in it.
    pub(super) weights: Parts,
    pub(super) fewest_sweeps: usize,
    /// May the local move of the first sweep be left out, where jumps alone renew the particles?
    pub(super) may_spare: bool,
    /// At the end of the path particles are to be draws with equal weights.
    pub(super) is_end: bool,
}

impl Sampler<'_> {
    /// Moves weighted particles, and notes whether that makes the log ratio of two densities rise.
    pub(super) fn settle(
        &self,
        state: &mut State,
        [from, to]: [Parts; 2],
        ahead: Ahead,
    ) -> Result<Settled> {
        let Settings { most_sweeps, freshness, resample_below, .. } = *self.settings;
        let ess = state.ess_share();
        let before = Before::new(&state.log_ratios(from, to), &state.weights());
        let mixture = Mixture::fit(&state.particles.z, &state.weights(), Some(&state.mixture));
        state.mixture = mixture.clone();
        // Gradients are those of the density before.
        state.particles.gradient = None;
        let resampled = ess < resample_below || ahead.is_end;
        if resampled {
            state.resample(&self.stream);
        }
        let origin = Origin::new(&mixture, &state.particles.z);
        // After a lag local moves go far, until steps are what they were.
        let goes_far = state.pace < 1.0;
        let mut last = Swept { goes_far, may_spare: ahead.may_spare, ..Swept::default() };
        let (mut sweeps, mut moved) = (0, 0.0);
        while sweeps < ahead.fewest_sweeps || sweeps < most_sweeps && moved < freshness {
            if sweeps > 0 && self.is_spent(state.evaluations) {
                break;
            }
            self.sweep(state, ahead.weights, &mut last)?;
            moved = origin.distance(&state.particles.z);
            sweeps += 1;
        }
        state.path_length.need(moved < freshness);
        if let Some(before) = before {
            let rise = before.rise(&state.log_ratios(from, to), &state.weights());
            state.lag.add(rise);
        }
        Ok(Settled { ess, resampled, sweeps, moved, last })
    }

    /// Moves particles on at the temperature where they are, with a mixture of their own and as far
    /// as local moves go.
    pub(super) fn stir(&self, state: &mut State, weights: Parts) -> Result<()> {
        state.mixture = Mixture::fit(&state.particles.z, &state.weights(), Some(&state.mixture));
        state.particles.gradient = None;
        let mut last = Swept { goes_far: true, ..Swept::default() };
        for _ in 0..self.settings.most_sweeps {
            if self.is_spent(state.evaluations) {
                break;
            }
            self.sweep(state, weights, &mut last)?;
        }
        Ok(())
    }
}

impl Settled {
    /// The report of it.
    pub(super) fn stage(
        self,
        sampler: &Sampler,
        state: &State,
        t: f64,
        start: Option<f64>,
        std_b: Option<f64>,
    ) -> Stage {
        Stage {
            island: sampler.island,
            t,
            start,
            std_b,
            ess: self.ess,
            resampled: self.resampled,
            sweeps: self.sweeps,
            acceptance: self.last.acceptance,
            jump_acceptance: self.last.jump_acceptance,
            scale: self.last.local.map_or(0.0, |local| state.step_sizes.of(local)),
            components: state.mixture.components.len(),
            moved: self.moved,
            evaluations: state.evaluations,
            log_z: state.log_z,
        }
    }
}
