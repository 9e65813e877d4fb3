//! At a temperature: particles are resampled if need be, and moved until they are far from where they
//! were.

use super::{Settings, Stage, distance::Origin, run::Sampler, state::State, sweep::Swept};
use crate::{Result, mixture::Mixture, path::Parts};

/// What happened there.
pub(super) struct Settled {
    ess: f64,
    resampled: bool,
    sweeps: usize,
    moved: f64,
    last: Swept,
}

impl Sampler<'_> {
    /// Moves weighted particles on the density with these weights of its parts, by at least so many
    /// sweeps. At the end of the path particles are to be draws with equal weights.
    pub(super) fn settle(
        &self,
        state: &mut State,
        weights: Parts,
        fewest_sweeps: usize,
        is_end: bool,
    ) -> Result<Settled> {
        let Settings { most_sweeps, freshness, resample_below, .. } = *self.settings;
        let ess = state.ess_share();
        let mixture = Mixture::fit(&state.particles.z, &state.weights(), Some(&state.mixture));
        state.mixture = mixture.clone();
        // Gradients are those of the density before.
        state.particles.gradient = None;
        let resampled = ess < resample_below || is_end;
        if resampled {
            state.resample(&self.stream);
        }
        let origin = Origin::new(&mixture, &state.particles.z);
        let (mut sweeps, mut moved, mut last) = (0, 0.0, Swept::default());
        while sweeps < fewest_sweeps || sweeps < most_sweeps && moved < freshness {
            self.sweep(state, weights, &mut last)?;
            moved = origin.distance(&state.particles.z);
            sweeps += 1;
        }
        Ok(Settled { ess, resampled, sweeps, moved, last })
    }
}

impl Settled {
    /// The report of it.
    pub(super) fn stage(
        self,
        state: &State,
        t: f64,
        start: Option<f64>,
        std_b: Option<f64>,
    ) -> Stage {
        Stage {
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
