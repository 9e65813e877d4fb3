//! The layout of a conditioner's outputs.

use crate::{
    net::Row,
    simd::{F64, Lane},
};
use fearless_simd::Simd;

/// The rows of a record that hold the outputs: output p of moved coordinate i is row `starts[p] + i
/// * stride`.
#[derive(Debug, Clone)]
pub(super) struct Outputs {
    pub(super) starts: Vec<usize>,
    pub(super) stride: usize,
}

/// The outputs of one coordinate at a register of points.
pub(in crate::flow) struct Setting<'a, R> {
    pub(super) record: R,
    pub(super) outputs: &'a Outputs,
    /// The index of the coordinate among those moved.
    pub(super) moved: usize,
    /// First point of the register.
    pub(super) at: usize,
}

impl<R: std::ops::Deref<Target = [Row]>> Setting<'_, R> {
    #[inline(always)]
    pub(super) fn get<S: Simd>(&self, simd: S, output: usize) -> F64<S> {
        let row = self.outputs.starts[output] + self.moved * self.outputs.stride;
        F64::load(simd, &self.record[row][self.at..])
    }
}

impl Setting<'_, &mut [Row]> {
    #[inline(always)]
    pub(super) fn set<S: Simd>(&mut self, output: usize, value: F64<S>) {
        let row = self.outputs.starts[output] + self.moved * self.outputs.stride;
        value.store(&mut self.record[row][self.at..]);
    }
}
