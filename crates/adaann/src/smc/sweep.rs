//! A sweep: every particle proposes a jump from the mixture, unless jumps rarely succeed, and a
//! local move.

use super::{
    choice::LOCALS,
    distance::Origin,
    kernel::{DRAWS, Invariant, Kernel, independence::Independence},
    length::PathLength,
    sampler::Sampler,
    state::State,
};
use crate::{Result, path::Parts};

/// Below this acceptance rate, jumps are disabled for the rest of the temperature.
const POOR_JUMPS: f64 = 0.02;

/// Above this rate, jumps alone renew the particles, and local moves may be short.
const GOOD_JUMPS: f64 = 0.4;

/// The statistics of the last sweep at a temperature.
#[derive(Debug, Default)]
pub(super) struct Swept {
    pub(super) acceptance: f64,
    pub(super) jump_acceptance: Option<f64>,
    /// The kernel in [`LOCALS`] that made the local moves.
    pub(super) local: Option<usize>,
    /// Whether local moves must be long even if jumps succeed.
    pub(super) goes_far: bool,
    /// Whether to skip the next local move where jumps alone renew the particles.
    pub(super) may_spare: bool,
}

impl Sampler<'_> {
    /// Performs one sweep on the density with these weights of its parts.
    pub(super) fn sweep(&self, state: &mut State, weights: Parts, swept: &mut Swept) -> Result<()> {
        if self.settings.jumps && swept.jump_acceptance.is_none_or(|share| share > POOR_JUMPS) {
            swept.jump_acceptance = Some(self.step(state, weights, &Independence)?);
        }
        let are_renewed =
            !swept.goes_far && swept.jump_acceptance.is_some_and(|share| share > GOOD_JUMPS);
        let may_spare = std::mem::take(&mut swept.may_spare);
        if are_renewed && may_spare {
            return Ok(());
        }
        let local = self.settings.moves.choose(are_renewed);
        let most_steps = state.path_length.most_steps();
        let kernel = (LOCALS[local].new)(state.step_sizes.of(local), most_steps);
        if state.path_length.is_needed() && kernel.wants_more_steps(PathLength::SHORTEST) {
            let from = state.particles.z.clone();
            swept.acceptance = self.step(state, weights, &*kernel)?;
            let distance = Origin::new(&state.mixture, &from).distance(&state.particles.z);
            state.path_length.adapt(distance / kernel.evaluations() as f64);
        } else {
            swept.acceptance = self.step(state, weights, &*kernel)?;
        }
        swept.local = Some(local);
        state.step_sizes.adapt(local, swept.acceptance);
        Ok(())
    }

    /// Performs one step of a kernel; returns the acceptance rate.
    fn step(&self, state: &mut State, weights: Parts, kernel: &dyn Kernel) -> Result<f64> {
        let on = self.invariant(state, weights);
        let (particles, info) = kernel.step(&on, &state.particles)?;
        state.particles = particles;
        state.draws += DRAWS;
        state.evaluations += info.evaluations;
        Ok(info.acceptance)
    }

    /// The density with these weights of its parts, the mixture and the next random numbers.
    pub(super) fn invariant<'s>(&'s self, state: &'s State, weights: Parts) -> Invariant<'s> {
        Invariant {
            density: &self.density,
            weights,
            mixture: &state.mixture,
            stream: &self.stream,
            draw: state.draws,
        }
    }
}
