//! Work at one temperature: resample if necessary, and move the particles until they are far from
//! their origins.

use super::{
    Settings, Stage, distance::Origin, drift::Before, sampler::Sampler, state::State, sweep::Swept,
};
use crate::{Result, mixture::Mixture, path::Parts};

/// The statistics of this work.
pub(super) struct Settled {
    ess: f64,
    resampled: bool,
    sweeps: usize,
    moved: f64,
    last: Swept,
}

/// The next density, and how particles are to settle on it.
pub(super) struct Ahead {
    /// The weight of each part in it.
    pub(super) weights: Parts,
    pub(super) fewest_sweeps: usize,
    /// Whether to skip the local move of the first sweep where jumps alone renew the particles.
    pub(super) may_spare: bool,
    /// Whether this is the end of the path, where particles must become draws with equal weights.
    pub(super) is_end: bool,
}

impl Sampler<'_> {
    /// Moves weighted particles, and records whether the moves raise the log ratio of the two
    /// densities.
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
        // The gradients belong to the previous density.
        state.particles.gradient = None;
        let resampled = ess < resample_below || ahead.is_end;
        if resampled {
            state.resample(&self.stream);
        }
        let origin = Origin::new(&mixture, &state.particles.z);
        // After a lag, use long local moves until the steps have recovered.
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

    /// Moves particles at their temperature, with a refitted mixture and long local moves.
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
    /// The stage to report.
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
