//! The distribution of Lewandowski, Kurowicka and Joe: correlation matrices R with density
//! proportional to det(R)^(η − 1), by their Cholesky factors.
//!
//! Rows of the factor are independent. The m = k − 1 elements of row k of n before its diagonal
//! have density ∝ (1 − |w|²)^(b − 1) in the unit ball, with b = η + (n − k)/2.

use super::draw::{ln_gamma_draw, normal};
use crate::Expr;
use std::f64::consts::PI;

/// log of the integral of the density over row k of n, from 1.
fn log_mass<'g>(eta: Expr<'g>, k: usize, n: usize) -> Expr<'g> {
    let (b, half) = (eta + 0.5 * (n - k) as f64, 0.5 * (k - 1) as f64);
    half * PI.ln() + b.ln_gamma() - (b + half).ln_gamma()
}

/// The log density of a factor with this diagonal, with respect to its elements below the diagonal.
pub(crate) fn lkj_factor<'g>(diagonal: &[Expr<'g>], eta: Expr<'g>) -> Expr<'g> {
    let n = diagonal.len();
    (2..=n)
        .map(|k| {
            let power = 2.0 * eta + ((n - k) as f64 - 2.0);
            power * diagonal[k - 1].ln() - log_mass(eta, k, n)
        })
        .sum()
}

/// The log density of the correlation matrix whose factor has this diagonal, with respect to the
/// correlations.
pub(crate) fn lkj<'g>(diagonal: &[Expr<'g>], eta: Expr<'g>) -> Expr<'g> {
    let n = diagonal.len();
    let masses: Expr<'g> = (2..=n).map(|k| log_mass(eta, k, n)).sum();
    let logs: Expr<'g> = diagonal.iter().skip(1).map(|x| x.ln()).sum();
    2.0 * (eta - 1.0) * logs - masses
}

/// The triangle of the factor of a drawn matrix.
pub(crate) fn draw_lkj(n: usize, eta: f64, random: &mut impl FnMut() -> f64) -> Vec<f64> {
    let mut triangle = vec![1.0];
    for k in 2..=n {
        // |w|² is a beta variate with parameters m/2 and b, and its direction is uniform.
        let half = 0.5 * (k - 1) as f64;
        let logs = [half, eta + 0.5 * (n - k) as f64].map(|shape| ln_gamma_draw(shape, random));
        let square = 1.0 / (1.0 + (logs[1] - logs[0]).exp());
        let direction: Vec<f64> = (1..k).map(|_| normal(random)).collect();
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        triangle.extend(direction.iter().map(|x| x / length * square.sqrt()));
        triangle.push((1.0 - square).max(f64::MIN_POSITIVE).sqrt());
    }
    triangle
}
