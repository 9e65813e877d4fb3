//! The coordinates in which chains move: x = L u, with L Lᵀ a covariance of the draws so far.

use crate::{
    Batch, Result,
    importance::covariance,
    linear,
    simd::{F64, Kernel, Lane, dispatch},
};
use fearless_simd::Simd;
use std::ops::Range;

/// A covariance, given by its factor.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Metric {
    dim: usize,
    /// L
    lower: Vec<f64>,
    /// Lᵀ, row by row.
    upper: Vec<f64>,
    /// L⁻¹
    inverse: Vec<f64>,
}

impl Metric {
    /// The metric of a covariance, row by row.
    pub(super) fn new(dim: usize, covariance: &[f64]) -> Result<Self> {
        Ok(Self::of_factor(dim, linear::cholesky(dim, covariance)?))
    }

    /// The identity metric.
    pub(super) fn identity(dim: usize) -> Self {
        Self::of_factor(dim, (0..dim * dim).map(|at| unit(at / dim, at % dim)).collect())
    }

    fn of_factor(dim: usize, lower: Vec<f64>) -> Self {
        let upper = (0..dim * dim).map(|at| lower[at % dim * dim + at / dim]).collect();
        let mut inverse = vec![0.0; dim * dim];
        for column in 0..dim {
            let mut x: Vec<f64> = (0..dim).map(|row| unit(row, column)).collect();
            linear::solve_lower(dim, &lower, &mut x);
            (column..dim).for_each(|row| inverse[row * dim + column] = x[row]);
        }
        Self { dim, lower, upper, inverse }
    }

    /// x += s L v
    pub(super) fn add_stretched(&self, s: f64, v: &Batch, x: &mut Batch) {
        let (matrix, dim) = (&self.lower, self.dim);
        dispatch(AddProduct { matrix, dim, is_lower: true, s, from: v, to: x });
    }

    /// v += s Lᵀ g
    pub(super) fn add_stretched_back(&self, s: f64, g: &Batch, v: &mut Batch) {
        let (matrix, dim) = (&self.upper, self.dim);
        dispatch(AddProduct { matrix, dim, is_lower: false, s, from: g, to: v });
    }

    /// u = L⁻¹ x
    pub(super) fn whitened(&self, x: &Batch) -> Batch {
        let mut u = Batch::zeros(x.dim(), x.len());
        let (matrix, dim) = (&self.inverse, self.dim);
        dispatch(AddProduct { matrix, dim, is_lower: true, s: 1.0, from: x, to: &mut u });
        u
    }

    /// The covariance, row by row.
    pub(super) fn covariance(&self) -> Vec<f64> {
        let dim = self.dim;
        let rows = |i: usize, j: usize| (&self.lower[i * dim..][..dim], &self.lower[j * dim..]);
        let entry = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum();
        (0..dim * dim).map(|at| entry(rows(at / dim, at % dim))).collect()
    }

    /// The metric of draws that chains made with this one, where they could move as far as `reach` in its
    /// units.
    ///
    /// The draws' covariance S, in coordinates whitened by this metric, is mixed with c I, where log c is
    /// the mean of the logarithms of S's diagonal. Without this, few draws would give S directions of
    /// almost no spread, in which steps would be far too short. The correlations and scales of this metric
    /// are preserved.
    pub(super) fn learn(&self, draws: &Batch, reach: f64) -> Result<Self> {
        let (dim, len) = (self.dim, draws.len());
        let mut s = covariance(&self.whitened(draws), &vec![1.0; len])?;
        if reach < FAR {
            s = resolved(dim, &s, RESOLVED * reach * reach);
        }
        let spread = |d: usize| s[d * dim + d].max(LEAST_SPREAD);
        let c = ((0..dim).map(|d| spread(d).ln()).sum::<f64>() / dim as f64).exp();
        let share = SHARE * dim as f64 / (dim + len) as f64;
        s.iter_mut().for_each(|entry| *entry *= 1.0 - share);
        (0..dim).for_each(|d| s[d * dim + d] += share * c);
        let factor = linear::cholesky(dim, &s)?;
        // L times the factor of S is the factor of L S Lᵀ, which itself may be close to singular.
        let mut lower = vec![0.0; dim * dim];
        for i in 0..dim {
            for k in 0..=i {
                let entry = self.lower[i * dim + k];
                (0..=k).for_each(|j| lower[i * dim + j] += entry * factor[k * dim + j]);
            }
        }
        Ok(Self::of_factor(dim, lower))
    }
}

/// The covariance with a variance of at least 1 along axes where it is not below `least`.
///
/// Chains with short steps, because the density is narrow somewhere, do not move far in a window. Along an
/// axis where they could have moved further than their spread, the density limits them, and the spread is
/// its own. Along any other axis, the spread only shows how far they moved; as a scale it would make them
/// move even less.
fn resolved(dim: usize, s: &[f64], least: f64) -> Vec<f64> {
    let (values, axes) = linear::symmetric_eigen(dim, s);
    let mut out = vec![0.0; dim * dim];
    for (value, axis) in values.iter().zip(&axes) {
        let kept = if *value < least { value.max(LEAST_SPREAD) } else { value.max(1.0) };
        for i in 0..dim {
            for j in 0..dim {
                out[i * dim + j] += kept * axis[i] * axis[j];
            }
        }
    }
    out
}

/// Chains that can move this far see all of a density that this metric fits; chains with trajectories of
/// full length can do so within ten iterations.
const FAR: f64 = 4.0;

/// Without a limit by the density, the variance of chains is a sixth of the square of the distance that
/// they could reach; eigenvalues from few draws are several times smaller.
const RESOLVED: f64 = 0.01;

/// The share of c I in the mixture if there are far fewer draws than coordinates. Draws of a chain are
/// correlated, so even many have a small effective sample size. A floor of a tenth of the variance makes
/// trajectories at most three times as long; a floor of half would adapt slowly.
const SHARE: f64 = 0.5;

/// The variance, where 1 is expected, below which chains have not moved at all.
const LEAST_SPREAD: f64 = 1e-12;

/// Ones on the diagonal.
fn unit(row: usize, column: usize) -> f64 {
    f64::from(u8::from(row == column))
}

/// `to` += s · matrix · `from` for a triangular matrix.
struct AddProduct<'a> {
    matrix: &'a [f64],
    dim: usize,
    is_lower: bool,
    s: f64,
    from: &'a Batch,
    to: &'a mut Batch,
}

/// Rows and registers of a tile: eight accumulators.
const ROWS: usize = 4;
const REGISTERS: usize = 2;

impl AddProduct<'_> {
    /// M rows starting at `first`, for the points starting at `at`.
    #[inline(always)]
    fn tile<S: Simd, const M: usize>(&mut self, simd: S, first: usize, at: usize) {
        let Range { start, end } = if self.is_lower { 0..first + M } else { first..self.dim };
        let lanes = F64::<S>::LEN;
        let mut sums = [[F64::splat(simd, 0.0); REGISTERS]; M];
        for k in start..end {
            let row = &self.from.padded_row(k)[at..];
            let mut x = [F64::splat(simd, 0.0); REGISTERS];
            for r in 0..REGISTERS {
                x[r] = F64::load(simd, &row[r * lanes..]);
            }
            for m in 0..M {
                let entry = F64::splat(simd, self.matrix[(first + m) * self.dim + k]);
                for r in 0..REGISTERS {
                    sums[m][r] = entry.mul_add(x[r], sums[m][r]);
                }
            }
        }
        for m in 0..M {
            let row = &mut self.to.padded_row_mut(first + m)[at..];
            for r in 0..REGISTERS {
                let before = F64::load(simd, &row[r * lanes..]);
                let after = sums[m][r].mul_add(F64::splat(simd, self.s), before);
                after.store(&mut row[r * lanes..]);
            }
        }
    }
}

impl Kernel for AddProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let mut at = 0;
        while at < self.to.padded_len() {
            let mut first = 0;
            while first + ROWS <= self.dim {
                self.tile::<S, ROWS>(simd, first, at);
                first += ROWS;
            }
            while first < self.dim {
                self.tile::<S, 1>(simd, first, at);
                first += 1;
            }
            at += REGISTERS * F64::<S>::LEN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn normals(dim: usize, len: usize) -> Batch {
        let mut z = Batch::zeros(dim, len);
        Stream::new(3, Purpose::Chains).fill_normals(0, 0, &mut z);
        z
    }

    /// Seven dimensions, so that rows are left over after whole tiles.
    #[test]
    fn products_are_those_of_the_factor_and_whitening_undoes_them() {
        let (dim, len) = (7, 40);
        let a = normals(dim, dim);
        let dot = |i: usize, j: usize| -> f64 {
            a.row(i).iter().zip(a.row(j)).map(|(x, y)| x * y).sum::<f64>() + unit(i, j)
        };
        let covariance: Vec<f64> = (0..dim * dim).map(|at| dot(at / dim, at % dim)).collect();
        let metric = Metric::new(dim, &covariance).unwrap();
        let v = normals(dim, len);
        let [mut stretched, mut back] = [0, 1].map(|_| Batch::zeros(dim, len));
        metric.add_stretched(1.0, &v, &mut stretched);
        metric.add_stretched_back(-2.0, &v, &mut back);
        let whitened = metric.whitened(&stretched);
        for i in 0..len {
            for d in 0..dim {
                let by = |entry: fn(&Metric, usize, usize) -> f64| -> f64 {
                    (0..dim).map(|k| entry(&metric, d, k) * v.row(k)[i]).sum()
                };
                let forth = by(|metric, d, k| metric.lower[d * 7 + k]);
                let transposed = by(|metric, d, k| metric.lower[k * 7 + d]);
                assert!((stretched.row(d)[i] - forth).abs() < 1e-12);
                assert!((back.row(d)[i] + 2.0 * transposed).abs() < 1e-12);
                assert!((whitened.row(d)[i] - v.row(d)[i]).abs() < 1e-12);
            }
        }
        for (x, y) in metric.covariance().iter().zip(&covariance) {
            assert!((x - y).abs() < 1e-12);
        }
    }

    /// Draws of N(0, diag(1, 1e-6, 1e6)) starting from the identity: nothing is pulled towards the
    /// identity's scale by more than the share, and a second step, from the learned metric, has almost
    /// nothing to correct.
    #[test]
    fn a_metric_is_learned_whatever_the_scales() {
        let mut draws = normals(3, 2_000);
        for (d, scale) in [1.0, 1e-3, 1e3].into_iter().enumerate() {
            draws.row_mut(d).iter_mut().for_each(|x| *x *= scale);
        }
        let mut metric = Metric::identity(3);
        for _ in 0..3 {
            metric = metric.learn(&draws, f64::INFINITY).unwrap();
        }
        for (d, variance) in [1.0, 1e-6, 1e6].into_iter().enumerate() {
            let found = metric.covariance()[d * 3 + d];
            // A variance from 2000 draws has a standard error of 3 per cent.
            assert!((found / variance - 1.0).abs() < 0.13, "{d}: {found}");
        }
    }

    /// Chains that start 1e-3 wide, and move no further than 0.03 along the second axis: only the first
    /// axis, along which the density limits them, is narrow.
    #[test]
    fn how_far_chains_came_is_no_scale() {
        let mut draws = normals(2, 2_000);
        for (d, scale) in [1e-3, 0.03].into_iter().enumerate() {
            draws.row_mut(d).iter_mut().for_each(|x| *x *= scale);
        }
        let covariance = Metric::identity(2).learn(&draws, 0.1).unwrap().covariance();
        assert!((covariance[0] / 1e-6 - 1.0).abs() < 2.0, "{covariance:?}");
        assert!((covariance[3] - 1.0).abs() < 0.05, "{covariance:?}");
    }
}
