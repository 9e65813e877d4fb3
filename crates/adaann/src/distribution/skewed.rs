//! Skewed densities on the whole line.

use super::line::normal;
use crate::Expr;
use std::f64::consts::LN_2;

pub(super) fn skew_normal<'g>(
    x: Expr<'g>,
    location: Expr<'g>,
    scale: Expr<'g>,
    shape: Expr<'g>,
) -> Expr<'g> {
    let leaning = shape * (scale.recip() * (x - location));
    normal(x, location, scale) + leaning.ln_normal_cdf() + LN_2
}

pub(super) fn gumbel<'g>(x: Expr<'g>, location: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    let u = scale.recip() * (x - location);
    -u - (-u).exp() - scale.ln()
}
