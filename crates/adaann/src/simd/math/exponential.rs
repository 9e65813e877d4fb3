//! exp and exp_m1: x = k ln 2 + r with |r| ≤ ln(2)/2, so that eˣ = 2ᵏ eʳ.

use super::{
    Lane,
    polynomial::{even_odd, nearest},
    tables::Tables,
};
use fearless_simd::Simd;
use std::f64::consts::LOG2_E;

/// r = x − k ln 2 as if ln 2 were exact, and the error of the last rounding of r.
#[inline(always)]
fn remainder<S: Simd, V: Lane<S> + Tables>(x: V, k: V) -> (V, V) {
    let simd = x.token();
    let [high, low] = V::LN_2.map(|part| V::splat(simd, part));
    let head = k.neg_mul_add(high, x);
    let r = k.neg_mul_add(low, head);
    (r, k.neg_mul_add(low, head - r))
}

/// eʳ − 1 − r for a remainder, plus a term.
#[inline(always)]
fn exp_tail<S: Simd, V: Lane<S> + Tables>(r: V, term: V) -> V {
    let square = r * r;
    let half = V::splat(r.token(), 0.5);
    square.mul_add(even_odd(r, square, V::EXP).mul_add(r, half), term)
}

#[inline(always)]
pub(super) fn exp<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    // Below the range everything is clamped; above it only k is, so that r, and with it the result,
    // grows to ∞. NaN passes through r whichever operand `min` returns.
    let low = constant(-V::EXP_RANGE);
    let x = V::select(x.lt(low), low, x);
    let k = nearest(x.min(constant(V::EXP_RANGE)), LOG2_E);
    let (r, _) = remainder(x, k);
    let significand = exp_tail(r, r) + constant(1.0);
    // 2^k in two factors: k itself may leave the range of exponents where the result does not, and
    // a subnormal result is rounded once, by the last product.
    let half = nearest(k, 0.5);
    significand * half.exp2_integer() * (k - half).exp2_integer()
}

#[inline(always)]
pub(super) fn exp_m1<S: Simd, V: Lane<S> + Tables>(x: V) -> V {
    let simd = x.token();
    let constant = |value| V::splat(simd, value);
    // e^−60 is negligible beside 1; above, any finite argument that overflows is enough.
    let (low, high) = (constant(-60.0), constant(V::EXP_RANGE));
    let clamped = V::select(x.lt(low), low, x);
    let clamped = V::select(high.lt(x), high, clamped);
    let k = nearest(clamped, LOG2_E).min(constant(V::MAX_EXPONENT + 1.0));
    let (r, lost) = remainder(clamped, k);
    let small = r + exp_tail(r, lost);
    // 2ᵏ(eʳ − 1) + (2ᵏ − 1), where a factor 2 is held back if 2ᵏ itself would overflow.
    let scale_exponent = k.min(constant(V::MAX_EXPONENT));
    let scale = scale_exponent.exp2_integer();
    let held_back = (k - scale_exponent).exp2_integer();
    let result = small.mul_add(scale, scale - constant(1.0)) * held_back;
    V::select(x.eq(constant(0.0)), x, result) // keeps the sign of zero
}
