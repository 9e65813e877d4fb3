//! The inverse of a planar stack: one monotone equation in one unknown for each layer.
//!
//! With y = z + û h(a), the projection a = w·z + b solves a + (c − 1) h(a) = w·y + b, whose left
//! side has slope (1 − h') + c h' > 0. Newton's method runs inside a bracket that |h| <= 1 gives,
//! and halves the bracket whenever a step leaves it or does not help.

use super::{activation::Curve, kernel::record_len};
use crate::{
    Batch,
    simd::{F64, Kernel, Lane, Math},
};
use fearless_simd::Simd;
use std::marker::PhantomData;

/// Halving alone brings any bracket of doubles down to neighbours in fewer steps than this.
const MAX_ITERATIONS: usize = 128;

/// Takes points back through all layers and adds the log-determinants of the way forward.
pub(super) struct Inverse<'a, A> {
    pub(super) records: &'a [f64],
    /// In: the image; out: the base points.
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
    pub(super) activation: PhantomData<A>,
}

impl<A: Curve> Kernel for Inverse<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let dim = self.z.dim();
        let lanes = <F64<S> as Lane<S>>::LEN;
        for at in (0..self.z.len()).step_by(lanes) {
            let mut log_det = F64::load(simd, &self.log_det[at..]);
            for record in self.records.chunks_exact(record_len(dim)).rev() {
                let (w, u) = record[..2 * dim].split_at(dim);
                let c = F64::splat(simd, record[2 * dim + 1]);
                let mut level = F64::splat(simd, record[2 * dim]);
                for d in 0..dim {
                    level = F64::splat(simd, w[d])
                        .mul_add(F64::load(simd, &self.z.padded_row(d)[at..]), level);
                }
                let h = A::value(solve::<S, A>(c, level));
                for d in 0..dim {
                    let row = &mut self.z.padded_row_mut(d)[at..];
                    F64::splat(simd, u[d]).neg_mul_add(h, F64::load(simd, row)).store(row);
                }
                let slope = A::slope(h);
                log_det = log_det + c.mul_add(slope, F64::splat(simd, 1.0) - slope).ln();
            }
            log_det.store(&mut self.log_det[at..]);
        }
    }
}

/// a with a + (c − 1) h(a) = level
#[inline(always)]
fn solve<S: Simd, A: Curve>(c: F64<S>, level: F64<S>) -> F64<S> {
    let simd = c.token();
    let (zero, half, one) = (F64::splat(simd, 0.0), F64::splat(simd, 0.5), F64::splat(simd, 1.0));
    let tolerance = F64::splat(simd, 4.0 * f64::EPSILON);
    let k = c - one;
    let mut low = level - k.abs();
    let mut high = level + k.abs();
    let mut a = level;
    let mut last_width = high - low;
    // NaN and infinity have no solution to find.
    let mut open = level.is_finite();
    for _ in 0..MAX_ITERATIONS {
        let h = A::value(a);
        let slope = A::slope(h);
        let residual = k.mul_add(h, a - level);
        let below = residual.lt(zero);
        low = F64::select(below, a, low);
        high = F64::select(below, high, a);
        let newton = a - residual / c.mul_add(slope, one - slope);
        let middle = half * (low + high);
        // A Newton step is taken if it stays inside and is at most half of the step before.
        let helps = low.le(newton) & newton.le(high) & (newton - a).abs().le(half * last_width);
        let next = F64::select(helps, newton, middle);
        let next = F64::select(residual.eq(zero), a, next);
        last_width = (next - a).abs();
        // Relative, since a steep layer magnifies what is left.
        let done = last_width.le(tolerance * a.abs());
        // A lane that is done stays where it is: its result must not depend on its neighbours.
        a = F64::select(open, next, a);
        open &= !done;
        if !F64::<S>::any(open) {
            break;
        }
    }
    a
}
