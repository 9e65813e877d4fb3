//! One routine for each pattern of measurements.

use super::observations::Observations;
use crate::program::{Block, Prepared, Recorded, Room};
use fearless_simd::Simd;

/// One routine for each pattern of quantities that were measured together.
#[derive(Debug)]
pub(super) struct Patterns {
    routines: Vec<Prepared>,
    /// Routine and setting of each time.
    of: Vec<(usize, usize)>,
}

impl Patterns {
    pub(super) fn new(
        observations: &Observations,
        inputs: usize,
        record: impl Fn(&[bool]) -> Recorded,
    ) -> Self {
        let mut patterns: Vec<(Vec<bool>, Vec<Vec<f64>>)> = Vec::new();
        let mut of = Vec::new();
        for k in 0..observations.times().len() {
            let present = observations.present(k);
            let known = patterns.iter().position(|(pattern, _)| *pattern == present);
            let pattern = known.unwrap_or_else(|| {
                patterns.push((present, Vec::new()));
                patterns.len() - 1
            });
            of.push((pattern, patterns[pattern].1.len()));
            patterns[pattern].1.push(observations.uniforms(k));
        }
        let prepare = |(present, settings): &(Vec<bool>, Vec<Vec<f64>>)| {
            Prepared::new(record(present), inputs, settings.iter().map(Vec::as_slice))
        };
        Self { routines: patterns.iter().map(prepare).collect(), of }
    }

    /// Something about each pattern, in the order of [`Patterns::pattern`].
    pub(super) fn each<T>(&self, of: &Observations, about: impl Fn(&[bool]) -> T) -> Vec<T> {
        let first = |pattern| self.of.iter().position(|(p, _)| *p == pattern);
        (0..self.routines.len())
            .map(|pattern| about(&of.present(first(pattern).expect("a pattern has times"))))
            .collect()
    }

    pub(super) fn rooms(&self) -> Vec<Room> {
        self.routines.iter().map(|prepared| prepared.routine.room()).collect()
    }

    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        rooms: &mut [Room],
        k: usize,
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        let (pattern, setting) = self.of[k];
        self.routines[pattern].apply(simd, &mut rooms[pattern], setting, inputs, outputs);
    }

    /// The pattern of time number `k`.
    #[inline(always)]
    pub(super) fn pattern(&self, k: usize) -> usize {
        self.of[k].0
    }
}
