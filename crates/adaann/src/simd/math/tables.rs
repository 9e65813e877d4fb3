//! The constants of each precision: polynomial coefficients and the limits of the format.
//!
//! The polynomials interpolate at Chebyshev nodes, or minimise the largest relative error (exp);
//! their own error, before rounding, is below a quarter of a unit in the last place.

use crate::simd::{F32, F64};
use fearless_simd::Simd;

/// The constants of a precision that the algorithms use.
pub trait Tables {
    /// 1.5·2^p with p explicit bits of the significand: see `nearest`.
    const ROUNDER: f64;
    /// The smallest positive normal number.
    const MIN_NORMAL: f64;
    /// The largest finite number.
    const MAX: f64;
    /// The largest exponent of a finite number.
    const MAX_EXPONENT: f64;
    /// A power of two that lifts every subnormal number into the normal range, and its exponent.
    const LIFT: (f64, f64);
    /// Beyond ± this, exp is ∞ or 0; 2^(this/(2 ln 2)) is a normal number.
    const EXP_RANGE: f64;
    /// Up to ± this, multiples of π/2 are subtracted accurately.
    const TRIGONOMETRIC_RANGE: f64;

    /// ln 2 in two parts; the first times an exponent is exact.
    const LN_2: [f64; 2];
    /// π/2 in parts; all but the last, times an integer in range, are exact.
    const HALF_PI: [f64; 4];

    /// (eʳ − 1 − r − r²/2)/r³ for |r| ≤ ln(2)/2, in powers of r.
    const EXP: &'static [f64];
    /// (2 artanh(s) − 2s)/s³ for |s| ≤ (√2 − 1)/(√2 + 1), in powers of s².
    const LN: &'static [f64];
    /// (sin(r) − r)/r³ for |r| ≤ π/4, in powers of r².
    const SIN: &'static [f64];
    /// (cos(r) − 1 + r²/2)/r⁴ for |r| ≤ π/4, in powers of r².
    const COS: &'static [f64];
}

impl<S: Simd> Tables for F64<S> {
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const MIN_NORMAL: f64 = f64::MIN_POSITIVE;
    const MAX: f64 = f64::MAX;
    const MAX_EXPONENT: f64 = 1023.0;
    const LIFT: (f64, f64) = (18_014_398_509_481_984.0, 54.0);
    const EXP_RANGE: f64 = 1000.0;
    const TRIGONOMETRIC_RANGE: f64 = 1e6;

    const LN_2: [f64; 2] = [0.6931471804855391, 7.440617110012397e-11];
    const HALF_PI: [f64; 4] =
        [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32];

    const EXP: &'static [f64] = &[
        0.166666666666666,
        0.04166666666661894,
        0.008333333333390236,
        0.0013888888921042132,
        0.00019841269705912805,
        2.4801515546544554e-05,
        2.7557427092046296e-06,
        2.7622594116025485e-07,
        2.5045687757677715e-08,
    ];
    const LN: &'static [f64] = &[
        0.666666666666667,
        0.3999999999989827,
        0.2857142862653362,
        0.22222211043776857,
        0.18182895750119193,
        0.1533150161114533,
        0.1461916613488797,
    ];
    const SIN: &'static [f64] = &[
        -0.16666666666666666,
        0.008333333333330925,
        -0.00019841269836722418,
        2.755731608381636e-06,
        -2.5051127944014188e-08,
        1.5917848524808262e-10,
    ];
    const COS: &'static [f64] = &[
        0.041666666666666664,
        -0.0013888888888887382,
        2.480158729874307e-05,
        -2.7557317260008837e-07,
        2.0876143827993133e-09,
        -1.1382456778061306e-11,
    ];
}

impl<S: Simd> Tables for F32<S> {
    const ROUNDER: f64 = 12_582_912.0;
    const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;
    const MAX: f64 = f32::MAX as f64;
    const MAX_EXPONENT: f64 = 127.0;
    const LIFT: (f64, f64) = (33_554_432.0, 25.0);
    const EXP_RANGE: f64 = 125.0;
    const TRIGONOMETRIC_RANGE: f64 = 1e4;

    const LN_2: [f64; 2] = [0.693115234375, 3.194618329871446e-05];
    const HALF_PI: [f64; 4] =
        [1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12];

    const EXP: &'static [f64] = &[0.16666548, 0.0416668579, 0.00836623088, 0.00138982851];
    const LN: &'static [f64] = &[0.666666687, 0.400001228, 0.285507351, 0.233327627];
    const SIN: &'static [f64] = &[-0.166666672, 0.00833333191, -0.000198400827, 2.72493139e-06];
    const COS: &'static [f64] = &[0.0416666679, -0.00138888881, 2.48005963e-05, -2.73004474e-07];
}
