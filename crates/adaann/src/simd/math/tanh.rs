//! tanh, the hot operation of planar flows: one division, after as short a dependency chain as
//! possible.

use super::{
    Lane,
    polynomial::{horner, nearest},
    tables::Tables,
};
use fearless_simd::Simd;
use std::f64::consts::{LN_2, LOG2_E};

/// Below this, the double-precision tanh uses its own rational function.
const SMALL: f64 = 0.62;
/// Beyond this it rounds to 1.
const SATURATED: f64 = 20.0;
/// tanh z = z + z³N(z²)/Q(z²) for |z| ≤ 5/8: N,
const N: [f64; 3] = [-0.3333333333333333, -0.020498799708498872, -0.0001991780435861287];
/// and Q.
const Q: [f64; 4] = [1.0, 0.4614963991254931, 0.02329133187629886, 0.0002065337374875025];

/// With a = |x| = k ln(2)/2 + z, s = 2ᵏ, u = z³N(z²) and Q = Q(z²), tanh z = z + u/Q, and so
/// e^2a = s ((1 + z) Q + u)/((1 − z) Q − u):
///
///   tanh a = z + u/Q                             where a is small (k = 0),
///   tanh a = 1 − 2/(e^2a + 1) = 1 + 2D/(sE − D)  elsewhere, D = (z − 1)Q + u, E = (z + 1)Q + u.
///
/// One division serves both, and in both the quotient is smaller than the result, which damps its
/// error. One rounded ln(2)/2 suffices: its error k·10⁻¹⁷ is damped by tanh′ = sech².
#[inline(always)]
pub(super) fn double<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    let (zero, one) = (constant(0.0), constant(1.0));
    let a = x.abs();
    let large = constant(SMALL).le(a);
    // NaN counts as small here, and so reaches the result whatever `min` returns.
    let head = V::select(large, one, a);
    let a = a.min(constant(SATURATED));
    let k = V::select(large, nearest(a, 2.0 * LOG2_E), zero);
    let z = k.neg_mul_add(constant(0.5 * LN_2), a);
    let square = z * z;
    let fourth = square * square;
    let n = constant(N[2]).mul_add(fourth, constant(N[1]).mul_add(square, constant(N[0])));
    let q = constant(Q[3])
        .mul_add(square, constant(Q[2]))
        .mul_add(fourth, constant(Q[1]).mul_add(square, one));
    let u = (z * square) * n;
    let d = (z - one).mul_add(q, u);
    let e = (z + one).mul_add(q, u);
    let numerator = V::select(large, d + d, u);
    let denominator = V::select(large, k.exp2_integer().mul_add(e, -d), q);
    (head + numerator / denominator).copysign(x)
}

/// tanh z = z P(z²)/Q(z²) for |z| ≤ ln(2)/4, to 2e-17: P,
const QUICK_P: [f64; 3] = [1.0, 0.111_101_287_191_964_06, 0.001_057_546_488_361_432_7];
/// and Q.
const QUICK_Q: [f64; 3] = [1.0, 0.444_434_620_525_296_7, 0.015_869_086_664_191_37];
/// The same to 2e-9, for single precision: P,
const QUICK_SINGLE_P: [f64; 2] = [1.0, 0.066_608_374_780_311_56];
/// and Q.
const QUICK_SINGLE_Q: [f64; 2] = [1.0, 0.399_941_633_745_690_66];

/// tanh with a small absolute error, in ten multiplications and one division.
///
/// With x = k ln(2)/2 + z and s = 2ᵏ, e^2x = s (Q + zP)/(Q − zP), so
/// tanh x = (s (Q + zP) − (Q − zP))/(s (Q + zP) + (Q − zP)).
#[inline(always)]
pub(super) fn quick<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let x = x.max(V::splat(simd, -SATURATED)).min(V::splat(simd, SATURATED));
    let (k, s) = x.nearest_power(V::splat(simd, 2.0 * LOG2_E));
    let z = k.neg_mul_add(V::splat(simd, 0.5 * LN_2), x);
    let square = z * z;
    let (p, q) = if V::SIGNIFICAND_BITS == 52 {
        (horner(square, &QUICK_P), horner(square, &QUICK_Q))
    } else {
        (horner(square, &QUICK_SINGLE_P), horner(square, &QUICK_SINGLE_Q))
    };
    let (above, below) = (z.mul_add(p, q), z.neg_mul_add(p, q));
    s.mul_add(above, -below) / s.mul_add(above, below)
}

/// Beyond the square root of this the single-precision tanh rounds to ±1.
const SINGLE_SATURATED: f64 = 81.36;
/// tanh x = x P(x²)/Q(x²) up to there: P,
const SINGLE_P: [f64; 5] = [1.0, 0.133792182, 0.00349345564, 2.05745551e-05, 1.33078437e-08];
/// and Q.
const SINGLE_Q: [f64; 5] = [1.0, 0.467125328, 0.0258688326, 0.000328217187, 7.7571824e-07];

/// In single precision one rational function covers the whole range. Rounding may push it past 1,
/// which would make 1 − tanh² negative.
#[inline(always)]
pub(super) fn single<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let one = V::splat(simd, 1.0);
    let square = (x * x).min(V::splat(simd, SINGLE_SATURATED));
    let result = x * horner(square, &SINGLE_P) / horner(square, &SINGLE_Q);
    let result = V::select(one.lt(result), one, result);
    V::select(result.lt(-one), -one, result)
}
