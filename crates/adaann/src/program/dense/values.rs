//! The operands and results of dense routines.

use crate::batch::Block;
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Marks a result that nothing reads.
pub(in crate::program) const UNREAD: u32 = u32::MAX;

/// The number of elements in a triangle.
pub(crate) const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// The index of an element in a triangle.
pub(crate) const fn in_triangle(row: usize, column: usize) -> usize {
    triangle(row) + column
}

/// Operands and results, by their slots.
pub(in crate::program) struct Values<'a> {
    pub(in crate::program) slots: &'a mut [Block],
    /// The number of samples to compute in a block, in whole registers.
    pub(in crate::program) samples: usize,
    pub(in crate::program) inputs: &'a [u32],
    pub(in crate::program) outputs: &'a [u32],
}

impl Values<'_> {
    /// Operand number `input` of the samples from `at` on.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, input: usize, at: usize) -> F64<S> {
        F64::load(simd, &self.slots[self.inputs[input] as usize][at..])
    }

    /// Writes result number `output` of the samples from `at` on, if anything reads it.
    #[inline(always)]
    pub(super) fn store<S: Simd>(&mut self, output: usize, at: usize, value: F64<S>) {
        let place = self.outputs[output];
        if place != UNREAD {
            value.store(&mut self.slots[place as usize][at..]);
        }
    }

    /// Whether anything reads a result from this one on.
    pub(super) fn reads_from(&self, first: usize) -> bool {
        self.outputs[first..].iter().any(|&place| place != UNREAD)
    }
}
