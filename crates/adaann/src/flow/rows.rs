//! Sums over a row of points, and a number added to a whole row.

use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Adds a number to every entry.
pub(super) fn add_to_all(number: f64, row: &mut [f64]) {
    for x in row {
        *x += number;
    }
}

/// Sums the numbers of `len` points lane by lane; the padding of the row must be zero.
#[inline(always)]
pub(super) fn add_up<S: Simd>(simd: S, row: &[f64], len: usize) -> F64<S> {
    let mut sum = F64::splat(simd, 0.0);
    for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
        sum = sum + F64::load(simd, &row[at..]);
    }
    sum
}
