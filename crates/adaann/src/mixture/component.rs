//! One component of a mixture, represented by the factor of its covariance.

use crate::{Batch, Result, importance, linear, simd::Special};
use std::ops::Range;

/// Points per block: with fifty coordinates they still fit into the caches.
const BLOCK: usize = 128;

/// One Gaussian of a mixture, or one Student distribution.
#[derive(Debug, Clone, PartialEq)]
#[doc(alias("GMM", "Gaussian mixture"))]
pub struct Component {
    /// Its weight; the weights of all components sum to 1.
    pub weight: f64,
    /// Its mean.
    pub mean: Vec<f64>,
    /// Its covariance, row by row; for a Student distribution, that of the Gaussian matching its core.
    pub covariance: Vec<f64>,
    /// Degrees of freedom of its tails; `None` for a Gaussian.
    pub degrees: Option<f64>,
}

impl Component {
    /// The Gaussian with the mean and the covariance of equally weighted points.
    ///
    /// # Errors
    /// If there are no points, or one is not finite.
    pub(crate) fn describing(points: &Batch) -> Result<Self> {
        let (dim, count) = (points.dim(), points.len());
        let equal = vec![1.0 / count as f64; count];
        Ok(Self {
            weight: 1.0,
            mean: (0..dim).map(|d| points.row(d).iter().sum::<f64>() / count as f64).collect(),
            covariance: importance::covariance(points, &equal)?,
            degrees: None,
        })
    }
}

/// A Gaussian with its weight.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gaussian {
    pub(crate) log_weight: f64,
    pub(crate) mean: Vec<f64>,
    /// Lower triangle L with L Lᵀ the covariance.
    pub(super) factor: Vec<f64>,
    /// log det L
    pub(super) log_det: f64,
    /// Degrees of freedom of its tails; `None` for a Gaussian.
    pub(super) degrees: Option<f64>,
}

impl Gaussian {
    /// `None` if the covariance is not positive definite.
    pub(super) fn new(weight: f64, mean: Vec<f64>, covariance: &[f64]) -> Option<Self> {
        let dim = mean.len();
        let factor = linear::cholesky(dim, covariance).ok()?;
        let log_det = (0..dim).map(|d| factor[d * dim + d].ln()).sum();
        Some(Self { log_weight: weight.ln(), mean, factor, log_det, degrees: None })
    }

    /// log of weight times density for each |L⁻¹(x − mean)|², without the constant that all Gaussians
    /// of a dimension share.
    pub(super) fn log_terms(&self, squares: &[f64]) -> Vec<f64> {
        let height = self.log_weight - self.log_det;
        match self.degrees {
            None => squares.iter().map(|square| height - 0.5 * square).collect(),
            Some(nu) => {
                let half = 0.5 * self.mean.len() as f64;
                let ln_gamma = |x: f64| Special::LnGamma.at(x);
                let peak = height + ln_gamma(0.5 * nu + half)
                    - ln_gamma(0.5 * nu)
                    - half * (0.5 * nu).ln();
                let power = 0.5 * nu + half;
                squares.iter().map(|square| peak - power * (square / nu).ln_1p()).collect()
            }
        }
    }

    /// |L⁻¹(x − centre)|² at every point, where `centre` is the mean or a separate point for each.
    pub(crate) fn squares(&self, points: &Batch, centres: Option<&Batch>) -> Vec<f64> {
        let (dim, len) = (points.dim(), points.len());
        let mut rows = vec![0.0; dim * len.min(BLOCK)];
        let mut squares = vec![0.0; len];
        for (block, squares) in squares.chunks_mut(BLOCK).enumerate() {
            let own = block * BLOCK..block * BLOCK + squares.len();
            self.add_squares(points, centres, own, &mut rows, squares);
        }
        squares
    }

    /// The same for a block of points, which stay in the caches until all coordinates are done.
    fn add_squares(
        &self,
        points: &Batch,
        centres: Option<&Batch>,
        own: Range<usize>,
        rows: &mut [f64],
        squares: &mut [f64],
    ) {
        let (dim, len) = (points.dim(), own.len());
        for d in 0..dim {
            let (before, row) = rows.split_at_mut(d * len);
            let (row, points) = (&mut row[..len], &points.row(d)[own.clone()]);
            match centres {
                Some(centres) => {
                    let centres = &centres.row(d)[own.clone()];
                    for ((y, x), c) in row.iter_mut().zip(points).zip(centres) {
                        *y = x - c;
                    }
                }
                None => {
                    for (y, x) in row.iter_mut().zip(points) {
                        *y = x - self.mean[d];
                    }
                }
            }
            for k in 0..d {
                let factor = self.factor[d * dim + k];
                if factor != 0.0 {
                    for (y, before) in row.iter_mut().zip(&before[k * len..][..len]) {
                        *y -= factor * before;
                    }
                }
            }
            let scale = 1.0 / self.factor[d * dim + d];
            for (y, square) in row.iter_mut().zip(&mut *squares) {
                *y *= scale;
                *square += *y * *y;
            }
        }
    }

    /// x ← mean + s L ξ for one point.
    pub(super) fn place(&self, normals: &[f64], scale: f64, out: &mut [f64]) {
        let dim = self.mean.len();
        for (d, out) in out.iter_mut().enumerate() {
            let row = &self.factor[d * dim..][..=d];
            let sum: f64 = row.iter().zip(normals).map(|(l, n)| l * n).sum();
            *out = self.mean[d] + scale * sum;
        }
    }

    /// y ← L ξ for every point.
    pub(crate) fn stretch(&self, normals: &Batch, out: &mut Batch) {
        let dim = self.mean.len();
        for d in 0..dim {
            let out = out.row_mut(d);
            out.fill(0.0);
            for k in 0..=d {
                add_scaled(self.factor[d * dim + k], normals.row(k), out);
            }
        }
    }

    /// y ← Lᵀ g for every point.
    pub(crate) fn stretch_back(&self, gradient: &Batch, out: &mut Batch) {
        let dim = self.mean.len();
        for d in 0..dim {
            let out = out.row_mut(d);
            out.fill(0.0);
            for k in d..dim {
                add_scaled(self.factor[k * dim + d], gradient.row(k), out);
            }
        }
    }

    /// The covariance, row by row.
    pub(super) fn covariance(&self) -> Vec<f64> {
        let dim = self.mean.len();
        let entry = |i: usize, j: usize| -> f64 {
            (0..=i.min(j)).map(|k| self.factor[i * dim + k] * self.factor[j * dim + k]).sum()
        };
        (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
    }

    /// Its public representation.
    pub(super) fn to_component(&self) -> Component {
        Component {
            weight: self.log_weight.exp(),
            mean: self.mean.clone(),
            covariance: self.covariance(),
            degrees: self.degrees,
        }
    }
}

/// out ← out + factor · row
fn add_scaled(factor: f64, row: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(row) {
        *out += factor * x;
    }
}
