//! The map from raw to positive parameters that takes 0 to 1: c(x) = log(1 + (e − 1) eˣ).
//!
//! It is softplus(x + ln(e − 1)). A layer whose strength is c − 1 is the identity when its raw
//! parameters are 0. With the plain softplus, c(0) = 0.69: fresh layers contract, and a deep stack
//! collapses to a point before training starts.

use crate::simd::{F64, Lane, Math};
use fearless_simd::Simd;

/// ln(e − 1), where softplus is 1.
const SHIFT: f64 = 0.541_324_854_612_918_1;

/// c(x)
#[inline(always)]
pub(super) fn positive<S: Simd>(x: F64<S>) -> F64<S> {
    (x + F64::splat(x.token(), SHIFT)).softplus()
}

/// c'(x) from c(x): the logistic function of x + ln(e − 1) is 1 − e^{−c}.
#[inline(always)]
pub(super) fn slope<S: Simd>(c: F64<S>) -> F64<S> {
    -(-c).exp_m1()
}

/// c(x) − 1 − x from x and c(x), without cancellation near x = 0, where it is about −x/e.
#[inline(always)]
pub(super) fn excess<S: Simd>(x: F64<S>, c: F64<S>) -> F64<S> {
    let token = x.token();
    let (one, per_e) = (F64::splat(token, 1.0), F64::splat(token, (-1.0_f64).exp()));
    // c(x) − 1 − x = log(e^{−x}/e + 1 − 1/e) = log1p(expm1(−x)/e).
    let near = (per_e * (-x).exp_m1()).ln_1p();
    F64::select(x.abs().lt(one), near, c - one - x)
}
