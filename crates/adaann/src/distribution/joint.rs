//! Densities of several numbers at once, and mixtures.

use super::draw::{ln_gamma_draw, normal};
use crate::Expr;
use crate::program::log_sum_exp;
use crate::simd::HALF_LN_TAU;

/// The log density of a multivariate normal, from the lower-triangular factor of its covariance, row
/// by row.
///
/// # Panics
/// If the lengths do not belong together.
pub(crate) fn multi_normal<'g>(x: &[Expr<'g>], mean: &[Expr<'g>], factor: &[f64]) -> Expr<'g> {
    let dim = x.len();
    assert!(mean.len() == dim && factor.len() == dim * dim, "a mean and a factor for each number");
    // u = L⁻¹ (x − mean)
    let mut u: Vec<Expr<'g>> = Vec::with_capacity(dim);
    let mut constant = dim as f64 * HALF_LN_TAU;
    for i in 0..dim {
        let row = &factor[i * dim..];
        let mut rest = x[i] - mean[i];
        for k in (0..i).filter(|&k| row[k] != 0.0) {
            rest -= row[k] * u[k];
        }
        u.push(rest * row[i].recip());
        constant += row[i].ln();
    }
    -0.5 * u.iter().map(|u| u.square()).sum::<Expr<'g>>() - constant
}

/// A draw of a multivariate normal into `x`, from the factor of its covariance.
///
/// # Panics
/// If the lengths do not belong together.
pub(crate) fn draw_multi_normal(
    mean: &[f64],
    factor: &[f64],
    random: &mut impl FnMut() -> f64,
) -> Vec<f64> {
    let dim = mean.len();
    assert_eq!(factor.len(), dim * dim, "a factor for each number");
    let noise: Vec<f64> = (0..dim).map(|_| normal(random)).collect();
    (0..dim)
        .map(|i| mean[i] + (0..=i).map(|k| factor[i * dim + k] * noise[k]).sum::<f64>())
        .collect()
}

/// The log density of numbers on the simplex, with respect to all of them but the last; that they
/// sum to 1 is not checked.
///
/// # Panics
/// If the lengths do not belong together.
pub(crate) fn dirichlet<'g>(x: &[Expr<'g>], concentrations: &[Expr<'g>]) -> Expr<'g> {
    assert_eq!(x.len(), concentrations.len(), "a concentration for each number");
    let whole: Expr<'g> = concentrations.iter().sum();
    let mut sum = whole.ln_gamma();
    for (&x, &a) in x.iter().zip(concentrations) {
        // One of two numbers that sum to 1 may round to it.
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
