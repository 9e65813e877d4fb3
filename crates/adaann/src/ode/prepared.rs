//! Routines made ready: with their tables, and one for each pattern of measurements.

use super::observations::Observations;
use super::step;
use crate::batch::PAD;
use crate::program::{Block, Room, Routine, Tables};
use crate::simd::Buffer;
use fearless_simd::Simd;

/// Blocks of samples, aligned.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(Buffer);

impl Rows {
    pub(super) fn zeros(rows: usize) -> Self {
        Self(Buffer::zeros(rows * PAD))
    }

    /// Makes room for at least so many rows and keeps what is there.
    pub(super) fn grow(&mut self, rows: usize) {
        self.0.grow(rows * PAD);
    }
}

impl std::ops::Deref for Rows {
    type Target = [Block];
    #[inline]
    fn deref(&self) -> &[Block] {
        self.0.as_chunks().0
    }
}

impl std::ops::DerefMut for Rows {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.as_chunks_mut().0
    }
}

/// A routine with the tables for every setting that it runs in.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) routine: Routine,
    tables: Tables,
}

impl Prepared {
    pub(super) fn new(recorded: step::Recorded, inputs: usize, settings: &[Vec<f64>]) -> Self {
        Self::with(Routine::new(&recorded.0, inputs, &recorded.1), settings)
    }

    /// A routine whose results are its inputs from `first` on when it runs again.
    pub(super) fn feeding_back(
        recorded: step::Recorded,
        inputs: usize,
        first: usize,
        settings: &[Vec<f64>],
    ) -> Self {
        Self::with(Routine::feeding_back(&recorded.0, inputs, &recorded.1, first), settings)
    }

    fn with(routine: Routine, settings: &[Vec<f64>]) -> Self {
        let tables = routine.tables(settings.iter().map(Vec::as_slice));
        Self { routine, tables }
    }

    /// A routine without uniforms.
    pub(super) fn plain(recorded: step::Recorded, inputs: usize) -> Self {
        Self::new(recorded, inputs, &[Vec::new()])
    }

    /// Runs with the inputs that are in the room.
    #[inline(always)]
    pub(super) fn run<S: Simd>(&self, simd: S, room: &mut Room, setting: usize) {
        self.routine.run(simd, room, &self.tables, setting);
    }

    /// From inputs elsewhere to outputs elsewhere.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        room: &mut Room,
        setting: usize,
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        self.routine.load(room, inputs);
        self.run(simd, room, setting);
        for (row, output) in outputs.iter_mut().enumerate() {
            *output = *self.routine.output(room, row);
        }
    }
}

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
        record: impl Fn(&[bool]) -> step::Recorded,
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
            Prepared::new(record(present), inputs, settings)
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
