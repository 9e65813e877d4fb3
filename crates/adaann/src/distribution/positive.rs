//! Densities of positive numbers.

use super::interval::{inside, outside};
use super::line::normal;
use crate::Expr;

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
    // Nothing is left of the density where 1/x² overflows.
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
