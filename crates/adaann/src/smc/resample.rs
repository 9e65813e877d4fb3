//! Resampling of particles in proportion to their weights.

use super::state::State;
use crate::{importance::resample::stratified, rng::Stream};

impl State {
    /// Systematic resampling: each particle is copied ⌊N W⌋ or ⌈N W⌉ times.
    pub(super) fn resample(&mut self, stream: &Stream) {
        let weights = self.weights();
        let uniform = stream.point_uniform_at(self.draws, 0);
        self.draws += 1;
        let parents = stratified(&weights, &vec![uniform; weights.len()]);
        self.particles = self.particles.gather(parents.iter().copied());
        self.ancestry.resample(&parents);
        self.equal_weights();
    }
}
