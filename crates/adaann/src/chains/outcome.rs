//! The outcome of a run of chains: its draws, and their convergence diagnostics.

use super::draws::{largest, smallest};
use crate::{Batch, importance::Mixing};

/// The draws of chains after warm-up.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Chains {
    /// The draws in unconstrained coordinates, iteration by iteration: number n·M + m is the draw of
    /// chain m of M in iteration n. All have the same weight.
    pub z: Batch,
    /// log p + log|J| at each draw.
    pub log_density: Vec<f64>,
    /// The number of chains.
    pub chains: usize,
    /// The number of stored iterations: all of them, or every second, fourth, ... if all would be too
    /// many.
    pub iterations: usize,
    /// Mean acceptance probability.
    pub acceptance: f64,
    /// Length of a leapfrog step, in units of the covariance.
    pub step_size: f64,
    /// Mean number of leapfrog steps.
    pub steps: f64,
    /// Trajectories after warm-up that diverged or met a point without density; all were rejected. Many
    /// of them mean that the chains do not enter part of the mass.
    pub divergences: usize,
    /// The evaluations of the target, including warm-up.
    pub evaluations: usize,
    /// Rank-normalised R-hat of each coordinate, and last of the log density; the same order holds
    /// below.
    pub r_hat: Vec<f64>,
    /// Bulk effective sample sizes.
    pub bulk_ess: Vec<f64>,
    /// Tail effective sample sizes.
    pub tail_ess: Vec<f64>,
    /// The covariance that whitened the coordinates, row by row.
    pub covariance: Vec<f64>,
    /// Did the draws reach the required effective sample size and R-hat?
    pub has_converged: bool,
    /// Did the observer stop the run?
    pub stopped: bool,
}

impl Chains {
    /// The largest R-hat; NaN if there are too few draws.
    pub fn worst_r_hat(&self) -> f64 {
        largest(&self.r_hat)
    }

    /// The smallest bulk effective sample size; NaN if there are too few draws.
    pub fn worst_bulk_ess(&self) -> f64 {
        smallest(&self.bulk_ess)
    }

    /// Share of the trajectories after warm-up that diverged.
    pub fn divergent(&self) -> f64 {
        self.divergences as f64 / (self.chains * self.iterations).max(1) as f64
    }

    /// The mixing of `kept` evenly spaced draws.
    pub fn mixing(&self, kept: usize) -> Mixing {
        let dim = self.z.dim();
        let Self { bulk_ess, tail_ess, .. } = self;
        let of_coordinates = |all: &[f64]| all[..dim.min(all.len())].to_vec();
        let mixing = Mixing::new(
            (self.worst_r_hat(), self.divergent()),
            &of_coordinates(bulk_ess),
            &of_coordinates(tail_ess),
            (self.z.len(), kept),
        );
        // The log density counts for convergence, but is not a coordinate.
        let worst = [self.worst_bulk_ess(), self.worst_tail_ess()];
        Mixing { ess: smallest(&worst), ..mixing }
    }

    /// The smallest tail effective sample size; NaN if there are too few draws.
    pub fn worst_tail_ess(&self) -> f64 {
        smallest(&self.tail_ess)
    }
}
