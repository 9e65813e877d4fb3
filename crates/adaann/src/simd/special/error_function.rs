//! The error function and the normal distribution function, with the factor exp(−x²) computed
//! separately.

use super::super::math::horner;
use super::super::{F64, Lane, Math};
use fearless_simd::Simd;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// erf(x)/x for |x| ≤ 1 in powers of x², to 2e-19.
const ERF: [f64; 13] = [
    FRAC_2_SQRT_PI,
    -0.3761263890318375,
    0.11283791670954879,
    -0.026866170645076792,
    0.0052239776248180145,
    -0.000854832698083379,
    0.0001205533111164271,
    -1.4925595266831182e-05,
    1.6461000484121368e-06,
    -1.6350312701054695e-07,
    1.4659775274047436e-08,
    -1.1372848856791674e-09,
    5.957176147748911e-11,
];

/// (1 + 2x) exp(x²) erfc(x) for x ≥ 0 in powers of (x − 4)/(x + 4), to 2e-18.
const SCALED_ERFC: [f64; 26] = [
    1.2329951186255526,
    -0.1396211168405625,
    0.01537965210261959,
    0.0680970542546913,
    -0.1010390660362999,
    0.0937328349984105,
    -0.06633036581219905,
    0.03716751553632399,
    -0.01619773405968329,
    0.0050319699895242515,
    -0.000757773262030915,
    -0.00019925676026410458,
    0.00015062149237837335,
    -2.43989944557621e-05,
    -1.1221292615314274e-05,
    5.709314113532492e-06,
    2.9198219084548256e-07,
    -8.25078338681245e-07,
    7.74606863568198e-08,
    1.1025271999000152e-07,
    -2.05545313698593e-08,
    -1.4806988146925795e-08,
    3.1672611119361695e-09,
    1.825695118953907e-09,
    -2.655726616312575e-10,
    -1.4311318470928162e-10,
];

/// exp(x²) erfc(x) for x ≥ 0.
#[inline(always)]
fn scaled_erfc<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (one, four) = (F64::splat(simd, 1.0), F64::splat(simd, 4.0));
    let x = x.min(F64::splat(simd, 1e300));
    let t = (x - four) / (x + four);
    horner(t, &SCALED_ERFC) / (x + x + one)
}

/// exp(−s x²) for x ≥ 0 and a power of two s, as if x² were exact.
#[inline(always)]
fn gaussian<S: Simd>(x: F64<S>, s: f64) -> F64<S> {
    let simd = x.token();
    // Larger arguments underflow.
    let x = F64::select(F64::splat(simd, 40.0).lt(x), F64::splat(simd, 40.0), x);
    // x = high + low, where high has half the digits and an exact square (Veltkamp).
    let shifted = x * F64::splat(simd, 134_217_729.0);
    let high = shifted - (shifted - x);
    let low = x - high;
    let rest = F64::splat(simd, -s) * low * (x + high);
    (F64::splat(simd, -s) * high * high).exp() * (rest.exp_m1() + F64::splat(simd, 1.0))
}

/// erf(x) for |x| ≤ 1.
#[inline(always)]
fn erf_near<S: Simd>(x: F64<S>) -> F64<S> {
    x * horner(x * x, &ERF)
}

#[inline(always)]
pub(super) fn erf<S: Simd>(x: F64<S>) -> F64<S> {
    let one = F64::splat(x.token(), 1.0);
    let size = x.abs();
    let far = one - gaussian(size, 1.0) * scaled_erfc(size);
    F64::select(size.lt(one), erf_near(x), far.copysign(x))
}

#[inline(always)]
pub(super) fn erfc<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
    let size = x.abs();
    let tail = gaussian(size, 1.0) * scaled_erfc(size);
    let far = F64::select(x.lt(zero), F64::splat(simd, 2.0) - tail, tail);
    F64::select(size.lt(F64::splat(simd, 0.5)), one - erf_near(x), far)
}

#[inline(always)]
pub(super) fn ln_normal_cdf<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let half = F64::splat(simd, 0.5);
    let size = x.abs();
    let scaled = half * scaled_erfc(size * F64::splat(simd, FRAC_1_SQRT_2));
    let below = scaled.ln() - half * x * x;
    let above = (-(gaussian(size, 0.5) * scaled)).ln_1p();
    F64::select(x.lt(F64::splat(simd, 0.0)), below, above)
}

#[inline(always)]
pub(super) fn normal_hazard<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (half, one) = (F64::splat(simd, 0.5), F64::splat(simd, 1.0));
    let root = F64::splat(simd, FRAC_2_SQRT_PI * FRAC_1_SQRT_2); // √(2/π)
    let size = x.abs();
    let scaled = half * scaled_erfc(size * F64::splat(simd, FRAC_1_SQRT_2));
    let gaussian = gaussian(size, 0.5);
    let is_below = x.lt(F64::splat(simd, 0.0));
    let density = half * root * F64::select(is_below, one, gaussian);
    density / F64::select(is_below, scaled, gaussian.neg_mul_add(scaled, one))
}
