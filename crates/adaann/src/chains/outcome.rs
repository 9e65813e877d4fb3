//! What a run of chains gives: its draws, and how far they can be trusted.

use super::draws::{largest, smallest};
use crate::{Batch, importance::Mixing};

/// The draws of chains after warm-up.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Chains {
    /// The draws in unconstrained coordinates, iteration by iteration: number n·M + m is that of chain m
    /// of M in iteration n. All have the same weight.
    pub z: Batch,
    /// log p + log|J| at each.
    pub log_density: Vec<f64>,
    /// How many chains there are.
    pub chains: usize,
    /// Iterations that are kept: all, or every second, fourth, ... where all would be too many numbers.
    pub iterations: usize,
    /// Mean probability to accept.
    pub acceptance: f64,
    /// Length of a leapfrog step, in units of the covariance.
    pub step_size: f64,
    /// Mean number of leapfrog steps.
    pub steps: f64,
    /// Trajectories after warm-up that diverged or met a point without density; all were refused. Many
    /// of them say that the chains do not enter part of the mass.
    pub divergences: usize,
    /// Points at which the target was evaluated, warm-up included.
    pub evaluations: usize,
    /// Rank-normalised R-hat of each coordinate, and of the log density last; likewise below.
    pub r_hat: Vec<f64>,
    /// Bulk effective sample sizes.
    pub bulk_ess: Vec<f64>,
    /// Tail effective sample sizes.
    pub tail_ess: Vec<f64>,
    /// The covariance that coordinates were whitened by, row by row.
    pub covariance: Vec<f64>,
    /// Did the draws become worth what was asked for, with R-hat as low as was asked for?
    pub has_converged: bool,
    /// Did the observer end the run?
    pub stopped: bool,
}

impl Chains {
    /// The largest R-hat; NaN where there are too few draws to tell.
    pub fn worst_r_hat(&self) -> f64 {
        largest(&self.r_hat)
    }

    /// The smallest bulk effective sample size; NaN where there are too few draws to tell.
    pub fn worst_bulk_ess(&self) -> f64 {
        smallest(&self.bulk_ess)
    }

    /// Share of the trajectories after warm-up that diverged.
    pub fn divergent(&self) -> f64 {
        self.divergences as f64 / (self.chains * self.iterations).max(1) as f64
    }

    /// How far `kept` of the draws, taken evenly, are from independent ones.
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
        // The log density counts for the judgement, but is no coordinate.
        let worst = [self.worst_bulk_ess(), self.worst_tail_ess()];
        Mixing { ess: smallest(&worst), ..mixing }
    }

    /// The smallest tail effective sample size; NaN where there are too few draws to tell.
    pub fn worst_tail_ess(&self) -> f64 {
        smallest(&self.tail_ess)
    }
}
