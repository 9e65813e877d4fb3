//! Maps raw parameters to the kernels' records, and applies the chain rule back, for all layers at
//! once.
//!
//! All rows hold one number per layer, padded to whole registers, so that fifty exponentials cost
//! as much as a dozen scalar ones.

use super::kernel::record_len;
use crate::{
    batch::padded,
    flow::positive::{excess, positive, slope},
    simd::{F64, Kernel, Lane},
};
use fearless_simd::Simd;

/// Rows stored between [`Prepare`] and [`Gradient`]: w, u, b, c, shift = (c − 1 − w·u)/|w|²,
/// dc/d(w·u), 1/|w|²; then rows for the cotangents of w, û, b, c.
struct Rows {
    dim: usize,
    stride: usize,
}

impl Rows {
    fn new(dim: usize, layers: usize) -> Self {
        Self { dim, stride: padded(layers) }
    }
    const fn count(dim: usize) -> usize {
        (2 * dim + 5) + record_len(dim)
    }
    #[inline(always)]
    fn at(&self, row: usize, layer: usize) -> usize {
        row * self.stride + layer
    }
    #[inline(always)]
    fn w(&self, d: usize) -> usize {
        d
    }
    #[inline(always)]
    fn u(&self, d: usize) -> usize {
        self.dim + d
    }
    #[inline(always)]
    fn b(&self) -> usize {
        2 * self.dim
    }
    #[inline(always)]
    fn c(&self) -> usize {
        2 * self.dim + 1
    }
    #[inline(always)]
    fn shift(&self) -> usize {
        2 * self.dim + 2
    }
    #[inline(always)]
    fn slope(&self) -> usize {
        2 * self.dim + 3
    }
    #[inline(always)]
    fn per_norm(&self) -> usize {
        2 * self.dim + 4
    }
    /// The cotangent of number `i` of a record.
    #[inline(always)]
    fn cotangent(&self, i: usize) -> usize {
        2 * self.dim + 5 + i
    }
}

/// Number of doubles that [`Prepare`] leaves for [`Gradient`].
pub(super) fn scratch_len(dim: usize, layers: usize) -> usize {
    Rows::count(dim) * padded(layers)
}

/// Fills the records from the raw parameters (w by coordinate, u by coordinate, b).
pub(super) struct Prepare<'a> {
    pub(super) dim: usize,
    pub(super) layers: usize,
    /// Lower bound of c: keeps a layer from being singular, so that its determinant does not
    /// underflow.
    pub(super) smallest_c: f64,
    pub(super) parameters: &'a [f64],
    pub(super) records: &'a mut [f64],
    pub(super) scratch: &'a mut [f64],
}

impl Kernel for Prepare<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (dim, layers) = (self.dim, self.layers);
        let rows = Rows::new(dim, layers);
        for row in 0..2 * dim + 1 {
            let raw = &self.parameters[row * layers..][..layers];
            self.scratch[rows.at(row, 0)..][..layers].copy_from_slice(raw);
        }
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let smallest = F64::splat(simd, f64::MIN_POSITIVE);
        for l in (0..layers).step_by(<F64<S> as Lane<S>>::LEN) {
            let mut wu = zero;
            let mut norm = zero;
            for d in 0..dim {
                let w = F64::load(simd, &self.scratch[rows.at(rows.w(d), l)..]);
                let u = F64::load(simd, &self.scratch[rows.at(rows.u(d), l)..]);
                wu = w.mul_add(u, wu);
                norm = w.mul_add(w, norm);
            }
            // With w = 0 the layer moves all points equally: û = u, and c stays at 1.
            let per_norm = F64::select(norm.lt(smallest), zero, one / norm);
            let c = positive(wu).max(F64::splat(simd, self.smallest_c));
            (excess(wu, c) * per_norm).store(&mut self.scratch[rows.at(rows.shift(), l)..]);
            c.store(&mut self.scratch[rows.at(rows.c(), l)..]);
            slope(c).store(&mut self.scratch[rows.at(rows.slope(), l)..]);
            per_norm.store(&mut self.scratch[rows.at(rows.per_norm(), l)..]);
        }
        let scratch = &*self.scratch;
        for (l, record) in self.records.chunks_exact_mut(record_len(dim)).enumerate() {
            let shift = scratch[rows.at(rows.shift(), l)];
            for d in 0..dim {
                let w = scratch[rows.at(rows.w(d), l)];
                record[d] = w;
                record[dim + d] = shift * w + scratch[rows.at(rows.u(d), l)];
            }
            record[2 * dim] = scratch[rows.at(rows.b(), l)];
            record[2 * dim + 1] = scratch[rows.at(rows.c(), l)];
        }
    }
}

/// Adds the gradient in the raw parameters, given the gradients of w, û, b and c summed over the
/// points.
///
/// With x = w·u, shift s = (c − 1 − x)/|w|² and X = (ĝ_u·w)(c' − 1)/|w|² + g_c c':
/// g_u = ĝ_u + X w and g_w = ĝ_w + s ĝ_u + X u − 2 s (ĝ_u·w) w/|w|².
pub(super) struct Gradient<'a> {
    pub(super) dim: usize,
    pub(super) layers: usize,
    pub(super) scratch: &'a mut [f64],
    /// Doubles per register of sums.
    pub(super) sum_lanes: usize,
    pub(super) sums: &'a [f64],
    pub(super) gradient: &'a mut [f64],
}

impl Kernel for Gradient<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (dim, layers) = (self.dim, self.layers);
        let rows = Rows::new(dim, layers);
        for (l, sums) in self.sums.chunks_exact(self.sum_lanes * record_len(dim)).enumerate() {
            for (number, register) in sums.chunks_exact(self.sum_lanes).enumerate() {
                let mut sum = F64::load(simd, register);
                for half in register.chunks_exact(<F64<S> as Lane<S>>::LEN).skip(1) {
                    sum = sum + F64::load(simd, half);
                }
                self.scratch[rows.at(rows.cotangent(number), l)] = sum.add_lanes();
            }
        }
        let (one, two) = (F64::splat(simd, 1.0), F64::splat(simd, 2.0));
        for l in (0..layers).step_by(<F64<S> as Lane<S>>::LEN) {
            let scratch = &mut *self.scratch;
            macro_rules! row {
                ($row:expr) => {
                    F64::load(simd, &scratch[rows.at($row, l)..])
                };
            }
            let mut along = F64::splat(simd, 0.0);
            for d in 0..dim {
                along = row!(rows.cotangent(dim + d)).mul_add(row!(rows.w(d)), along);
            }
            let (shift, slope, per_norm) =
                (row!(rows.shift()), row!(rows.slope()), row!(rows.per_norm()));
            let g_c = row!(rows.cotangent(2 * dim + 1));
            let x = (along * per_norm).mul_add(slope - one, g_c * slope);
            for d in 0..dim {
                let (w, u) = (row!(rows.w(d)), row!(rows.u(d)));
                let (g_w, g_u) = (row!(rows.cotangent(d)), row!(rows.cotangent(dim + d)));
                let g_w = shift.mul_add(g_u, x.mul_add(u, g_w));
                let g_w = (two * shift * along * per_norm).neg_mul_add(w, g_w);
                let g_u = x.mul_add(w, g_u);
                g_w.store(&mut scratch[rows.at(rows.cotangent(d), l)..]);
                g_u.store(&mut scratch[rows.at(rows.cotangent(dim + d), l)..]);
            }
        }
        for row in 0..2 * dim + 1 {
            let total = &self.scratch[rows.at(rows.cotangent(row), 0)..][..layers];
            self.gradient[row * layers..][..layers].copy_from_slice(total);
        }
    }
}
