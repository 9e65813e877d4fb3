//! Densities of positive numbers.

use super::interval::{inside, outside};
use super::line::normal;
use crate::Expr;
use crate::simd::HALF_LN_TAU;

pub(super) fn log_normal<'g>(x: Expr<'g>, log_mean: Expr<'g>, log_sd: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    let log_x = x.ln();
    normal(log_x, log_mean, log_sd) - log_x + outside
}

pub(super) fn exponential<'g>(x: Expr<'g>, rate: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    rate.ln() - rate * x + outside
}

pub(super) fn gamma<'g>(x: Expr<'g>, shape: Expr<'g>, rate: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    let constant = shape * rate.ln() - shape.ln_gamma();
    (shape - 1.0) * x.ln() - rate * x + constant + outside
}

pub(super) fn inv_gamma<'g>(x: Expr<'g>, shape: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    // The density underflows to 0 where 1/x² overflows.
    const NEAREST: f64 = 1e-150;
    let outside = outside(x, 0.0, f64::INFINITY);
    let x = x.gt(NEAREST).select(x, NEAREST).min(f64::MAX);
    let constant = shape * scale.ln() - shape.ln_gamma();
    -(shape + 1.0) * x.ln() - scale * x.recip() + constant + outside
}

pub(super) fn weibull<'g>(x: Expr<'g>, shape: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    let (log_x, log_scale) = (x.ln(), scale.ln());
    let constant = shape.ln() - shape * log_scale;
    (shape - 1.0) * log_x - (shape * (log_x - log_scale)).exp() + constant + outside
}

pub(super) fn inverse_gaussian<'g>(x: Expr<'g>, mean: Expr<'g>, shape: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    // (x − mean)²/(mean² x), in a form whose slope in the mean is x/mean² times the remaining
    // factor.
    let square = ((mean.recip() * x - 1.0) * x.sqrt().recip()).square();
    -0.5 * shape * square + 0.5 * shape.ln() - 1.5 * x.ln() - HALF_LN_TAU + outside
}

pub(super) fn log_logistic<'g>(x: Expr<'g>, scale: Expr<'g>, shape: Expr<'g>) -> Expr<'g> {
    let (x, outside) = inside(x, 0.0, f64::INFINITY);
    let log_x = x.ln();
    let size = (shape * (log_x - scale.ln())).abs();
    -size - 2.0 * (-size).exp().ln_1p() + shape.ln() - log_x + outside
}
