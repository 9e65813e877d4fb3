//! The result of a run of sequential Monte Carlo.

use super::{Stage, ancestry::Ancestry, spread};
use crate::{
    Batch, Error, Failure, Result,
    importance::{Estimate, Sample, ess, resample::stratified},
    mixture::{Component, Mixture},
};

/// Weighted particles that represent the target, and its evidence.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Population {
    /// The particles, in the target's own coordinates.
    pub points: Batch,
    /// The same in the coordinates of the flows.
    pub z: Batch,
    /// Weight of each particle; they sum to 1.
    pub weights: Vec<f64>,
    /// log p at each particle, not normalised.
    pub log_p: Vec<f64>,
    /// Estimate of log ∫ p.
    pub log_z: f64,
    /// Its standard error: from the particles' genealogy, or from the spread between
    /// [islands](super::Settings::islands) if that is larger. A genealogy does not show regions that no
    /// particle has found; islands differ if some of them have found one.
    pub log_z_error: f64,
    /// The estimate of log ∫ p of each island.
    pub island_log_z: Vec<f64>,
    /// Every temperature.
    pub stages: Vec<Stage>,
    /// Number of points at which the target was evaluated, with or without gradient.
    pub evaluations: usize,
    /// Whether the observer stopped the run before t = 1. The particles then represent the density at the
    /// last stage's t.
    pub stopped: bool,
    /// Number of particles of each island; islands are stored in order.
    pub(super) island_lengths: Vec<usize>,
    /// The failure that ended the run, if the schedule found no step: the particles represent the density at
    /// its t.
    #[serde(default)]
    pub failure: Option<Failure>,
    /// Number of sweeps at t = 1 whose particles are included.
    pub(super) kept_sweeps: usize,
    pub(super) ancestry: Ancestry,
    pub(super) mixture: Mixture,
}

impl Population {
    /// The population, or an error if the run failed.
    ///
    /// # Errors
    /// The failure that ended the run.
    pub fn whole(self) -> Result<Self> {
        match self.failure {
            Some(failure) => Err(Error::Data(failure.reason)),
            None => Ok(self),
        }
    }

    /// The particles as a weighted sample; the mean of its weights is Z.
    pub fn sample(&self) -> Sample {
        let scale = self.log_z + (self.weights.len() as f64).ln();
        let log_weights = self.weights.iter().map(|weight| weight.ln() + scale).collect();
        Sample::of_particles(self.z.clone(), self.points.clone(), self.log_p.clone(), log_weights)
            .expect("a place, a log density and a weight for each particle")
    }

    /// Σ W f over the particles. Its standard error is the larger of those from the genealogy and from the
    /// spread between islands.
    pub fn mean(&self, values: &[f64]) -> Estimate {
        let value = self.weights.iter().zip(values).map(|(w, f)| w * f).sum();
        Estimate { value, error: self.mean_error(&self.weights, values) }
    }

    /// The standard error of log Z from the spread between islands alone; `None` for a single island.
    pub fn island_error(&self) -> Option<f64> {
        let error = spread::standard_error(&self.island_log_z, &self.island_lengths);
        (self.island_log_z.len() > 1).then_some(error)
    }

    /// The larger of the errors from the genealogy and from the islands.
    fn mean_error(&self, weights: &[f64], values: &[f64]) -> f64 {
        let islands = spread::mean_error(weights, values, &self.island_lengths);
        self.ancestry.mean_error(weights, values).max(islands)
    }

    /// The same over the particles whose value is not NaN.
    pub(crate) fn mean_of_some(&self, values: &[f64]) -> Estimate {
        let total: f64 =
            self.weights.iter().zip(values).filter(|(_, f)| !f.is_nan()).map(|(w, _)| w).sum();
        let weights: Vec<f64> = (self.weights.iter().zip(values))
            .map(|(w, f)| if f.is_nan() { 0.0 } else { w / total })
            .collect();
        let values: Vec<f64> = values.iter().map(|f| if f.is_nan() { 0.0 } else { *f }).collect();
        let value = weights.iter().zip(&values).map(|(w, f)| w * f).sum();
        Estimate { value, error: self.mean_error(&weights, &values) }
    }

    /// Up to 2,000 particles with equal weights that were not used to fit the mixture, if there are any. The
    /// fit uses the first of each [`kept_sweeps`](super::Settings::kept_sweeps).
    pub(crate) fn held_out(&self) -> Batch {
        const MOST: usize = 2_000;
        let is_other = |i: &usize| self.kept_sweeps < 2 || !i.is_multiple_of(self.kept_sweeps);
        let all: Vec<usize> = (0..self.z.len()).filter(is_other).collect();
        let weights: Vec<f64> = all.iter().map(|&i| self.weights[i]).collect();
        let count = all.len().min(MOST);
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let chosen = stratified(&shares, &vec![0.5; count]);
        let mut points = Batch::zeros(self.z.dim(), count);
        for (to, from) in chosen.into_iter().enumerate() {
            points.copy_points(to, &self.z, all[from], 1);
        }
        points
    }

    /// The weights' effective sample size.
    pub fn ess(&self) -> f64 {
        ess(&self.weights)
    }

    /// The mixture of Gaussians fitted to the particles, in the coordinates of the flows.
    #[doc(alias("shape", "GMM"))]
    pub fn mixture(&self) -> Vec<Component> {
        self.mixture.to_components()
    }
}
