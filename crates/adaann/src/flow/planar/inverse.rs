//! The inverse of a planar stack: one monotone equation in one unknown per layer.
//!
//! With y = z + û h(a), the projection a = w·z + b solves a + (c − 1) h(a) = w·y + b, whose left
//! side has slope (1 − h') + c h' > 0. Newton's method runs inside the bracket that |h| <= 1
//! implies, and bisects it whenever a step leaves the bracket or does not help.

use super::{
    activation::Curve,
    kernel::{Layer, Projection, determinant, record_len},
};
use crate::{
    Batch,
    flow::points::group_of,
    simd::{F64, Kernel, Lane, Math},
};
use fearless_simd::Simd;
use std::marker::PhantomData;

/// Bisection alone reduces any bracket of doubles to neighbours in fewer steps than this.
const MAX_ITERATIONS: usize = 128;

/// The place in the tape where the forward pass stores h of a layer, for the register of points
/// that starts at `at`.
#[inline(always)]
fn place(len: usize, lanes: usize, layers: usize, l: usize, at: usize) -> usize {
    let (first, registers) = group_of(len, lanes, at);
    first * layers + l * registers * lanes + (at - first)
}

/// Moves points back through all layers, adds the log-determinants of the forward map, and fills
/// the tape with h like the forward pass.
pub(super) struct Inverse<'a, A> {
    pub(super) records: &'a [f64],
    /// The image on input; the base points on output.
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
    pub(super) tape: Option<&'a mut [f64]>,
    pub(super) activation: PhantomData<A>,
}

impl<A: Curve> Kernel for Inverse<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let dim = self.z.dim();
        let lanes = <F64<S> as Lane<S>>::LEN;
        let layers = self.records.len() / record_len(dim);
        for at in (0..self.z.len()).step_by(lanes) {
            let mut log_det = F64::load(simd, &self.log_det[at..]);
            for l in (0..layers).rev() {
                let layer = Layer::new(dim, &self.records[l * record_len(dim)..]);
                let c = F64::splat(simd, layer.c);
                let mut level = F64::splat(simd, layer.b);
                for d in 0..dim {
                    level = F64::splat(simd, layer.w[d])
                        .mul_add(F64::load(simd, &self.z.padded_row(d)[at..]), level);
                }
                let h = A::value(solve::<S, A>(c, level));
                if let Some(tape) = &mut self.tape {
                    h.store(&mut tape[place(self.z.len(), lanes, layers, l, at)..]);
                }
                for d in 0..dim {
                    let row = &mut self.z.padded_row_mut(d)[at..];
                    F64::splat(simd, layer.u[d]).neg_mul_add(h, F64::load(simd, row)).store(row);
                }
                log_det = log_det + determinant(A::slope(h), c).ln();
            }
            log_det.store(&mut self.log_det[at..]);
        }
    }
}

/// Pushes cotangents forward through all layers, from those of the base points and the
/// log-determinant to those of the image. Sums the gradients of w, û, b and c over the points.
///
/// A layer's Jacobian is I + h' û wᵀ with determinant e. Given the cotangents ḡ of its base points
/// and k of its log-determinant, the cotangent of its image is g = ḡ + w g_a. Here g_a = (k (c − 1)
/// h''/e − h' û·ḡ)/e is the cotangent of the projection in the ordinary backward pass of −g and k,
/// which ends at −g + w g_a = −ḡ.
pub(super) struct BackwardInverse<'a, A> {
    pub(super) records: &'a [f64],
    /// The base points on input; the image on output.
    pub(super) z: &'a mut Batch,
    pub(super) g_z: &'a mut Batch,
    pub(super) g_log_det: &'a [f64],
    pub(super) tape: &'a [f64],
    /// `sum_lanes` doubles for each number of each record; only the first register is used.
    pub(super) sums: &'a mut [f64],
    pub(super) sum_lanes: usize,
    pub(super) activation: PhantomData<A>,
}

impl<A: Curve> Kernel for BackwardInverse<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let dim = self.z.dim();
        let lanes = <F64<S> as Lane<S>>::LEN;
        let (numbers, stride) = (record_len(dim), self.sum_lanes);
        let layers = self.records.len() / numbers;
        for at in (0..self.z.len()).step_by(lanes) {
            let g_log_det = F64::load(simd, &self.g_log_det[at..]);
            for l in 0..layers {
                let layer = Layer::new(dim, &self.records[l * numbers..]);
                let sums = &mut self.sums[l * numbers * stride..][..numbers * stride];
                let h = F64::load(simd, &self.tape[place(self.z.len(), lanes, layers, l, at)..]);
                let mut along = F64::splat(simd, 0.0);
                for d in 0..dim {
                    along = F64::splat(simd, layer.u[d])
                        .mul_add(F64::load(simd, &self.g_z.padded_row(d)[at..]), along);
                }
                let c = F64::splat(simd, layer.c);
                let projection = Projection::new::<S, A>(h, c, g_log_det, -along);
                let g_a = projection.g_a / projection.determinant;
                g_a.accumulate_f64(&mut sums[2 * dim * stride..]);
                let g_c = projection.slope * projection.per_det;
                g_c.accumulate_f64(&mut sums[(2 * dim + 1) * stride..]);
                for d in 0..dim {
                    let row = &mut self.z.padded_row_mut(d)[at..];
                    let before = F64::load(simd, row);
                    (g_a * before).accumulate_f64(&mut sums[d * stride..]);
                    F64::splat(simd, layer.u[d]).mul_add(h, before).store(row);
                    let row = &mut self.g_z.padded_row_mut(d)[at..];
                    let g = F64::splat(simd, layer.w[d]).mul_add(g_a, F64::load(simd, row));
                    g.store(row);
                    (-g * h).accumulate_f64(&mut sums[(dim + d) * stride..]);
                }
            }
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
    // Lanes at NaN or infinity have no solution.
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
        // Take a Newton step if it stays inside the bracket and is at most half of the previous
        // step.
        let helps = low.le(newton) & newton.le(high) & (newton - a).abs().le(half * last_width);
        let next = F64::select(helps, newton, middle);
        let next = F64::select(residual.eq(zero), a, next);
        last_width = (next - a).abs();
        // The tolerance is relative, since a steep layer magnifies the remaining error.
        let done = last_width.le(tolerance * a.abs());
        // A converged lane stays fixed: its result must not depend on its neighbours.
        a = F64::select(open, next, a);
        open &= !done;
        if !F64::<S>::any(open) {
            break;
        }
    }
    a
}
