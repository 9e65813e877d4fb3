//! Increasing curves of one coordinate, set by the outputs of a conditioner.

use super::outputs::Setting;
use crate::{net::Row, simd::F64};
use fearless_simd::Simd;

/// A family of increasing curves y = τ(x) of R onto R. With all outputs at 0 it is
/// y = x.
///
/// All methods work on a register of points and must be `#[inline(always)]`.
pub(in crate::flow) trait Curve: Send + Sync + std::fmt::Debug {
    /// How many outputs of a conditioner set it.
    fn outputs(&self) -> usize;

    /// Replaces raw outputs, as a conditioner makes them, by what the other methods read.
    fn settle<S: Simd>(&self, simd: S, outputs: &mut Setting<&mut [Row]>);

    /// τ(x) and log τ'(x).
    fn apply<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, x: F64<S>) -> (F64<S>, F64<S>);

    /// x with τ(x) = y, and log τ'(x).
    fn solve<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, y: F64<S>) -> (F64<S>, F64<S>);

    /// From the cotangents of τ(x) and log τ'(x) to those of x, returned, and of the raw outputs.
    fn pull_back<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_y: F64<S>,
        g_log_slope: F64<S>,
        g_outputs: &mut Setting<&mut [Row]>,
    ) -> F64<S>;

    /// (g + k ∂ log τ'/∂x)/τ', which the cotangents g of x and k of log τ' give for y.
    fn push<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_x: F64<S>,
        g_log_slope: F64<S>,
    ) -> F64<S>;
}
