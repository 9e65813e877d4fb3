//! The weighted points of a mixture fit, and the component fitted to some of them.

use super::{Mixture, component::Gaussian};
use crate::{Batch, linear, weight::ess};
use rayon::prelude::*;

/// Points with weights that sum to 1.
pub(super) struct Points<'a> {
    pub(super) z: &'a Batch,
    pub(super) weights: &'a [f64],
    /// Effective number of points.
    pub(super) effective: f64,
    /// Variance of each coordinate over all points; it prevents components from collapsing.
    variance: Vec<f64>,
}

impl<'a> Points<'a> {
    pub(super) fn new(z: &'a Batch, weights: &'a [f64]) -> Self {
        let variance = |d: usize| {
            let row = z.row(d);
            let mean = linear::dot(weights, row);
            let square = weights.iter().zip(row).map(|(w, x)| w * (x - mean).powi(2)).sum();
            f64::max(square, f64::MIN_POSITIVE)
        };
        let variance = (0..z.dim()).map(variance).collect();
        Self { z, weights, effective: ess(weights), variance }
    }

    /// The fewest points that can form a component.
    pub(super) fn fewest(&self) -> f64 {
        self.z.dim() as f64 + 4.0
    }

    /// The weight of the earlier covariance in a new one, in points. With n points the covariance costs
    /// d²/4n nats; a component with this many points has lost half of the earlier shape.
    pub(super) fn prior_points(&self) -> f64 {
        let dim = self.z.dim() as f64;
        dim + dim * dim / 8.0
    }

    /// Effective number of parameters of a component with this weight: those of its covariance count as
    /// far as they come from its own points.
    pub(super) fn size(&self, weight: f64) -> f64 {
        let dim = self.z.dim() as f64;
        let own = weight * self.effective;
        1.0 + dim + 0.5 * dim * (dim + 1.0) * own / (own + self.prior_points())
    }

    /// All points as one component.
    pub(super) fn whole(&self) -> Gaussian {
        self.component(self.weights, None).unwrap_or_else(|| {
            let dim = self.z.dim();
            let mean = (0..dim).map(|d| linear::dot(self.weights, self.z.row(d)));
            let mut covariance = vec![0.0; dim * dim];
            for d in 0..dim {
                covariance[d * dim + d] = self.variance[d].max(1e-12);
            }
            Gaussian::new(1.0, mean.collect(), &covariance).expect("a positive diagonal")
        })
    }

    /// The component of points with the given weights, whose sum is its own weight, shrunk towards the
    /// shape of an earlier one. `None` if the points are too few. The tails are those of the earlier
    /// one.
    pub(super) fn component(&self, own: &[f64], earlier: Option<&Gaussian>) -> Option<Gaussian> {
        let total: f64 = own.iter().sum();
        if total.is_nan() || total * self.effective < self.fewest() {
            return None;
        }
        let degrees = earlier.and_then(|earlier| earlier.degrees);
        let stretched = earlier.map(|earlier| self.stretched(own, earlier));
        let stretched = stretched.as_deref().unwrap_or(own);
        let stretched_total: f64 = stretched.iter().sum();
        let mean: Vec<f64> = (0..self.z.dim())
            .map(|d| linear::dot(stretched, self.z.row(d)) / stretched_total)
            .collect();
        let mut covariance = self.covariance(stretched, total, &mean);
        if let Some(earlier) = earlier {
            let old = self.prior_points() / (self.prior_points() + total * self.effective);
            for (new, earlier) in covariance.iter_mut().zip(earlier.covariance()) {
                *new += old * (earlier - *new);
            }
        }
        Some(Gaussian { degrees, ..Gaussian::new(total, mean, &covariance)? })
    }

    /// The weights of points in the core of a Student component: (ν + d)/(ν + |L⁻¹(x − μ)|²).
    fn stretched(&self, own: &[f64], earlier: &Gaussian) -> Vec<f64> {
        let Some(nu) = earlier.degrees else { return own.to_vec() };
        let all = nu + self.z.dim() as f64;
        let squares = earlier.squares(self.z, None);
        own.iter().zip(squares).map(|(w, square)| w * all / (nu + square)).collect()
    }

    /// Σ w (x − mean)(x − mean)ᵀ/total, plus a billionth of the variance of all points.
    pub(super) fn covariance(&self, weights: &[f64], total: f64, mean: &[f64]) -> Vec<f64> {
        let dim = self.z.dim();
        // Skip points without weight: with many components each has few points.
        let members: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let centred: Vec<Vec<f64>> = (0..dim)
            .map(|d| {
                let row = self.z.row(d);
                members.iter().map(|&i| row[i] - mean[d]).collect()
            })
            .collect();
        let weights: Vec<f64> = members.iter().map(|&i| weights[i] / total).collect();
        let rows: Vec<Vec<f64>> = (0..dim)
            .into_par_iter()
            .map(|i| {
                let weighted: Vec<f64> =
                    centred[i].iter().zip(&weights).map(|(x, w)| x * w).collect();
                (0..=i).map(|j| linear::dot(&weighted, &centred[j])).collect()
            })
            .collect();
        let mut covariance = vec![0.0; dim * dim];
        for (i, row) in rows.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                covariance[i * dim + j] = *entry;
                covariance[j * dim + i] = *entry;
            }
            covariance[i * dim + i] += 1e-9 * self.variance[i];
        }
        covariance
    }

    /// Σ weight · log density
    pub(super) fn mean_log_density(&self, mixture: &Mixture, weights: &[f64]) -> f64 {
        let (log_density, _) = mixture.log_density_and_shares(self.z);
        let counted = weights.iter().zip(&*log_density).filter(|(weight, _)| **weight > 0.0);
        counted.map(|(weight, log_density)| weight * log_density).sum()
    }

    /// Mean log density minus half of the log number of points per parameter (the Bayesian information
    /// criterion).
    pub(super) fn score(&self, mixture: &Mixture) -> f64 {
        let size: f64 = mixture.components.iter().map(|c| self.size(c.log_weight.exp())).sum();
        self.mean_log_density(mixture, self.weights)
            - 0.5 * size * self.effective.ln() / self.effective
    }
}
