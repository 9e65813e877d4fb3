//! One component's triangular systems for a group of points, and the gradients of its parameters.

use super::group::{Group, REGISTERS, width};
use crate::{
    Batch,
    flow::base::mixture::parameters::{Mixture, below_len},
    simd::{F64, Lane},
};
use fearless_simd::Simd;

/// The entries of row i to the left of the diagonal.
#[inline(always)]
pub(in crate::flow::base::mixture) fn row_below(below: &[f64], i: usize) -> &[f64] {
    &below[i * i.saturating_sub(1) / 2..][..i]
}

/// The mutable version.
#[inline(always)]
pub(in crate::flow::base::mixture) fn row_below_mut(below: &mut [f64], i: usize) -> &mut [f64] {
    &mut below[i * i.saturating_sub(1) / 2..][..i]
}

/// The inputs of a component's kernels.
pub(super) struct Component<'a> {
    index: usize,
    mean: &'a [f64],
    inverse_scale: &'a [f64],
    below: &'a [f64],
}

impl<'a> Component<'a> {
    #[inline(always)]
    pub(super) fn new(mixture: &'a Mixture, index: usize) -> Self {
        let dim = mixture.dim();
        let (own, len) = (index * dim, below_len(dim));
        Self {
            index,
            mean: &mixture.mean[own..own + dim],
            inverse_scale: &mixture.derived.inverse_scale[own..own + dim],
            below: &mixture.below[index * len..(index + 1) * len],
        }
    }

    /// e ← L⁻¹(z − μ) for the group of points that starts at `at`. Returns |e|².
    #[inline(always)]
    pub(super) fn solve<S: Simd>(&self, simd: S, z: &Batch, at: usize, e: &mut [f64]) -> Group<S> {
        let (lanes, width) = (<F64<S> as Lane<S>>::LEN, width::<S>());
        let mut square = [F64::splat(simd, 0.0); REGISTERS];
        for i in 0..self.mean.len() {
            let (known, own) = e.split_at_mut(i * width);
            let (z, mean) = (&z.padded_row(i)[at..at + width], F64::splat(simd, self.mean[i]));
            let mut rest = square;
            for r in 0..REGISTERS {
                rest[r] = F64::load(simd, &z[r * lanes..]) - mean;
            }
            let row = row_below(self.below, i);
            for j in 0..i {
                let (entry, known) = (F64::splat(simd, row[j]), &known[j * width..][..width]);
                for r in 0..REGISTERS {
                    rest[r] = entry.neg_mul_add(F64::load(simd, &known[r * lanes..]), rest[r]);
                }
            }
            let inverse_scale = F64::splat(simd, self.inverse_scale[i]);
            for r in 0..REGISTERS {
                let e = rest[r] * inverse_scale;
                e.store(&mut own[r * lanes..]);
                square[r] = e.mul_add(e, square[r]);
            }
        }
        square
    }

    /// x ← L⁻ᵀ x
    #[inline(always)]
    pub(super) fn solve_transposed<S: Simd>(&self, simd: S, x: &mut [f64]) {
        let (lanes, width) = (<F64<S> as Lane<S>>::LEN, width::<S>());
        let dim = self.mean.len();
        for i in (0..dim).rev() {
            let (own, known) = x[i * width..dim * width].split_at_mut(width);
            let mut rest = [F64::splat(simd, 0.0); REGISTERS];
            for r in 0..REGISTERS {
                rest[r] = F64::load(simd, &own[r * lanes..]);
            }
            for m in i + 1..dim {
                let known = &known[(m - i - 1) * width..][..width];
                let entry = F64::splat(simd, row_below(self.below, m)[i]);
                for r in 0..REGISTERS {
                    rest[r] = entry.neg_mul_add(F64::load(simd, &known[r * lanes..]), rest[r]);
                }
            }
            let inverse_scale = F64::splat(simd, self.inverse_scale[i]);
            for r in 0..REGISTERS {
                (rest[r] * inverse_scale).store(&mut own[r * lanes..]);
            }
        }
    }

    /// Adds a group's contribution to the sums that follow those of the logits. `x` is already
    /// multiplied by the points' shares, which add up to `total`.
    #[inline(always)]
    pub(super) fn add_sums<S: Simd>(
        &self,
        simd: S,
        mixture: &Mixture,
        e: &[f64],
        x: &[f64],
        total: f64,
        sums: &mut [f64],
    ) {
        let (lanes, width) = (<F64<S> as Lane<S>>::LEN, width::<S>());
        let (dim, len) = (self.mean.len(), self.below.len());
        let (g_mean, rest) = sums.split_at_mut(mixture.mean.len());
        let (g_log_scale, g_below) = rest.split_at_mut(mixture.log_scale.len());
        let g_below = &mut g_below[self.index * len..(self.index + 1) * len];
        for i in 0..dim {
            let mut x_i = [F64::splat(simd, 0.0); REGISTERS];
            let mut sum = x_i[0];
            for r in 0..REGISTERS {
                x_i[r] = F64::load(simd, &x[i * width + r * lanes..]);
                sum = sum + x_i[r];
            }
            let entry = self.index * dim + i;
            g_mean[entry] += sum.add_lanes();
            let row = row_below_mut(g_below, i);
            for j in 0..=i {
                let e = &e[j * width..][..width];
                let mut sum = x_i[0] * F64::load(simd, e);
                for r in 1..REGISTERS {
                    sum = x_i[r].mul_add(F64::load(simd, &e[r * lanes..]), sum);
                }
                if j < i {
                    row[j] += sum.add_lanes();
                } else {
                    g_log_scale[entry] += sum.add_lanes() * mixture.derived.scale[entry] - total;
                }
            }
        }
    }
}
