//! atan, reduced to |z| ≤ √2 − 1 by the addition formulas at π/4 and π/2.

use super::super::math::horner;
use super::super::{F64, Lane};
use fearless_simd::Simd;
use std::f64::consts::{FRAC_PI_4, SQRT_2};

/// (atan(z)/z − 1)/z² in powers of z², to 1e-16.
const ATAN: [f64; 11] = [
    -0.3333333333333333,
    0.1999999999999552,
    -0.14285714284666542,
    0.11111111015256361,
    -0.09090904578123903,
    0.07692183190826087,
    -0.06664511447381948,
    0.0585814891280221,
    -0.0508544973794026,
    0.03923165829558719,
    -0.01917688711906226,
];

/// The rounding error of π/4.
const FRAC_PI_4_REST: f64 = 3.061616997868383e-17;

#[inline(always)]
pub(super) fn atan<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
    let size = x.abs();
    let middle = F64::splat(simd, SQRT_2 - 1.0).lt(size);
    let large = F64::splat(simd, SQRT_2 + 1.0).lt(size);
    // z = size, (size − 1)/(size + 1) or −1/size
    let above = F64::select(large, -one, F64::select(middle, size - one, size));
    let below = F64::select(large, size, F64::select(middle, size + one, one));
    let z = above / below;
    let quarters = F64::select(large, one + one, F64::select(middle, one, zero));
    let square = z * z;
    let rest =
        (z * square).mul_add(horner(square, &ATAN), quarters * F64::splat(simd, FRAC_PI_4_REST));
    (quarters.mul_add(F64::splat(simd, FRAC_PI_4), z + rest)).copysign(x)
}
