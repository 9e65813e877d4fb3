//! Compiled routines, with the tables for every setting of their uniforms.

use super::graph::Graph;
use super::op::Node;
use super::routine::{Room, Routine, Tables};
use super::run::Block;
use crate::batch::PAD;
use crate::simd::Buffer;
use fearless_simd::Simd;

/// A graph with its outputs.
pub(crate) type Recorded = (Graph, Vec<Node>);

/// Blocks of samples, aligned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows(Buffer);

impl Rows {
    pub(crate) fn zeros(rows: usize) -> Self {
        Self(Buffer::zeros(rows * PAD))
    }

    /// Grows to at least this many rows and preserves the contents.
    pub(crate) fn grow(&mut self, rows: usize) {
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

/// A routine with the tables for every setting of its uniforms.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) routine: Routine,
    tables: Tables,
}

impl Prepared {
    pub(crate) fn new<'u>(
        recorded: Recorded,
        inputs: usize,
        settings: impl IntoIterator<Item = &'u [f64]>,
    ) -> Self {
        Self::with(Routine::new(&recorded.0, inputs, &recorded.1), settings)
    }

    /// A routine whose results become its inputs from `first` on when it runs again.
    pub(crate) fn feeding_back<'u>(
        recorded: Recorded,
        inputs: usize,
        first: usize,
        settings: impl IntoIterator<Item = &'u [f64]>,
    ) -> Self {
        Self::with(Routine::feeding_back(&recorded.0, inputs, &recorded.1, first), settings)
    }

    fn with<'u>(routine: Routine, settings: impl IntoIterator<Item = &'u [f64]>) -> Self {
        let tables = routine.tables(settings);
        Self { routine, tables }
    }

    /// A routine without uniforms.
    pub(crate) fn plain(recorded: Recorded, inputs: usize) -> Self {
        Self::new(recorded, inputs, [&[][..]])
    }

    /// Runs with the inputs in the room.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(&self, simd: S, room: &mut Room, setting: usize) {
        self.routine.run(simd, room, &self.tables, setting);
    }

    /// Reads the inputs from one buffer and writes the outputs to another.
    #[inline(always)]
    pub(crate) fn apply<S: Simd>(
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
