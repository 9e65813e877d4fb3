//! Increasing curves of one coordinate, with knobs.

use super::pass::Setting;
use crate::{net::Row, simd::F64};
use fearless_simd::Simd;

/// A family of increasing curves y = τ(x) of R onto R. With all knobs at 0 it is y = x.
///
/// All methods work on a register of points and must be `#[inline(always)]`.
pub(in crate::flow) trait Curve: Send + Sync + std::fmt::Debug {
    /// How many knobs it has.
    fn knobs(&self) -> usize;

    /// Replaces raw knobs, as a network makes them, by what the other methods read.
    fn settle<S: Simd>(&self, simd: S, knobs: &mut Setting<&mut [Row]>);

    /// τ(x) and log τ'(x).
    fn apply<S: Simd>(&self, simd: S, knobs: &Setting<&[Row]>, x: F64<S>) -> (F64<S>, F64<S>);

    /// x with τ(x) = y, and log τ'(x).
    fn solve<S: Simd>(&self, simd: S, knobs: &Setting<&[Row]>, y: F64<S>) -> (F64<S>, F64<S>);

    /// From the cotangents of τ(x) and log τ'(x) to those of x, returned, and of the raw knobs.
    fn pull_back<S: Simd>(
        &self,
        simd: S,
        knobs: &Setting<&[Row]>,
        x: F64<S>,
        g_y: F64<S>,
        g_log_slope: F64<S>,
        g_knobs: &mut Setting<&mut [Row]>,
    ) -> F64<S>;

    /// (g + k ∂ log τ'/∂x)/τ', which the cotangents g of x and k of log τ' give for y.
    fn push<S: Simd>(
        &self,
        simd: S,
        knobs: &Setting<&[Row]>,
        x: F64<S>,
        g_x: F64<S>,
        g_log_slope: F64<S>,
    ) -> F64<S>;
}
