//! Polynomials over lanes, and rounding to the nearest integer.

use super::{Lane, tables::Tables};
use fearless_simd::Simd;

/// Σ cⱼ xʲ by Horner's rule: the fewest multiplications.
#[inline(always)]
pub(in crate::simd) fn horner<S: Simd, V: Lane<S>>(x: V, coefficients: &[f64]) -> V {
    strided(x, coefficients, 1)
}

/// Σ cⱼ xʲ as a polynomial in x² plus x times another: half the latency of [`horner`] for one more
/// multiplication, x².
#[inline(always)]
pub(super) fn even_odd<S: Simd, V: Lane<S>>(x: V, square: V, coefficients: &[f64]) -> V {
    let odd = strided(square, &coefficients[1..], 2);
    odd.mul_add(x, strided(square, coefficients, 2))
}

/// Horner's rule over every `step`-th coefficient.
#[inline(always)]
fn strided<S: Simd, V: Lane<S>>(x: V, coefficients: &[f64], step: usize) -> V {
    let simd = x.token();
    let mut j = (coefficients.len() - 1) / step * step;
    let mut sum = V::splat(simd, coefficients[j]);
    while j > 0 {
        j -= step;
        sum = sum.mul_add(x, V::splat(simd, coefficients[j]));
    }
    sum
}

/// The integer nearest to x · factor, ties to even, for results far below 2^[`Lane::SIGNIFICAND_BITS`].
///
/// Adding 1.5·2^52 (2^23) leaves no bits for a fraction: two additions on every instruction set,
/// since SSE2 has no rounding instruction.
#[inline(always)]
pub(super) fn nearest<S: Simd, V: Lane<S> + Tables>(x: V, factor: f64) -> V {
    let simd = x.token();
    let shift = V::splat(simd, V::ROUNDER);
    x.mul_add(V::splat(simd, factor), shift) - shift
}
