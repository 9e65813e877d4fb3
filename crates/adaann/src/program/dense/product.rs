//! A lower-triangular matrix times a vector, and its slopes.

use super::values::{Values, in_triangle, triangle};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// y_i = Σ_{j ≤ i} L_ij x_j
#[inline(always)]
pub(super) fn forward<S: Simd>(simd: S, n: usize, mut values: Values<'_>) {
    for at in (0..values.samples).step_by(F64::<S>::LEN) {
        for i in 0..n {
            let mut sum = F64::<S>::splat(simd, 0.0);
            for j in 0..i + 1 {
                let x = values.load(simd, triangle(n) + j, at);
                sum = values.load(simd, in_triangle(i, j), at).mul_add(x, sum);
            }
            values.store(i, at, sum);
        }
    }
}

/// Slopes ȳ_i x_j in L_ij, and Σ_{i ≥ j} L_ij ȳ_i in x_j.
#[inline(always)]
pub(super) fn backward<S: Simd>(simd: S, n: usize, mut values: Values<'_>) {
    let (first_x, first_slope) = (triangle(n), triangle(n) + n);
    for at in (0..values.samples).step_by(F64::<S>::LEN) {
        for j in 0..n {
            let x = values.load(simd, first_x + j, at);
            let mut sum = F64::<S>::splat(simd, 0.0);
            for i in j..n {
                let slope = values.load(simd, first_slope + i, at);
                sum = values.load(simd, in_triangle(i, j), at).mul_add(slope, sum);
                values.store(in_triangle(i, j), at, slope * x);
            }
            values.store(triangle(n) + j, at, sum);
        }
    }
}
