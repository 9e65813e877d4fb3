//! sin and cos: x = k π/2 + r with |r| ≤ π/4, by Cody–Waite reduction with π/2 in parts.

use super::{
    Lane,
    polynomial::{horner, nearest},
    tables::Tables,
};
use fearless_simd::Simd;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

#[inline(always)]
pub(super) fn sin_cos<S: Simd, V: Lane<S> + Tables>(x: V) -> (V, V) {
    let simd = x.token();
    let zero = V::splat(simd, 0.0);
    let k = nearest(x, FRAC_2_PI);
    let (r, lost) = remainder(x, k);
    let (sin, cos) = of_remainder(k, r, lost);
    let sin = V::select(x.eq(zero), x, sin); // keeps the sign of zero
    let in_range = x.abs().le(V::splat(simd, V::TRIGONOMETRIC_RANGE));
    if V::any(!in_range) {
        // Only lanes out of range use it, so that a lane never depends on its neighbours.
        return (
            V::select(in_range, sin, by_lane(x, f64::sin)),
            V::select(in_range, cos, by_lane(x, f64::cos)),
        );
    }
    (sin, cos)
}

#[inline(always)]
pub(super) fn sin_cos_turns<S: Simd, V: Lane<S> + Tables>(turns: V) -> (V, V) {
    let simd = turns.token();
    let quarters = turns * V::splat(simd, 4.0);
    let k = nearest(quarters, 1.0);
    of_remainder(k, (quarters - k) * V::splat(simd, FRAC_PI_2), V::splat(simd, 0.0))
}

/// r = x − k π/2, and its rounding error: r alone would cost sin another unit in the last place,
/// and all of its digits where x is nearest to a multiple of π/2.
#[inline(always)]
fn remainder<S: Simd, V: Lane<S> + Tables>(x: V, k: V) -> (V, V) {
    let simd = x.token();
    let [first, second, third, last] = V::HALF_PI.map(|part| V::splat(simd, part));
    let exact = k.neg_mul_add(first, x);
    let middle = k.neg_mul_add(second, exact);
    let r = k.neg_mul_add(third, middle);
    let lost = k.neg_mul_add(second, exact - middle) + k.neg_mul_add(third, middle - r);
    (r, k.neg_mul_add(last, lost))
}

/// Sine and cosine of k π/2 + r + lost.
#[inline(always)]
fn of_remainder<S: Simd, V: Lane<S> + Tables>(k: V, r: V, lost: V) -> (V, V) {
    let simd = r.token();
    let constant = |value| V::splat(simd, value);
    let square = r * r;
    let sin = r + (r * square).mul_add(horner(square, V::SIN), lost);
    // 1 − r²/2 rounded, and the rounding errors of that and r.
    let half_square = constant(0.5) * square;
    let head = constant(1.0) - half_square;
    let rest = r.neg_mul_add(lost, (constant(1.0) - head) - half_square);
    let cos = head + (square * square).mul_add(horner(square, V::COS), rest);

    // k modulo 4, in −2..=2: odd quarters exchange the two, and the sign follows the quadrant.
    let quadrant = nearest(k, 0.25).mul_add(constant(-4.0), k);
    let odd = quadrant.abs().eq(constant(1.0));
    let (sin, cos) = (V::select(odd, cos, sin), V::select(odd, sin, cos));
    let sin_negative = quadrant.lt(constant(0.0)) | quadrant.eq(constant(2.0));
    let cos_negative = constant(0.0).lt(quadrant) | quadrant.eq(constant(-2.0));
    (V::select(sin_negative, -sin, sin), V::select(cos_negative, -cos, cos))
}

/// The function of every lane, one by one, in double precision.
#[cold]
fn by_lane<S: Simd, V: Lane<S> + Tables>(x: V, function: fn(f64) -> f64) -> V {
    let mut values = [0.0; crate::simd::PAD];
    let values = &mut values[..V::LEN];
    x.store_f64(values);
    values.iter_mut().for_each(|value| *value = function(*value));
    V::load_f64(x.token(), values)
}
