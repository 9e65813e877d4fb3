//! ln, ln_1p and softplus: x = 2ᵉ (1 + f) with 1 + f in [√½, √2], so that ln x = e ln 2 + ln(1 + f).

use super::{Lane, exponential, polynomial::even_odd, tables::Tables};
use fearless_simd::Simd;
use std::f64::consts::SQRT_2;

/// e ln 2 + ln(1 + f) by ln(1 + f) = 2 artanh(s), s = f/(2 + f).
///
/// With R = (2 artanh(s) − 2s)/s this is f − (f²/2 − s (f²/2 + R)): f, which is exact, enters last.
/// (The arrangement of fdlibm's `e_log.c`.)
#[inline(always)]
fn ln_reduced<S: Simd, V: Lane<S> + Tables>(f: V, e: V) -> V {
    let simd = f.token();
    let [high, low] = V::LN_2.map(|part| V::splat(simd, part));
    let s = f / (f + V::splat(simd, 2.0));
    let square = s * s;
    let half_square = V::splat(simd, 0.5) * f * f;
    let tail =
        s.mul_add(square.mul_add(even_odd(square, square * square, V::LN), half_square), e * low);
    e.mul_add(high, f - (half_square - tail))
}

/// ln(x·2^e) for positive normal x; unspecified for others.
#[inline(always)]
pub(crate) fn ln_positive<S: Simd, V: Lane<S> + Tables>(x: V, e: V) -> V {
    let simd = x.token();
    let one = V::splat(simd, 1.0);
    let (m, exponent) = x.split_exponent();
    let above = V::splat(simd, SQRT_2).lt(m);
    let m = V::select(above, V::splat(simd, 0.5) * m, m);
    let exponent = exponent + V::select(above, one, V::splat(simd, 0.0));
    ln_reduced(m - one, e + exponent)
}

/// ln(x·2^e) for any x.
#[inline(always)]
pub(super) fn ln_scaled<S: Simd, V: Lane<S> + Tables>(x: V, e: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    let tiny = x.lt(constant(V::MIN_NORMAL));
    let rare = V::any(tiny | !x.le(constant(V::MAX)));
    if !rare {
        return ln_positive(x, e);
    }
    let (factor, exponent) = V::LIFT;
    let lifted = V::select(tiny, x * constant(factor), x);
    let lift = V::select(tiny, constant(exponent), constant(0.0));
    special(x, ln_positive(lifted, e - lift))
}

/// `result` where x is positive and finite; the logarithm of x elsewhere.
#[inline(always)]
fn special<S: Simd, V: Lane<S> + Tables>(x: V, result: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    let result = V::select(x.le(constant(V::MAX)), result, x); // ∞ and NaN
    let result = V::select(x.lt(constant(0.0)), constant(f64::NAN), result);
    V::select(x.eq(constant(0.0)), constant(f64::NEG_INFINITY), result)
}

#[inline(always)]
pub(super) fn ln_1p<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    let (zero, one) = (constant(0.0), constant(1.0));
    // Below the square of the rounding unit the result is x, with its sign if it is 0. Powers of
    // such an x would be subnormal, and slow.
    let tiny = x.abs().lt(constant(if V::SIGNIFICAND_BITS == 52 { 4e-32 } else { 1e-14 }));
    let answer_if_tiny = x;
    let x = V::select(tiny, zero, x);
    // u + error = 1 + x exactly (Knuth's sum).
    let u = one + x;
    let x_part = u - one;
    let error = (one - (u - x_part)) + (x - x_part);
    let (m, exponent) = u.split_exponent();
    let above = constant(SQRT_2).lt(m);
    let half = V::select(above, constant(0.5), one);
    // For e = 0 this sum is x itself. For e = 1023 the scale underflows to 0, which is harmless:
    // the error is negligible beside u.
    let f = m.mul_add(half, -one) + error * ((-exponent).exp2_integer() * half);
    let result = ln_reduced(f, exponent + V::select(above, one, zero));
    V::select(tiny, answer_if_tiny, special(u, result))
}

/// max(x, 0) + ln(1 + t) with t = e^−|x| in [0, 1], where 1 + t needs no splitting.
#[inline(always)]
pub(super) fn softplus<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    let (zero, one) = (constant(0.0), constant(1.0));
    let t = exponential::exp(-x.abs());
    let above = constant(SQRT_2 - 1.0).lt(t);
    let f = V::select(above, (t - one) * constant(0.5), t);
    let e = V::select(above, one, zero);
    x.max(zero) + ln_reduced(f, e)
}
