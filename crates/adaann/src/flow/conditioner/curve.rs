//! Increasing curves of one coordinate, parametrised by the outputs of a conditioner.

use super::outputs::Setting;
use crate::{net::Row, simd::F64};
use fearless_simd::Simd;

/// A family of increasing curves y = τ(x) of R onto R. With all outputs at 0 it is the identity.
///
/// All methods work on a register of points and must be `#[inline(always)]`.
pub(in crate::flow) trait Curve: Send + Sync + std::fmt::Debug {
    /// Number of conditioner outputs that parametrise the curve.
    fn outputs(&self) -> usize;

    /// Replaces the conditioner's raw outputs with the numbers that the other methods read.
    fn settle<S: Simd>(&self, simd: S, outputs: &mut Setting<&mut [Row]>);

    /// τ(x) and log τ'(x).
    fn apply<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, x: F64<S>) -> (F64<S>, F64<S>);

    /// x with τ(x) = y, and log τ'(x).
    fn solve<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, y: F64<S>) -> (F64<S>, F64<S>);

    /// Pulls the cotangents of τ(x) and log τ'(x) back to x (returned) and to the raw outputs.
    fn pull_back<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_y: F64<S>,
        g_log_slope: F64<S>,
        g_outputs: &mut Setting<&mut [Row]>,
    ) -> F64<S>;

    /// (g + k ∂ log τ'/∂x)/τ': the cotangent of y, given the cotangents g of x and k of log τ'.
    fn push<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_x: F64<S>,
        g_log_slope: F64<S>,
    ) -> F64<S>;
}
