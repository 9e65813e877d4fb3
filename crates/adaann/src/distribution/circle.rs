//! The density of an angle.

use crate::Expr;
use std::f64::consts::{PI, TAU};

/// κ cos d − ln(2π I₀(κ)), with the large part of both terms cancelled analytically.
pub(super) fn von_mises<'g>(x: Expr<'g>, mean: Expr<'g>, concentration: Expr<'g>) -> Expr<'g> {
    // cos d − 1
    let below_top = -2.0 * (0.5 * (x - mean)).sin().square();
    concentration * below_top - (ln_scaled_bessel(concentration) + TAU.ln())
}

/// ln(e^−κ I₀(κ)) for κ > 0.
///
/// I₀ is the mean of e^(κ cos θ) over a circle. The mean over `POINTS` angles differs from it by less
/// than 1e-17 up to `LARGE`; from there on its series in 1/κ is accurate to the last digit.
pub(super) fn ln_scaled_bessel(concentration: Expr<'_>) -> Expr<'_> {
    const LARGE: f64 = 40.0;
    const POINTS: usize = 56;
    const TERMS: i32 = 24;
    let near = concentration.min(LARGE);
    let mut sum: Expr<'_> = 0.5.into();
    for point in 1..=POINTS / 2 {
        // Two angles have this cosine, except at the start and at the end.
        let share = if point == POINTS / 2 { 0.5 } else { 1.0 };
        let half = PI * point as f64 / POINTS as f64;
        sum += share * (near * (-2.0 * half.sin().powi(2))).exp();
    }
    let mean = sum * (2.0 / POINTS as f64);
    // Σ ((1·3···(2k − 1))²)/(k! (8κ)^k), starting with the last term.
    let inverse = (8.0 * concentration.max(LARGE)).recip();
    let mut series: Expr<'_> = 1.0.into();
    for k in (1..=TERMS).rev() {
        let k = f64::from(k);
        series = 1.0 + (2.0 * k - 1.0).powi(2) / k * inverse * series;
    }
    let far = series.ln() - 0.5 * (TAU * concentration.max(LARGE)).ln();
    concentration.lt(LARGE).select(mean.ln(), far)
}
