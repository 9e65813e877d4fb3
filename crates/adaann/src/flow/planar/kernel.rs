//! The SIMD kernels of the planar stack: a group of points stays in registers through all layers.
//!
//! Layer: z ← z + û h(a), a = w·z + b, with log-determinant log(1 + û·w h'(a)). With c = 1 + û·w >
//! 0 the determinant is (1 − h') + c h', a sum of two nonnegative numbers. Nothing cancels, even
//! for a nearly singular layer.
//!
//! The tape holds only h. The backward pass recovers z by subtracting û h, and computes h' and the
//! determinant from h.

use super::activation::Curve;
use crate::{
    Batch,
    flow::points::{Held, InBatch, Points, for_groups},
    simd::{F32, F64, Kernel, Lane, LogProduct, Math},
};
use fearless_simd::Simd;
use std::marker::PhantomData;

/// Number of layers between two rescalings of the product of determinants. A determinant is at
/// least the rounding unit (about 1e-16, or 6e-8 in single precision) unless c underflows, so the
/// product of this many stays well inside the range.
const fn layers_between_rescalings<S: Simd, V: Lane<S>>() -> usize {
    if V::SIGNIFICAND_BITS == 52 { 8 } else { 4 }
}

/// Numbers per layer that a kernel reads: w, û, b, c.
pub(super) const fn record_len(dim: usize) -> usize {
    2 * dim + 2
}

/// The prepared numbers of one layer.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub(super) w: &'a [f64],
    pub(super) u: &'a [f64],
    pub(super) b: f64,
    pub(super) c: f64,
}

impl<'a> Layer<'a> {
    #[inline(always)]
    pub(super) fn new(dim: usize, record: &'a [f64]) -> Self {
        let record = &record[..record_len(dim)];
        Self {
            w: &record[..dim],
            u: &record[dim..2 * dim],
            b: record[2 * dim],
            c: record[2 * dim + 1],
        }
    }
}

/// (1 − h') + c h'
#[inline(always)]
pub(super) fn determinant<S: Simd, V: Lane<S>>(slope: V, c: V) -> V {
    c.mul_add(slope, V::splat(slope.token(), 1.0) - slope)
}

/// The cotangent of a layer's projection a; that of c is `slope` times `per_det`.
pub(super) struct Projection<V> {
    pub(super) slope: V,
    pub(super) determinant: V,
    /// The cotangent of the log-determinant, divided by the determinant.
    pub(super) per_det: V,
    pub(super) g_a: V,
}

impl<V> Projection<V> {
    /// Computed from h, c and the cotangents of the log-determinant and of h: ∂ log det/∂c = h'/det
    /// and ∂ log det/∂a = (c − 1) h''/det.
    #[inline(always)]
    pub(super) fn new<S: Simd, A: Curve>(h: V, c: V, g_log_det: V, g_h: V) -> Self
    where
        V: Lane<S>,
    {
        let one = V::splat(h.token(), 1.0);
        let slope = A::slope(h);
        let determinant = determinant(slope, c);
        let per_det = g_log_det / determinant;
        let g_a = slope * ((c - one) * A::bend(h)).mul_add(per_det, g_h);
        Self { slope, determinant, per_det, g_a }
    }
}

/// Runs a kernel over the groups of its batch; small dimensions are held in registers.
macro_rules! for_dimension {
    ($kernel:ident, $simd:ident, $S:ty, $V:ty, $A:ty) => {{
        let (len, lanes) = ($kernel.z.len(), <$V>::LEN);
        match $kernel.z.dim() {
            1 if <$A>::HELD => {
                for_groups!(len, lanes, |at, R| $kernel.held::<$S, $V, 1, R>($simd, at))
            }
            2 if <$A>::HELD => {
                for_groups!(len, lanes, |at, R| $kernel.held::<$S, $V, 2, R>($simd, at))
            }
            3 if <$A>::HELD => {
                for_groups!(len, lanes, |at, R| $kernel.held::<$S, $V, 3, R>($simd, at))
            }
            _ => for_groups!(len, lanes, |at, R| $kernel.in_batch::<$S, $V, R>($simd, at)),
        }
    }};
}

/// Moves points through all layers, adds their log-determinants and fills the tape.
pub(super) struct Forward<'a, A> {
    pub(super) records: &'a [f64],
    pub(super) single: bool,
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
    pub(super) tape: Option<&'a mut [f64]>,
    pub(super) activation: PhantomData<A>,
}

impl<A: Curve> Kernel for Forward<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        if self.single { self.over::<S, F32<S>>(simd) } else { self.over::<S, F64<S>>(simd) }
    }
}

impl<A: Curve> Forward<'_, A> {
    #[inline(always)]
    fn over<S: Simd, V: Math<S>>(&mut self, simd: S) {
        for_dimension!(self, simd, S, V, A);
    }

    #[inline(always)]
    fn held<S: Simd, V: Math<S>, const D: usize, const R: usize>(&mut self, simd: S, at: usize) {
        let mut z = Held::<V, D, R>::load(simd, self.z, at);
        let tape = self.tape.as_deref_mut();
        through::<S, V, A, R>(simd, self.records, &mut z, tape, at, self.log_det);
        z.store(self.z, at);
    }

    #[inline(always)]
    fn in_batch<S: Simd, V: Math<S>, const R: usize>(&mut self, simd: S, at: usize) {
        let mut z = InBatch { simd, batch: self.z, at };
        let tape = self.tape.as_deref_mut();
        through::<S, V, A, R>(simd, self.records, &mut z, tape, at, self.log_det);
    }
}

/// Moves one group through all layers.
#[inline(always)]
fn through<S: Simd, V: Math<S>, A: Curve, const R: usize>(
    simd: S,
    records: &[f64],
    z: &mut impl Points<S, V, R>,
    tape: Option<&mut [f64]>,
    at: usize,
    log_det: &mut [f64],
) {
    let len = record_len(z.dim());
    let layers = records.len() / len;
    let mut product = [LogProduct::<S, V>::one(simd); R];
    let mut tape = match tape {
        Some(tape) => &mut bytemuck::cast_slice_mut(tape)[at * layers..][..layers * R * V::LEN],
        None => &mut [],
    };
    for block in records.chunks(len * layers_between_rescalings::<S, V>()) {
        for record in block.chunks_exact(len) {
            let layer = Layer::new(z.dim(), record);
            let mut h = [V::splat(simd, layer.b); R];
            for d in 0..z.dim() {
                let (w, z) = (V::splat(simd, layer.w[d]), z.get(d));
                for r in 0..R {
                    h[r] = w.mul_add(z[r], h[r]);
                }
            }
            for r in 0..R {
                h[r] = A::value(h[r]);
            }
            for d in 0..z.dim() {
                let (u, mut moved) = (V::splat(simd, layer.u[d]), z.get(d));
                for r in 0..R {
                    moved[r] = u.mul_add(h[r], moved[r]);
                }
                z.set(d, moved);
            }
            let c = V::splat(simd, layer.c);
            for r in 0..R {
                product[r].multiply(determinant(A::slope(h[r]), c));
            }
            if !tape.is_empty() {
                let (here, rest) = tape.split_at_mut(R * V::LEN);
                for r in 0..R {
                    h[r].store(&mut here[r * V::LEN..]);
                }
                tape = rest;
            }
        }
        for r in 0..R {
            product[r].rescale();
        }
    }
    for r in 0..R {
        product[r].ln().accumulate_f64(&mut log_det[at + r * V::LEN..]);
    }
}

/// Pulls cotangents back through all layers, from those of the image and the log-determinant to
/// those of the base points. Sums the gradients of w, û, b and c over the points.
pub(super) struct Backward<'a, A> {
    pub(super) records: &'a [f64],
    pub(super) single: bool,
    /// The image on input; the base points on output.
    pub(super) z: &'a mut Batch,
    pub(super) g_z: &'a mut Batch,
    pub(super) g_log_det: &'a [f64],
    pub(super) tape: &'a [f64],
    /// One register of doubles for each number of each record.
    pub(super) sums: &'a mut [f64],
    pub(super) activation: PhantomData<A>,
}

impl<A: Curve> Kernel for Backward<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        if self.single { self.over::<S, F32<S>>(simd) } else { self.over::<S, F64<S>>(simd) }
    }
}

impl<A: Curve> Backward<'_, A> {
    #[inline(always)]
    fn over<S: Simd, V: Math<S>>(&mut self, simd: S) {
        for_dimension!(self, simd, S, V, A);
    }

    #[inline(always)]
    fn held<S: Simd, V: Math<S>, const D: usize, const R: usize>(&mut self, simd: S, at: usize) {
        let mut z = Held::<V, D, R>::load(simd, self.z, at);
        let mut g = Held::<V, D, R>::load(simd, self.g_z, at);
        back::<S, V, A, R>(
            simd,
            self.records,
            &mut z,
            &mut g,
            self.g_log_det,
            self.tape,
            at,
            self.sums,
        );
        z.store(self.z, at);
        g.store(self.g_z, at);
    }

    #[inline(always)]
    fn in_batch<S: Simd, V: Math<S>, const R: usize>(&mut self, simd: S, at: usize) {
        let mut z = InBatch { simd, batch: self.z, at };
        let mut g = InBatch { simd, batch: self.g_z, at };
        back::<S, V, A, R>(
            simd,
            self.records,
            &mut z,
            &mut g,
            self.g_log_det,
            self.tape,
            at,
            self.sums,
        );
    }
}

/// Pulls one group back through all layers.
#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "the fields of Backward, with two of them borrowed as points"
)]
fn back<S: Simd, V: Math<S>, A: Curve, const R: usize>(
    simd: S,
    records: &[f64],
    z: &mut impl Points<S, V, R>,
    g: &mut impl Points<S, V, R>,
    g_log_det: &[f64],
    tape: &[f64],
    at: usize,
    sums: &mut [f64],
) {
    let dim = z.dim();
    let len = record_len(dim);
    let layers = records.len() / len;
    let tape: &[V::Element] = &bytemuck::cast_slice(tape)[at * layers..][..layers * R * V::LEN];
    let mut g_ld = [V::splat(simd, 0.0); R];
    for r in 0..R {
        g_ld[r] = V::load_f64(simd, &g_log_det[at + r * V::LEN..]);
    }
    let stack = records.chunks_exact(len).zip(tape.chunks_exact(R * V::LEN));
    for ((record, tape), sums) in stack.zip(sums.chunks_exact_mut(len * V::LEN)).rev() {
        let layer = Layer::new(dim, record);
        let c = V::splat(simd, layer.c);
        let mut h = [V::splat(simd, 0.0); R];
        let mut g_h = h;
        for r in 0..R {
            h[r] = V::load(simd, &tape[r * V::LEN..]);
        }
        for d in 0..dim {
            let (u, g) = (V::splat(simd, layer.u[d]), g.get(d));
            let mut g_u = g[0] * h[0];
            g_h[0] = u.mul_add(g[0], g_h[0]);
            for r in 1..R {
                g_u = g[r].mul_add(h[r], g_u);
                g_h[r] = u.mul_add(g[r], g_h[r]);
            }
            g_u.accumulate_f64(&mut sums[(dim + d) * V::LEN..]);
        }
        let mut g_a = g_h;
        let mut g_c = V::splat(simd, 0.0);
        let mut g_b = V::splat(simd, 0.0);
        for r in 0..R {
            let projection = Projection::new::<S, A>(h[r], c, g_ld[r], g_h[r]);
            g_c = projection.slope.mul_add(projection.per_det, g_c);
            g_a[r] = projection.g_a;
            g_b = g_b + g_a[r];
        }
        g_b.accumulate_f64(&mut sums[2 * dim * V::LEN..]);
        g_c.accumulate_f64(&mut sums[(2 * dim + 1) * V::LEN..]);
        for d in 0..dim {
            let (u, w) = (V::splat(simd, layer.u[d]), V::splat(simd, layer.w[d]));
            let (mut before, mut g_before) = (z.get(d), g.get(d));
            for r in 0..R {
                before[r] = u.neg_mul_add(h[r], before[r]);
                g_before[r] = w.mul_add(g_a[r], g_before[r]);
            }
            let mut g_w = g_a[0] * before[0];
            for r in 1..R {
                g_w = g_a[r].mul_add(before[r], g_w);
            }
            g_w.accumulate_f64(&mut sums[d * V::LEN..]);
            z.set(d, before);
            g.set(d, g_before);
        }
    }
}
