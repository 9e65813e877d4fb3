//! One routine for each pattern of measurements.

use super::measured::Measured;
use crate::program::{Block, Prepared, Recorded, Room};
use fearless_simd::Simd;

/// One routine for each log density that [`Measured`] has.
#[derive(Debug)]
pub(crate) struct Patterns {
    routines: Vec<Prepared>,
    /// Routine and setting of each time.
    of: Vec<(usize, usize)>,
}

impl Patterns {
    pub(super) fn new(
        measured: &Measured,
        inputs: usize,
        record: impl Fn(usize) -> Recorded,
    ) -> Self {
        let mut settings: Vec<Vec<&[f64]>> = vec![Vec::new(); measured.patterns.len()];
        let mut of = Vec::with_capacity(measured.of.len());
        for (pattern, uniforms) in &measured.of {
            of.push((*pattern, settings[*pattern].len()));
            settings[*pattern].push(uniforms);
        }
        let prepare = |(pattern, settings)| Prepared::new(record(pattern), inputs, settings);
        Self { routines: settings.into_iter().enumerate().map(prepare).collect(), of }
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
