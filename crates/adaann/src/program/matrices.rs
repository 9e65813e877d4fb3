//! Functions of matrices with recorded elements: by dense routines, or unrolled into operations.
//!
//! Triangles have the layout of dense routines: row by row, diagonal included.

use super::dense::{Covariance, CovarianceKind, Dense, in_triangle, triangle};
use super::expr::Expr;
use std::f64::consts::PI;
use std::sync::Arc;

/// How functions of matrices are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// One instruction each.
    Dense,
    /// Single operations, which solvers of differential equations can differentiate in both modes.
    Unrolled,
}

/// Matrices with fewer rows are unrolled.
const FEW: usize = 3;

impl Way {
    fn is_dense(self, n: usize) -> bool {
        self == Self::Dense && n >= FEW
    }
}

/// a b, or 0 if one of them is the constant 0: structural zeros of a matrix cost nothing.
pub(crate) fn times<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let is_zero = |x: Expr<'g>| x.as_constant() == Some(0.0);
    if is_zero(a) || is_zero(b) { 0.0.into() } else { a * b }
}

/// The triangle of L with L Lᵀ = A; NaN where A is not positive definite.
pub(crate) fn cholesky<'g>(a: &[Expr<'g>], n: usize, way: Way) -> Vec<Expr<'g>> {
    if way.is_dense(n) {
        return Expr::dense(Dense::Cholesky { n }, a, triangle(n));
    }
    let mut l: Vec<Expr<'g>> = Vec::with_capacity(a.len());
    for i in 0..n {
        for j in 0..=i {
            let mut rest = a[in_triangle(i, j)];
            for k in 0..j {
                rest -= l[in_triangle(i, k)] * l[in_triangle(j, k)];
            }
            l.push(if i == j { rest.sqrt() } else { rest / l[in_triangle(j, j)] });
        }
    }
    l
}

/// L x
pub(crate) fn lower_times<'g>(l: &[Expr<'g>], x: &[Expr<'g>], way: Way) -> Vec<Expr<'g>> {
    let n = x.len();
    if way.is_dense(n) {
        return Expr::dense(Dense::LowerTimes { n }, &[l, x].concat(), n);
    }
    (0..n).map(|i| (0..=i).map(|j| times(l[in_triangle(i, j)], x[j])).sum()).collect()
}

/// L⁻¹ x
pub(crate) fn solve_lower<'g>(l: &[Expr<'g>], x: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let mut solved: Vec<Expr<'g>> = Vec::with_capacity(x.len());
    for i in 0..x.len() {
        let mut rest = x[i];
        for k in 0..i {
            rest -= times(l[in_triangle(i, k)], solved[k]);
        }
        solved.push(rest / l[in_triangle(i, i)]);
    }
    solved
}

/// L⁻ᵀ x
pub(crate) fn solve_lower_transposed<'g>(l: &[Expr<'g>], x: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let mut solved = x.to_vec();
    for i in (0..x.len()).rev() {
        for k in i + 1..x.len() {
            let known = solved[k];
            solved[i] -= times(l[in_triangle(k, i)], known);
        }
        solved[i] /= l[in_triangle(i, i)];
    }
    solved
}

/// The log density of residuals under a covariance, given by its triangle.
pub(crate) fn normal_residuals<'g>(residuals: &[Expr<'g>], covariance: &[Expr<'g>]) -> Expr<'g> {
    let n = residuals.len();
    Expr::dense(Dense::MultiNormal { n }, &[residuals, covariance].concat(), 1)[0]
}

/// The settings of a covariance function.
#[derive(Clone, Copy)]
pub(crate) struct CovarianceSettings<'g> {
    pub(crate) variance: Expr<'g>,
    pub(crate) length_scale: Expr<'g>,
    pub(crate) period: Option<Expr<'g>>,
}

/// A covariance function at some distances.
pub(crate) fn covariances<'g>(
    kind: CovarianceKind,
    settings: CovarianceSettings<'g>,
    distances: &[Expr<'g>],
    way: Way,
) -> Vec<Expr<'g>> {
    let plain: Option<Vec<f64>> = distances.iter().map(|d| d.as_constant()).collect();
    if way == Way::Dense
        && let Some(plain) = plain
    {
        let routine = Dense::Covariance(Arc::new(Covariance::new(kind, &plain)));
        let mut operands = vec![settings.variance, settings.length_scale];
        operands.extend(settings.period);
        return Expr::dense(routine, &operands, plain.len());
    }
    distances.iter().map(|&d| covariance(kind, settings, d)).collect()
}

fn covariance<'g>(kind: CovarianceKind, settings: CovarianceSettings<'g>, d: Expr<'g>) -> Expr<'g> {
    let scaled = d / settings.length_scale;
    settings.variance
        * match kind {
            CovarianceKind::ExpQuad => (-0.5 * scaled.square()).exp(),
            CovarianceKind::Matern32 => {
                let s = 3.0_f64.sqrt() * scaled;
                (1.0 + s) * (-s).exp()
            }
            CovarianceKind::Matern52 => {
                let s = 5.0_f64.sqrt() * scaled;
                (1.0 + s + s.square() / 3.0) * (-s).exp()
            }
            CovarianceKind::Periodic => {
                let period = settings.period.unwrap_or_else(|| 1.0.into());
                let sine = (PI * d / period).sin() / settings.length_scale;
                (-2.0 * sine.square()).exp()
            }
        }
}
