//! Products and solves with triangular matrices, a group of points at a time.

use super::points::{InBatch, Points, for_groups};
use crate::{
    Batch,
    simd::{F64, Kernel, Lane},
};
use fearless_simd::Simd;

/// Number of entries off the diagonal.
pub(super) const fn packed_len(dim: usize) -> usize {
    dim * (dim - 1) / 2
}

/// The index of an off-diagonal entry. Lower triangles are packed by rows and upper ones by columns,
/// so that a triangle and its transpose store the same numbers.
#[inline(always)]
const fn packed(i: usize, j: usize) -> usize {
    let (small, large) = if i < j { (i, j) } else { (j, i) };
    large * (large - 1) / 2 + small
}

/// A triangular matrix.
#[derive(Clone, Copy)]
pub(super) struct Triangle<'a> {
    pub(super) upper: bool,
    /// The entries off the diagonal.
    pub(super) entries: &'a [f64],
    /// The diagonal and its reciprocals; `None` for a diagonal of ones.
    pub(super) diagonal: Option<[&'a [f64]; 2]>,
}

impl Triangle<'_> {
    pub(super) fn transposed(self) -> Self {
        Self { upper: !self.upper, ..self }
    }

    /// The off-diagonal columns with entries in row `i`.
    #[inline(always)]
    fn columns(&self, dim: usize, i: usize) -> (usize, usize) {
        if self.upper { (i + 1, dim) } else { (0, i) }
    }
}

/// z ← T z for every point.
pub(super) struct Multiply<'a> {
    pub(super) triangle: Triangle<'a>,
    pub(super) z: &'a mut Batch,
}

impl Kernel for Multiply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for_groups!(self.z.len(), <F64<S> as Lane<S>>::LEN, |at, R| self.group::<S, R>(simd, at));
    }
}

impl Multiply<'_> {
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, simd: S, at: usize) {
        let dim = self.z.dim();
        let mut z = InBatch { simd, batch: self.z, at };
        for step in 0..dim {
            // A row reads the rows not yet overwritten.
            let i = if self.triangle.upper { step } else { dim - 1 - step };
            let mut sum: [F64<S>; R] = z.get(i);
            if let Some([diagonal, _]) = self.triangle.diagonal {
                let entry = F64::splat(simd, diagonal[i]);
                for r in 0..R {
                    sum[r] = entry * sum[r];
                }
            }
            let (first, end) = self.triangle.columns(dim, i);
            for j in first..end {
                let entry = F64::splat(simd, self.triangle.entries[packed(i, j)]);
                let other: [F64<S>; R] = z.get(j);
                for r in 0..R {
                    sum[r] = entry.mul_add(other[r], sum[r]);
                }
            }
            z.set(i, sum);
        }
    }
}

/// z ← T⁻¹ z for every point.
pub(super) struct Solve<'a> {
    pub(super) triangle: Triangle<'a>,
    pub(super) z: &'a mut Batch,
}

impl Kernel for Solve<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for_groups!(self.z.len(), <F64<S> as Lane<S>>::LEN, |at, R| self.group::<S, R>(simd, at));
    }
}

impl Solve<'_> {
    #[inline(always)]
    fn group<S: Simd, const R: usize>(&mut self, simd: S, at: usize) {
        let dim = self.z.dim();
        let mut z = InBatch { simd, batch: self.z, at };
        for step in 0..dim {
            // A row reads the rows already solved.
            let i = if self.triangle.upper { dim - 1 - step } else { step };
            let mut rest: [F64<S>; R] = z.get(i);
            let (first, end) = self.triangle.columns(dim, i);
            for j in first..end {
                let entry = F64::splat(simd, self.triangle.entries[packed(i, j)]);
                let other: [F64<S>; R] = z.get(j);
                for r in 0..R {
                    rest[r] = entry.neg_mul_add(other[r], rest[r]);
                }
            }
            if let Some([_, per_diagonal]) = self.triangle.diagonal {
                let entry = F64::splat(simd, per_diagonal[i]);
                for r in 0..R {
                    rest[r] = entry * rest[r];
                }
            }
            z.set(i, rest);
        }
    }
}

/// Adds `sign` times g_i z_j, summed over the points, to one register per entry of a triangle: the
/// gradient of the entries when g is the cotangent of T z.
pub(super) struct Outer<'a> {
    pub(super) upper: bool,
    pub(super) sign: f64,
    pub(super) z: &'a Batch,
    pub(super) g: &'a Batch,
    /// Registers of the entries off the diagonal.
    pub(super) entries: &'a mut [f64],
    /// Registers of the diagonal, unless it is a diagonal of ones.
    pub(super) diagonal: Option<&'a mut [f64]>,
}

impl Kernel for Outer<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let lanes = <F64<S> as Lane<S>>::LEN;
        let sign = F64::splat(simd, self.sign);
        let len = self.z.len();
        for large in 0..self.z.dim() {
            for small in 0..large {
                let (i, j) = if self.upper { (small, large) } else { (large, small) };
                let sum = dot(simd, self.g.padded_row(i), self.z.padded_row(j), len);
                (sign * sum).accumulate_f64(&mut self.entries[packed(i, j) * lanes..]);
            }
            if let Some(diagonal) = &mut self.diagonal {
                let sum = dot(simd, self.g.padded_row(large), self.z.padded_row(large), len);
                (sign * sum).accumulate_f64(&mut diagonal[large * lanes..]);
            }
        }
    }
}

/// The products of two rows, summed lane by lane.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64], len: usize) -> F64<S> {
    let mut sum = F64::splat(simd, 0.0);
    for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
        sum = F64::load(simd, &a[at..]).mul_add(F64::load(simd, &b[at..]), sum);
    }
    sum
}
