//! Joint densities of several numbers, and mixtures.

use super::draw::ln_gamma_draw;
use crate::Expr;
use crate::program::log_sum_exp;

/// The log density of numbers on the simplex, with respect to all of them but the last. It is not
/// checked that they sum to 1.
///
/// # Panics
/// If the lengths do not match.
pub(crate) fn dirichlet<'g>(x: &[Expr<'g>], concentrations: &[Expr<'g>]) -> Expr<'g> {
    assert_eq!(x.len(), concentrations.len(), "a concentration for each number");
    let whole: Expr<'g> = concentrations.iter().sum();
    let mut sum = whole.ln_gamma();
    for (&x, &a) in x.iter().zip(concentrations) {
        // One of two numbers that sum to 1 may round to 1.
        let (inside, outside) = super::interval::inside(x, 0.0, 1.0_f64.next_up());
        sum += (a - 1.0) * inside.ln() - a.ln_gamma() + outside;
    }
    sum
}

/// A draw of numbers on the simplex.
pub(crate) fn draw_dirichlet(concentrations: &[f64], random: &mut impl FnMut() -> f64) -> Vec<f64> {
    let logs: Vec<f64> = concentrations.iter().map(|&a| ln_gamma_draw(a, random)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|x| (x - largest).exp()).sum();
    logs.iter().map(|x| (x - largest).exp() / sum).collect()
}

/// ln Σ weight·density, from the logarithms of both.
pub(crate) fn mixture<'g>(log_weights: &[Expr<'g>], log_densities: &[Expr<'g>]) -> Expr<'g> {
    let terms: Vec<Expr<'g>> =
        log_weights.iter().zip(log_densities).map(|(weight, density)| weight + density).collect();
    log_sum_exp(&terms)
}
