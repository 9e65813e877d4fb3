//! The numbers of an examination: all that a verdict depends on.

use crate::{
    Result,
    diagnostics::{
        Place,
        moment_tail::{self, MomentTail},
        spread::{self, Spread},
        thresholds::{ALLOWANCE, EQUAL_WEIGHTS, EVIDENCE_APART, EVIDENCE_BELOW, TAIL_MASS},
    },
    importance::{Estimate, Sample, pareto},
};

/// The numbers of an examination.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    pub(super) draws: usize,
    /// Share of the draws that have no density under p.
    pub(super) outside: f64,
    pub(super) k_hat: f64,
    pub(super) k_hat_threshold: f64,
    pub(super) ess: f64,
    /// The largest weight divided by the mean weight.
    pub(super) largest_weight: f64,
    /// The parameter whose standard deviation has the largest relative error.
    pub(super) spread: Option<Spread>,
    /// The parameter whose mean or standard deviation depends most on a few draws, where weights differ.
    pub(super) moment: Option<MomentTail>,
    /// The mode whose weight has the largest error, where there are several.
    pub(super) least_known_mode: Option<(Place, Estimate)>,
    /// Share of the draws whose weights do not match q, where there is a q.
    pub(super) weights_off: Option<f64>,
    /// Points that the check found without q, compared with q.
    pub(super) compared: Vec<Comparison>,
    /// The error of a requested check that failed.
    pub(super) failed: Option<String>,
}

/// What independent points found, compared with q.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    /// Share of the particles where q is too small.
    pub(super) lacking: Estimate,
    /// A point in that region.
    pub(super) lacking_at: Place,
    /// log Z of the particles minus that of the weights.
    pub(super) log_z_gap: Estimate,
    pub(super) modes: Vec<ModeShares>,
    /// Are the points particles? Particles may lose a narrow mode on the way, and its evidence with it.
    pub(super) are_particles: bool,
}

/// The shares of a mode.
#[derive(Debug, Clone)]
pub(super) struct ModeShares {
    pub(super) at: Place,
    /// Among the draws of q.
    pub(super) under_q: f64,
    /// Among the weighted draws.
    pub(super) weighted: Estimate,
    /// Among the particles.
    pub(super) particles: Estimate,
}

impl Comparison {
    /// The factor that converts a share of these points into a share of the whole: Z_check / Z_answer at
    /// the upper end of its error, at most 1.
    pub(super) fn evidence_scale(&self) -> f64 {
        evidence_scale(self.log_z_gap)
    }

    /// Have these points seen enough of the mass to check an answer?
    pub(super) fn is_check(&self) -> bool {
        let Estimate { value, error } = self.log_z_gap;
        value >= -EVIDENCE_APART.value * error || EVIDENCE_BELOW.judge(-value).is_none()
    }
}

/// Z_check / Z_answer from its logarithm, at the upper end of its error; 1 if that is above 1 or unknown.
pub(super) fn evidence_scale(log_z_gap: Estimate) -> f64 {
    // `min` ignores NaN.
    (log_z_gap.value + log_z_gap.error).exp().min(1.0)
}

impl Findings {
    /// The findings of the draws and their weights alone, without comparisons.
    ///
    /// # Errors
    /// If a weight is infinite, or all draws are non-finite.
    pub(super) fn of_sample(sample: &Sample, names: &[String]) -> Result<Self> {
        let (sums, smoothed, count) = (sample.weight_sums()?, sample.smoothed()?, sample.len());
        let largest = sample.log_weights().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let largest_weight = (largest - sums.log_z()).exp();
        let are_equal = largest_weight < EQUAL_WEIGHTS.value;
        Ok(Self {
            draws: count,
            outside: sample.lost() as f64 / count as f64,
            k_hat: smoothed.k_hat,
            k_hat_threshold: pareto::k_hat_threshold(count),
            ess: sums.ess(),
            largest_weight,
            spread: spread::least_known(sample, names),
            moment: if are_equal { None } else { moment_tail::heaviest(sample, names) },
            least_known_mode: None,
            weights_off: None,
            compared: Vec::new(),
            failed: None,
        })
    }

    /// Do independent points show that almost no mass of p lies where p is far above q? Points that have
    /// missed most of the mass show nothing.
    pub(super) fn is_all_covered(&self) -> bool {
        let is_covered = |compared: &&Comparison| {
            let Estimate { value, error } = compared.lacking;
            value + ALLOWANCE.value * error <= TAIL_MASS.value
        };
        let mut checks = self.compared.iter().filter(|compared| compared.is_check()).peekable();
        checks.peek().is_some() && checks.all(|compared| is_covered(&compared))
    }
}
