//! Densities on the whole line that are symmetric around a location, and their upper halves.

use super::interval::inside;
use crate::Expr;
use crate::simd::HALF_LN_TAU;
use std::f64::consts::{LN_2, PI};

pub(super) fn normal<'g>(x: Expr<'g>, mean: Expr<'g>, sd: Expr<'g>) -> Expr<'g> {
    let rate = sd.recip();
    // The square of such a large or small number would overflow or underflow.
    let extreme = sd.as_constant().is_some_and(|sd| !(1e-100..1e100).contains(&sd));
    let square =
        if extreme { (rate * (x - mean)).square() } else { rate.square() * (x - mean).square() };
    -0.5 * square - (sd.ln() + HALF_LN_TAU)
}

pub(super) fn student_t<'g>(
    x: Expr<'g>,
    df: Expr<'g>,
    location: Expr<'g>,
    scale: Expr<'g>,
) -> Expr<'g> {
    let u = (scale * df.sqrt()).recip() * (x - location);
    let constant = (0.5 * df).ln_beta(0.5) + 0.5 * df.ln() + scale.ln();
    (-0.5 * (df + 1.0)) * ln_1p_square(u) - constant
}

pub(super) fn cauchy<'g>(x: Expr<'g>, location: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    -ln_1p_square(scale.recip() * (x - location)) - (scale.ln() + PI.ln())
}

pub(super) fn laplace<'g>(x: Expr<'g>, location: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    -scale.recip() * (x - location).abs() - (scale.ln() + LN_2)
}

pub(super) fn logistic<'g>(x: Expr<'g>, location: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    let size = (scale.recip() * (x - location)).abs();
    -size - 2.0 * (-size).exp().ln_1p() - scale.ln()
}

/// The density of |x|, given one that is symmetric around 0.
pub(super) fn half<'g>(x: Expr<'g>, whole: impl FnOnce(Expr<'g>) -> Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    whole(x) + LN_2 + outside
}

/// ln(1 + u²), where u² may overflow in a heavy tail.
fn ln_1p_square(u: Expr<'_>) -> Expr<'_> {
    // Beyond FAR it is 2 ln|u|, with an error below 1/FAR², which is ε/4.
    const FAR: f64 = 134_217_728.0; // 2^27
    let size = u.abs();
    let is_far = || size.gt(FAR);
    let argument = is_far().select(size - 1.0, size.min(FAR).square());
    is_far().select(2.0, 1.0) * argument.ln_1p()
}
