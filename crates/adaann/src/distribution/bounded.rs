//! Densities between two bounds.

use super::interval::{inside, outside};
use crate::Expr;

pub(super) fn beta<'g>(x: Expr<'g>, a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, 1.0);
    (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - a.ln_beta(b) + outside
}

pub(super) fn uniform<'g>(x: Expr<'g>, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
    -(high - low).ln() + outside(x, low, high)
}

pub(super) fn log_uniform<'g>(x: Expr<'g>, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
    let (x, outside) = match (low.as_constant(), high.as_constant()) {
        (Some(low), Some(high)) => inside(x, low, high),
        _ => (inside(x, 0.0, f64::INFINITY).0, outside(x, low, high)),
    };
    // ln(high/low): the first form is exact for close bounds, the second does not overflow.
    let close = (low.recip() * (high - low)).min(1.0).ln_1p();
    let log_width = high.le(2.0 * low).select(close, high.ln() - low.ln());
    -x.ln() - log_width.ln() + outside
}
