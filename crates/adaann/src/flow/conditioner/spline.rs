//! Monotone rational-quadratic splines (Durkan, Bekasov, Murray and Papamakarios 2019): y = x
//! outside [−B, B], and inside a curve through K + 1 knots with given slopes.
//!
//! In the bin from (x₀, y₀) with width w, height h and slopes a, b at its ends, with s = h/w,
//! ξ = (x − x₀)/w and v = ξ(1 − ξ),
//!
//! y = y₀ + h (s ξ² + a v)/q and dy/dx = s² p/q², where p = b ξ² + 2 s v + a (1 − ξ)² and
//! q = s + (a + b − 2 s) v.
//!
//! Widths and heights are softmaxes of their outputs. Slopes at inner knots are positive functions of
//! theirs. With all outputs at 0 the bins are squares, the slopes are 1 and y = x.

use super::{Curve, outputs::Setting};
use crate::{
    flow::positive::positive,
    net::Row,
    simd::{F64, Lane, Math},
};
use fearless_simd::Simd;

/// Least width and height of a bin, as a fraction of the total, and least slope at an inner knot. They
/// keep the curve invertible in floating point.
const LEAST: f64 = 1e-3;

/// The curve.
#[derive(Debug, Clone, Copy)]
pub(in crate::flow) struct Spline {
    /// K, at least 2.
    pub(in crate::flow) bins: usize,
    /// B
    pub(in crate::flow) bound: f64,
}

/// The bin that contains a point.
#[derive(Clone, Copy)]
struct Bin<S: Simd> {
    x0: F64<S>,
    y0: F64<S>,
    w: F64<S>,
    h: F64<S>,
    a: F64<S>,
    b: F64<S>,
    /// Its number.
    index: F64<S>,
}

/// The curve inside a bin.
struct Inside<S: Simd> {
    s: F64<S>,
    xi: F64<S>,
    v: F64<S>,
    p: F64<S>,
    q: F64<S>,
}

impl<S: Simd> Bin<S> {
    #[inline(always)]
    fn inside(&self, x: F64<S>) -> Inside<S> {
        let (zero, one) = (F64::splat(x.token(), 0.0), F64::splat(x.token(), 1.0));
        let s = self.h / self.w;
        // Rounding may step outside the bin by an ulp.
        let xi = ((x - self.x0) / self.w).max(zero).min(one);
        self.at(s, xi)
    }

    #[inline(always)]
    fn at(&self, s: F64<S>, xi: F64<S>) -> Inside<S> {
        let (one, two) = (F64::splat(s.token(), 1.0), F64::splat(s.token(), 2.0));
        let rest = one - xi;
        let v = xi * rest;
        let p = (self.b * xi).mul_add(xi, (two * s).mul_add(v, self.a * rest * rest));
        let q = (self.a + self.b - two * s).mul_add(v, s);
        Inside { s, xi, v, p, q }
    }
}

impl<S: Simd> Inside<S> {
    /// log(s² p/q²)
    #[inline(always)]
    fn log_slope(&self) -> F64<S> {
        let ratio = self.s / self.q;
        (ratio * ratio * self.p).ln()
    }
}

impl Spline {
    /// The bin that contains x (among the widths) or y (among the heights).
    #[inline(always)]
    fn bin<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        value: F64<S>,
        by_height: bool,
    ) -> Bin<S> {
        let one = F64::splat(simd, 1.0);
        let mut bin = Bin {
            x0: F64::splat(simd, -self.bound),
            y0: F64::splat(simd, -self.bound),
            w: outputs.get(simd, 0),
            h: outputs.get(simd, self.bins),
            a: one,
            b: outputs.get(simd, 2 * self.bins),
            index: F64::splat(simd, 0.0),
        };
        let (mut x, mut y) = (bin.x0, bin.y0);
        let (mut w, mut h) = (bin.w, bin.h);
        for k in 1..self.bins {
            (x, y) = (x + w, y + h);
            (w, h) = (outputs.get(simd, k), outputs.get(simd, self.bins + k));
            let a = outputs.get(simd, 2 * self.bins + k - 1);
            let b = if k + 1 < self.bins { outputs.get(simd, 2 * self.bins + k) } else { one };
            let past = if by_height { y.le(value) } else { x.le(value) };
            bin = Bin {
                x0: F64::select(past, x, bin.x0),
                y0: F64::select(past, y, bin.y0),
                w: F64::select(past, w, bin.w),
                h: F64::select(past, h, bin.h),
                a: F64::select(past, a, bin.a),
                b: F64::select(past, b, bin.b),
                index: F64::select(past, F64::splat(simd, k as f64), bin.index),
            };
        }
        bin
    }

    /// The fraction of the square's side that a softmax share of 1 adds to a width or height.
    fn side(&self) -> f64 {
        2.0 * self.bound * (1.0 - LEAST * self.bins as f64)
    }

    /// Replaces outputs with widths or heights: 2B (least + (1 − K least) softmax).
    #[inline(always)]
    fn soften<S: Simd>(&self, simd: S, first: usize, outputs: &mut Setting<&mut [Row]>) {
        let mut most: F64<S> = outputs.get(simd, first);
        for k in 1..self.bins {
            most = most.max(outputs.get(simd, first + k));
        }
        let mut total = F64::splat(simd, 0.0);
        for k in 0..self.bins {
            let e: F64<S> = outputs.get(simd, first + k);
            let e = (e - most).exp();
            total = total + e;
            outputs.set(first + k, e);
        }
        let share = F64::splat(simd, self.side()) / total;
        let least = F64::splat(simd, 2.0 * self.bound * LEAST);
        for k in 0..self.bins {
            let e: F64<S> = outputs.get(simd, first + k);
            outputs.set(first + k, e.mul_add(share, least));
        }
    }

    /// Cotangents of the outputs of widths or heights: bins before the point's bin receive `g_before`,
    /// its own bin receives `g_own`.
    #[inline(always)]
    fn harden<S: Simd>(
        &self,
        simd: S,
        first: usize,
        outputs: &Setting<&[Row]>,
        index: F64<S>,
        (g_before, g_own): (F64<S>, F64<S>),
        g_outputs: &mut Setting<&mut [Row]>,
    ) {
        let zero = F64::splat(simd, 0.0);
        let least = F64::splat(simd, 2.0 * self.bound * LEAST);
        let per_side = F64::splat(simd, 1.0 / self.side());
        // Softmax: Δ_k = share_k (g_k − Σ share g), times the side.
        let mut mean = zero;
        for k in 0..self.bins {
            let number = F64::splat(simd, k as f64);
            let g = F64::select(number.lt(index), g_before, zero);
            let g = F64::select(number.eq(index), g_own, g);
            let share = (outputs.get(simd, first + k) - least) * per_side;
            mean = share.mul_add(g, mean);
        }
        for k in 0..self.bins {
            let number = F64::splat(simd, k as f64);
            let g = F64::select(number.lt(index), g_before, zero);
            let g = F64::select(number.eq(index), g_own, g);
            g_outputs.set(first + k, (outputs.get(simd, first + k) - least) * (g - mean));
        }
    }

    #[inline(always)]
    fn is_inside<S: Simd>(&self, value: F64<S>) -> <F64<S> as Lane<S>>::Mask {
        value.abs().lt(F64::splat(value.token(), self.bound))
    }
}

impl Curve for Spline {
    fn outputs(&self) -> usize {
        3 * self.bins - 1
    }

    #[inline(always)]
    fn settle<S: Simd>(&self, simd: S, outputs: &mut Setting<&mut [Row]>) {
        self.soften(simd, 0, outputs);
        self.soften(simd, self.bins, outputs);
        let (least, rest) = (F64::splat(simd, LEAST), F64::splat(simd, 1.0 - LEAST));
        for k in 2 * self.bins..self.outputs() {
            let raw: F64<S> = outputs.get(simd, k);
            outputs.set(k, positive(raw).mul_add(rest, least));
        }
    }

    #[inline(always)]
    fn apply<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, x: F64<S>) -> (F64<S>, F64<S>) {
        let bin = self.bin(simd, outputs, x, false);
        let inside = bin.inside(x);
        let Inside { s, xi, v, q, .. } = inside;
        let y = bin.h.mul_add((s * xi).mul_add(xi, bin.a * v) / q, bin.y0);
        let mask = self.is_inside(x);
        (F64::select(mask, y, x), F64::select(mask, inside.log_slope(), F64::splat(simd, 0.0)))
    }

    #[inline(always)]
    fn solve<S: Simd>(&self, simd: S, outputs: &Setting<&[Row]>, y: F64<S>) -> (F64<S>, F64<S>) {
        let (zero, one, two) =
            (F64::splat(simd, 0.0), F64::splat(simd, 1.0), F64::splat(simd, 2.0));
        let bin = self.bin(simd, outputs, y, true);
        let s = bin.h / bin.w;
        let rise = ((y - bin.y0) / bin.h).max(zero).min(one);
        // A ξ² + B ξ + C = 0. Of the two forms of the root in [0, 1], use the one that does not
        // cancel: B < 0, where both ends are steeper than the bin, is where A > 0.
        let excess = rise * (bin.a + bin.b - two * s);
        let quadratic = s - bin.a + excess;
        let slope = bin.a - excess;
        let constant = -(s * rise);
        let root =
            slope.mul_add(slope, -(F64::splat(simd, 4.0) * quadratic * constant)).max(zero).sqrt();
        let rising = -(two * constant) / (slope + root);
        let xi = F64::select(slope.lt(zero), (root - slope) / (two * quadratic), rising);
        let xi = xi.max(zero).min(one);
        let x = xi.mul_add(bin.w, bin.x0);
        let mask = self.is_inside(y);
        (F64::select(mask, x, y), F64::select(mask, bin.at(s, xi).log_slope(), zero))
    }

    #[inline(always)]
    fn pull_back<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_y: F64<S>,
        g_log_slope: F64<S>,
        g_outputs: &mut Setting<&mut [Row]>,
    ) -> F64<S> {
        let (zero, one, two) =
            (F64::splat(simd, 0.0), F64::splat(simd, 1.0), F64::splat(simd, 2.0));
        let mask = self.is_inside(x);
        let bin = self.bin(simd, outputs, x, false);
        let Inside { s, xi, v, p, q } = bin.inside(x);
        let rest = one - xi;
        // Outside the bound only x receives a cotangent.
        let g = F64::select(mask, g_y, zero);
        let k = F64::select(mask, g_log_slope, zero);

        // y = y₀ + h n/q with n = s ξ² + a v; log slope = 2 log s + log p − 2 log q.
        let n = (s * xi).mul_add(xi, bin.a * v);
        let per_q = one / q;
        let g_n = g * bin.h * per_q;
        let g_p = k / p;
        let g_q = -((g_n * n + two * k) * per_q);
        let g_v = bin.a.mul_add(g_n, (two * s).mul_add(g_p, (bin.a + bin.b - two * s) * g_q));
        // Through n, p, q and the logarithm.
        let g_s = (xi * xi).mul_add(g_n, two * v * (g_p - g_q)) + g_q + two * k / s;
        let g_a = v.mul_add(g_n + g_q, rest * rest * g_p);
        let g_b = v.mul_add(g_q, xi * xi * g_p);
        let g_xi =
            two * s * xi * g_n + two * (bin.b * xi - bin.a * rest) * g_p + (one - two * xi) * g_v;
        let per_w = one / bin.w;
        let g_x = g_xi * per_w;
        // ξ = (x − x₀)/w and s = h/w.
        let g_w = -(xi * g_x) - s * g_s * per_w;
        let g_h = g * n * per_q + g_s * per_w;
        self.harden(simd, 0, outputs, bin.index, (-g_x, g_w), g_outputs);
        self.harden(simd, self.bins, outputs, bin.index, (g, g_h), g_outputs);
        let (least, scale) = (F64::splat(simd, LEAST), F64::splat(simd, 1.0 - LEAST));
        for j in 1..self.bins {
            // The inner knot between bins j − 1 and j: the left end of bin j.
            let output = 2 * self.bins + j - 1;
            let number = F64::splat(simd, j as f64);
            let g = F64::select(number.eq(bin.index), g_a, zero);
            let g = F64::select(number.eq(bin.index + one), g_b, g);
            // With d = least + (1 − least) c, dc/draw = 1 − e^{−c}.
            let d: F64<S> = outputs.get(simd, output);
            let slope = scale - scale * ((least - d) / scale).exp();
            g_outputs.set(output, g * slope);
        }
        F64::select(mask, g_x, g_y)
    }

    #[inline(always)]
    fn push<S: Simd>(
        &self,
        simd: S,
        outputs: &Setting<&[Row]>,
        x: F64<S>,
        g_x: F64<S>,
        g_log_slope: F64<S>,
    ) -> F64<S> {
        let (one, two) = (F64::splat(simd, 1.0), F64::splat(simd, 2.0));
        let bin = self.bin(simd, outputs, x, false);
        let Inside { s, xi, p, q, .. } = bin.inside(x);
        let rest = one - xi;
        // d log p/dξ − 2 d log q/dξ
        let turn = one - two * xi;
        let p_slope = two * (bin.b * xi + s * turn - bin.a * rest);
        let q_slope = (bin.a + bin.b - two * s) * turn;
        let curvature = (p_slope / p - two * q_slope / q) / bin.w;
        let slope = s * s * p / (q * q);
        let inside = g_log_slope.mul_add(curvature, g_x) / slope;
        F64::select(self.is_inside(x), inside, g_x)
    }
}
