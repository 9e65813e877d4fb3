//! A peak with the Gaussian of its curvature.

use crate::linear;
use serde::{Deserialize, Serialize};

/// Two ends are the same peak if they are closer than this in units of its Gaussian, times √d, and equally
/// high.
const SAME_PLACE: f64 = 0.3;
const SAME_HEIGHT: f64 = 0.3;

/// Two Gaussians have the same mass if the logarithms of their masses differ by less than this.
const SAME_MASS: f64 = 0.5;

/// A point belongs to a Gaussian peak if its Newton step ends within this share of its distance, and its height
/// differs from the Gaussian's by at most this share.
const NEWTON: f64 = 0.2;

/// A peak, with the Gaussian of its curvature, on unconstrained coordinates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Summit {
    /// Its position.
    pub z: Vec<f64>,
    /// log p + log|J| there.
    pub log_density: f64,
    /// The inverse of the curvature, row by row.
    pub covariance: Vec<f64>,
    /// log of the mass that the density would have if it were this Gaussian.
    pub log_mass: f64,
    /// The number of ascents that ended here.
    pub ascents: usize,
    /// Is it a peak in every direction, rather than the end of an unfinished ascent?
    pub is_peak: bool,
    /// The number of ascents that ended here from draws of the base that were not chosen for their height.
    pub(super) any: usize,
    /// Lower factor of the covariance.
    pub(super) factor: Vec<f64>,
}

/// The end of an ascent, on unconstrained coordinates.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    pub(super) z: Vec<f64>,
    pub(super) log_density: f64,
    pub(super) has_peaked: bool,
}

impl Summit {
    /// The peak of a Gaussian of mass 1; none if its covariance is not positive definite.
    pub(crate) fn of_gaussian(mean: Vec<f64>, covariance: Vec<f64>) -> Option<Self> {
        let dim = mean.len();
        let factor = linear::cholesky(dim, &covariance).ok()?;
        let log_det: f64 = (0..dim).map(|d| factor[d * (dim + 1)].ln()).sum();
        let log_density = -log_det - 0.5 * dim as f64 * std::f64::consts::TAU.ln();
        Some(Self {
            z: mean,
            log_density,
            covariance,
            log_mass: 0.0,
            ascents: 0,
            is_peak: true,
            any: 0,
            factor,
        })
    }

    /// Lower factor of the covariance, row by row.
    pub(crate) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// log det of the factor: the logarithm of the Gaussian's volume up to a constant.
    pub(super) fn log_det(&self) -> f64 {
        let dim = self.z.len();
        (0..dim).map(|d| self.factor[d * (dim + 1)].ln()).sum()
    }

    /// Standard deviation of each coordinate.
    pub(crate) fn widths(&self) -> Vec<f64> {
        let dim = self.z.len();
        (0..dim).map(|d| self.covariance[d * (dim + 1)].max(0.0).sqrt()).collect()
    }

    /// Is another summit the same peak?
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (z, log_density) = (other.z.clone(), other.log_density);
        self.is_at(&Arrived { z, log_density, has_peaked: true })
    }

    /// Does this peak represent the Gaussian of another one, including its mass?
    pub(super) fn describes(&self, other: &Self) -> bool {
        self.is_same(other) && (self.log_mass - other.log_mass).abs() < SAME_MASS
    }

    /// L⁻¹(z − peak): the point in units of the peak's Gaussian.
    pub(super) fn whitened(&self, z: &[f64]) -> Vec<f64> {
        let mut away: Vec<f64> = z.iter().zip(&self.z).map(|(a, b)| a - b).collect();
        linear::solve_lower(self.z.len(), &self.factor, &mut away);
        away
    }

    /// peak + L y.
    pub(super) fn coloured(&self, y: &[f64]) -> Vec<f64> {
        let dim = y.len();
        let along = |i: usize| linear::dot(&self.factor[i * dim..][..=i], &y[..=i]);
        (0..dim).map(|i| self.z[i] + along(i)).collect()
    }

    /// Is the end of an ascent at this peak, or on its way there?
    pub(super) fn is_at(&self, end: &Arrived) -> bool {
        let dim = self.z.len() as f64;
        let away = self.whitened(&end.z);
        let square = linear::dot(&away, &away);
        let drop = self.log_density - end.log_density;
        let is_on_it = square < SAME_PLACE.powi(2) * dim && drop.abs() < SAME_HEIGHT;
        // An ascent that has not arrived may be on its way: as far below as a Gaussian would be.
        let is_on_its_way = !end.has_peaked
            && square < 9.0 * dim
            && (drop - 0.5 * square).abs() < 0.3 + 0.25 * square;
        is_on_it || is_on_its_way
    }

    /// Does the density around a point match this peak's Gaussian alone? Both its height and its gradient have
    /// to agree, so that one evaluation replaces a whole ascent.
    pub(super) fn explains(&self, z: &[f64], log_density: f64, gradient: &[f64]) -> bool {
        let dim = z.len();
        let y = self.whitened(z);
        let square = linear::dot(&y, &y);
        let drop = self.log_density - log_density;
        if (drop - 0.5 * square).abs() > NEWTON * (0.5 * square + 1.0) {
            return false;
        }
        // For a Gaussian, Lᵀ ∇ log p = −y.
        let mut pulled = y;
        for (i, slope) in gradient.iter().enumerate() {
            let row = &self.factor[i * dim..][..=i];
            pulled.iter_mut().zip(row).for_each(|(pulled, l)| *pulled += l * slope);
        }
        linear::dot(&pulled, &pulled) <= NEWTON * NEWTON * square
    }

    /// Two points on opposite sides, as far from the peak as draws of its Gaussian.
    pub(crate) fn beside(&self) -> [Vec<f64>; 2] {
        // Half a standard deviation in each coordinate of the factor, with different signs.
        let away = |d: usize| if d.is_multiple_of(2) { 0.5 } else { -0.5 };
        [1.0, -1.0].map(|side| {
            let y: Vec<f64> = (0..self.z.len()).map(|d| side * away(d)).collect();
            self.coloured(&y)
        })
    }
}
