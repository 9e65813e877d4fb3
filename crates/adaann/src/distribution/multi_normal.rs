//! The multivariate normal, by its covariance or by its Cholesky factor.

use super::draw::normal;
use crate::linear;
use crate::program::{Expr, Way, cholesky, in_triangle, normal_residuals, solve_lower, triangle};
use crate::simd::HALF_LN_TAU;

/// The spread of a multivariate normal: a triangle, row by row and with its diagonal.
#[derive(Clone)]
pub(crate) enum Spread<'g> {
    Covariance(Vec<Expr<'g>>),
    /// The lower-triangular L with L Lᵀ as the covariance.
    Factor(Vec<Expr<'g>>),
}

impl<'g> Spread<'g> {
    /// The factor, if the entries are constants; `None` if they are not a covariance.
    pub(crate) fn plain_factor(&self) -> Option<Vec<f64>> {
        let plain =
            |x: &[Expr<'_>]| x.iter().map(|x| x.as_constant()).collect::<Option<Vec<f64>>>();
        match self {
            Self::Factor(factor) => plain(factor),
            Self::Covariance(covariance) => {
                plain(&cholesky(covariance, side_of(covariance.len()), Way::Dense))
                    .filter(|factor| factor.iter().all(|x| x.is_finite()))
            }
        }
    }
}

/// The number of rows in a triangle of this many numbers.
fn side_of(len: usize) -> usize {
    (0..=len).find(|&n| triangle(n) >= len).unwrap_or_default()
}

/// The factor of a constant covariance, as a triangle.
///
/// # Errors
/// If it is not symmetric and positive definite.
pub(crate) fn factor_of(dim: usize, covariance: &[f64]) -> crate::Result<Vec<f64>> {
    let factor = linear::cholesky(dim, covariance)?;
    Ok((0..dim).flat_map(|i| factor[i * dim..][..=i].to_vec()).collect())
}

/// Its log density at x.
///
/// # Panics
/// If the lengths do not match.
pub(crate) fn multi_normal<'g>(
    x: &[Expr<'g>],
    mean: &[Expr<'g>],
    spread: &Spread<'g>,
    way: Way,
) -> Expr<'g> {
    let dim = x.len();
    assert_eq!(mean.len(), dim, "a mean for each number");
    let residuals: Vec<Expr<'g>> = x.iter().zip(mean).map(|(&x, &mean)| x - mean).collect();
    let factored;
    let factor = match spread {
        Spread::Covariance(covariance) if way == Way::Dense => {
            return normal_residuals(&residuals, covariance);
        }
        Spread::Covariance(covariance) => {
            factored = cholesky(covariance, dim, way);
            &factored
        }
        Spread::Factor(factor) => factor,
    };
    let u = solve_lower(factor, &residuals);
    let squares: Expr<'g> = u.iter().map(|u| u.square()).sum();
    let logs: Expr<'g> = (0..dim).map(|i| factor[in_triangle(i, i)].ln()).sum();
    -0.5 * squares - logs - dim as f64 * HALF_LN_TAU
}

/// A draw, from the factor of its covariance.
///
/// # Panics
/// If the lengths do not match.
pub(crate) fn draw_multi_normal(
    mean: &[f64],
    factor: &[f64],
    random: &mut impl FnMut() -> f64,
) -> Vec<f64> {
    let dim = mean.len();
    assert_eq!(factor.len(), triangle(dim), "a factor for each number");
    let noise: Vec<f64> = (0..dim).map(|_| normal(random)).collect();
    (0..dim)
        .map(|i| mean[i] + (0..=i).map(|k| factor[in_triangle(i, k)] * noise[k]).sum::<f64>())
        .collect()
}
