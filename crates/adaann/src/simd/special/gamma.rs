//! ln Γ and its derivatives: Stirling's series for large x, polynomials around 2, and recurrence in
//! between.

use super::super::math::horner;
use super::super::{F64, Lane, Math};
use fearless_simd::Simd;

/// ½ ln 2π
pub(crate) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// From here on Stirling's series is accurate to the last digit, including the correction to its
/// leading terms.
const LARGE: f64 = 10.0;

/// The most steps that bring an argument below `LARGE` to at most 2½.
const MOST_STEPS: usize = 8;

/// B_2k / (2k (2k − 1)), the coefficients of x^(1 − 2k) in ln Γ.
const LN_GAMMA_SERIES: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1_260.0,
    -1.0 / 1_680.0,
    1.0 / 1_188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3_617.0 / 122_400.0,
    43_867.0 / 244_188.0,
];

/// B_2k / 2k, those of −x^(−2k) in its derivative.
const DIGAMMA_SERIES: [f64; 10] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3_617.0 / 8_160.0,
    43_867.0 / 14_364.0,
    -174_611.0 / 6_600.0,
];

/// ln Γ(2 + z)/z for |z| ≤ ½, to 3e-19.
const LN_GAMMA_NEAR: [f64; 20] = [
    0.42278433509846713,
    0.3224670334241132,
    -0.06735230105319814,
    0.02058080842778457,
    -0.0073855510286681535,
    0.002890510330738737,
    -0.0011927539120010226,
    0.0005096695248853096,
    -0.00022315475074520367,
    9.945750909889392e-05,
    -4.4926351103833334e-05,
    2.050726741605779e-05,
    -9.438458716242811e-06,
    4.374374916915131e-06,
    -2.0449201467015115e-06,
    9.578663334114758e-07,
    -4.303558760359961e-07,
    2.0304806751615227e-07,
    -1.3412819758517287e-07,
    6.379047507619774e-08,
];

/// ψ(2 + z) for |z| ≤ ½, to 2e-18.
const DIGAMMA_NEAR: [f64; 20] = [
    0.42278433509846713,
    0.6449340668482264,
    -0.20205690315959524,
    0.08232323371113867,
    -0.036927755143244,
    0.01734306198438618,
    -0.008349277388351162,
    0.004077356201158327,
    -0.0020083926597339397,
    0.000994575044648632,
    -0.0004941910706674096,
    0.0002460877865122942,
    -0.00012269116296546469,
    6.123704338305966e-05,
    -3.0710978704203905e-05,
    1.53436270842166e-05,
    -7.231701017698152e-06,
    3.6145567803015683e-06,
    -2.627891771944428e-06,
    1.3137798782020037e-06,
];

/// An argument shifted to 2 + z with |z| ≤ ½: Γ(x) = Γ(2 + z)·product if x was above, and
/// Γ(2 + z)/product if it was below. Everything but the product is exact.
struct Near<S: Simd> {
    z: F64<S>,
    product: F64<S>,
    /// product · Σ 1/factor
    derivative: F64<S>,
    below: <F64<S> as Lane<S>>::Mask,
}

/// Shifts arguments below `LARGE` to near 2; the result for other arguments is unspecified.
#[inline(always)]
fn near<S: Simd>(x: F64<S>, large: <F64<S> as Lane<S>>::Mask) -> Near<S> {
    let simd = x.token();
    let (zero, one, two) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0), F64::splat(simd, 2.0));
    let (below, far_below) = (x.lt(F64::splat(simd, 1.5)), x.lt(F64::splat(simd, 0.5)));
    let mut y = F64::select(large, two, x);
    let (mut product, mut derivative) = (one, zero);
    for _ in 0..MOST_STEPS {
        let above = F64::splat(simd, 2.5).lt(y);
        if !F64::<S>::any(above) {
            break;
        }
        y = F64::select(above, y - one, y);
        derivative = F64::select(above, derivative.mul_add(y, product), derivative);
        product = F64::select(above, product * y, product);
    }
    let z = F64::select(below, F64::select(far_below, x, x - one), y - two);
    // x, or x (x + 1) for x < ½
    let lower = F64::select(far_below, x.mul_add(x, x), x);
    let lower_derivative = F64::select(far_below, two.mul_add(x, one), one);
    Near {
        z,
        product: F64::select(below, lower, product),
        derivative: F64::select(below, lower_derivative, derivative),
        below,
    }
}

/// `result` where x ≥ 0 or NaN, and NaN for negative x.
#[inline(always)]
fn above_zero<S: Simd>(x: F64<S>, result: F64<S>) -> F64<S> {
    let simd = x.token();
    F64::select(x.lt(F64::splat(simd, 0.0)), F64::splat(simd, f64::NAN), result)
}

/// (x − ½) ln x − x + ½ ln 2π; ∞ at ∞.
#[inline(always)]
fn stirling<S: Simd>(x: F64<S>, ln_x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (half, one) = (F64::splat(simd, 0.5), F64::splat(simd, 1.0));
    (x - half).mul_add(ln_x - one, F64::splat(simd, HALF_LN_TAU - 0.5))
}

#[inline(always)]
fn ln_gamma_series<S: Simd>(x: F64<S>) -> F64<S> {
    let inverse = F64::splat(x.token(), 1.0) / x;
    horner(inverse * inverse, &LN_GAMMA_SERIES) * inverse
}

#[inline(always)]
fn digamma_series<S: Simd>(x: F64<S>) -> F64<S> {
    let inverse = F64::splat(x.token(), 1.0) / x;
    let square = inverse * inverse;
    -(horner(square, &DIGAMMA_SERIES) * square)
}

#[inline(always)]
pub(super) fn ln_gamma<S: Simd>(x: F64<S>) -> F64<S> {
    let large = F64::splat(x.token(), LARGE).le(x);
    let Near { z, product, below, .. } = near(x, large);
    let log = F64::select(large, x, product).ln();
    let small = horner(z, &LN_GAMMA_NEAR).mul_add(z, F64::select(below, -log, log));
    let result = F64::select(large, stirling(x, log) + ln_gamma_series(x), small);
    above_zero(x, result)
}

#[inline(always)]
pub(super) fn digamma<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let zero = F64::splat(simd, 0.0);
    let x = x + zero; // −0 is the same pole as 0
    let large = F64::splat(simd, LARGE).le(x);
    let Near { z, product, derivative, below } = near(x, large);
    let sum = derivative / product;
    let small = horner(z, &DIGAMMA_NEAR) + F64::select(below, -sum, sum);
    let far = x.ln() - F64::splat(simd, 0.5) / x + digamma_series(x);
    above_zero(x, F64::select(large, far, small))
}

#[inline(always)]
pub(super) fn ln_gamma_rest<S: Simd>(x: F64<S>) -> F64<S> {
    let large = F64::splat(x.token(), LARGE).le(x);
    let series = ln_gamma_series(x);
    if !F64::<S>::any(!large) {
        return series;
    }
    F64::select(large, series, ln_gamma(x) - stirling(x, x.ln()))
}

#[inline(always)]
pub(super) fn digamma_rest<S: Simd>(x: F64<S>) -> F64<S> {
    let simd = x.token();
    let large = F64::splat(simd, LARGE).le(x);
    let series = digamma_series(x);
    if !F64::<S>::any(!large) {
        return series;
    }
    F64::select(large, series, digamma(x) - x.ln() + F64::splat(simd, 0.5) / x)
}

/// B_2k
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2_730.0,
    7.0 / 6.0,
    -3_617.0 / 510.0,
    43_867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// ψₙ(x) = (−1)^(n + 1) n! Σ (x + k)^(−n − 1) for n ≥ 1: terms until x + k is n + 20, then the
/// integral of the rest with Euler–Maclaurin corrections.
#[inline(always)]
pub(super) fn polygamma<S: Simd>(n: u8, x: F64<S>) -> F64<S> {
    let simd = x.token();
    let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
    let order = f64::from(n);
    let enough = F64::splat(simd, order + 20.0);
    let mut y = (x + zero).max(zero);
    let mut sum = zero;
    loop {
        let more = y.lt(enough);
        if !F64::<S>::any(more) {
            break;
        }
        sum = sum + F64::select(more, power(one / y, n) / y, zero);
        y = F64::select(more, y + one, y);
    }
    let inverse = one / y;
    let square = inverse * inverse;
    // The correction of B_2k has the factor (2k + n − 1)!/((2k)! n!).
    let mut factor = 0.5 * (order + 1.0);
    let (mut correction, mut decay) = (zero, square);
    for (k, bernoulli) in BERNOULLI.iter().enumerate() {
        correction = decay.mul_add(F64::splat(simd, bernoulli * factor), correction);
        decay = decay * square;
        let k = 2.0 * (k as f64 + 1.0);
        factor *= (k + order) * (k + order + 1.0) / ((k + 1.0) * (k + 2.0));
    }
    let integral = F64::splat(simd, order.recip()) + F64::splat(simd, 0.5) * inverse;
    sum = power(inverse, n).mul_add(integral + correction, sum);
    let mut factorial = if n % 2 == 1 { 1.0 } else { -1.0 };
    for k in 1..=n {
        factorial *= f64::from(k);
    }
    let result = F64::select(x.eq(x), sum * F64::splat(simd, factorial), x);
    above_zero(x, result)
}

#[inline(always)]
fn power<S: Simd>(x: F64<S>, n: u8) -> F64<S> {
    let mut result = x;
    for _ in 1..n {
        result = result * x;
    }
    result
}
