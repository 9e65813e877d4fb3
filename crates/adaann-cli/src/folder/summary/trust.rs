//! The results of a run's check as data.

use crate::folder::{
    summary::{number, numbers, point},
    words::verdict::words,
};
use adaann::{
    answer::Method,
    diagnostics::{self, Examination, Mode, Particles, Power, Trust},
    importance::{Estimate, Mixing, Sample, pareto},
    modes::ModeSummary,
    registry::Known,
};
use serde::{Deserialize, Serialize};

/// Maximum number of coordinates of a covariance; larger ones would dominate the file.
const MOST_COORDINATES: usize = 16;

/// How well the draws represent the target. Unknown values are NaN.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Quality {
    /// log ∫p, from the weights, with its standard error.
    #[serde(deserialize_with = "number")]
    pub(crate) log_z: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) log_z_error: f64,
    /// KL(q‖p) = neg-ELBO + log Z.
    #[serde(deserialize_with = "number")]
    pub(crate) kl: f64,
    /// Effective sample size of the weighted draws.
    #[serde(deserialize_with = "number")]
    pub(crate) ess: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) ess_share: f64,
    /// Shape of the tail of the weights, and its threshold.
    #[serde(deserialize_with = "number")]
    pub(crate) k_hat: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) k_hat_threshold: f64,
}

impl Quality {
    /// The quality according to the check, or without a check according to the weights.
    pub(super) fn new(
        sample: &Sample,
        log_z: Option<Estimate>,
        examination: Option<&Examination>,
    ) -> Self {
        let (value, error) = log_z.map_or((f64::NAN, f64::NAN), |z| (z.value, z.error));
        let sums = sample.weight_sums().ok();
        let tail = sample.log_q().and_then(|_| sample.smoothed().ok());
        let own = |of: Option<f64>| of.unwrap_or(f64::NAN);
        // Draws of chains are correlated, so that their ESS is below that of equal weights.
        let of_chains = sample.mixing().map(|mixing| mixing.ess);
        let ess = own(of_chains.or(sums.as_ref().map(|sums| sums.ess())));
        let share = of_chains.map(|ess| ess / sample.len() as f64);
        let ess_share = own(share.or(sums.map(|sums| sums.ess_share())));
        let or_own = |of: fn(&Examination) -> f64, own: f64| examination.map_or(own, of);
        Self {
            log_z: value,
            log_z_error: error,
            kl: or_own(|found| found.kl, sample.neg_elbo() + value),
            ess: or_own(|found| found.ess, ess),
            ess_share: or_own(|found| found.ess_share, ess_share),
            k_hat: or_own(|found| found.k_hat, own(tail.map(|tail| tail.k_hat))),
            k_hat_threshold: or_own(
                |found| found.k_hat_threshold,
                own(tail.map(|_| pareto::k_hat_threshold(sample.len()))),
            ),
        }
    }
}

/// The mixing of chains.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Chains {
    /// The largest R-hat of all coordinates.
    #[serde(deserialize_with = "number")]
    pub(crate) r_hat: f64,
    /// The number of draws per independent draw, in the worst coordinate.
    #[serde(deserialize_with = "number")]
    pub(crate) draws_per_effective: f64,
}

impl Chains {
    pub(super) fn new(mixing: &Mixing) -> Self {
        Self { r_hat: mixing.r_hat, draws_per_effective: mixing.worst_per_effective() }
    }
}

/// The verdict on a run, in terms of the command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) trust: Trust,
    /// The worst first.
    pub(crate) reasons: Vec<Reason>,
    /// The share of modes planted at random that the search would have found, from 0 to 1; absent if not
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) power: Option<f64>,
    /// The basis of the power: `planted`, `log-concave`, `log-concave-terms` or `exact-draws`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) power_basis: Option<String>,
}

/// A finding against a run and its remedy, as text and as stable codes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) trust: Trust,
    #[serde(default)]
    pub(crate) finding_code: String,
    pub(crate) finding: String,
    #[serde(default)]
    pub(crate) remedy_code: String,
    pub(crate) remedy: String,
}

impl Verdict {
    pub(crate) fn new(verdict: &diagnostics::Verdict, method: Method) -> Self {
        let reason = |reason: &diagnostics::Reason| Reason {
            trust: reason.trust,
            finding_code: reason.finding.code().to_owned(),
            finding: reason.finding.to_string(),
            remedy_code: reason.remedy.code().to_owned(),
            remedy: words(reason.remedy, method).to_owned(),
        };
        Self {
            trust: verdict.trust,
            reasons: verdict.reasons.iter().map(reason).collect(),
            power: verdict.power.map(Power::share),
            power_basis: verdict.power.map(|power| power.code().to_owned()),
        }
    }
}

/// The results of independent particles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) particles: usize,
    #[serde(deserialize_with = "number")]
    pub(crate) log_z: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) log_z_error: f64,
    /// Share of the target's mass that the flow does not cover.
    #[serde(deserialize_with = "number")]
    pub(crate) lacking: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) lacking_error: f64,
    /// KL(p‖q).
    #[serde(deserialize_with = "number")]
    pub(crate) forward_kl: f64,
    /// Number of temperatures.
    pub(crate) stages: usize,
    pub(crate) target_evaluations: usize,
}

impl Check {
    pub(super) fn new(found: &Particles) -> Self {
        Self {
            particles: found.count,
            log_z: found.log_z.value,
            log_z_error: found.log_z.error,
            lacking: found.lacking.value,
            lacking_error: found.lacking.error,
            forward_kl: found.forward_kl,
            stages: found.stages,
            target_evaluations: found.evaluations,
        }
    }
}

/// A mode that the check has found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FoundMode {
    #[serde(deserialize_with = "numbers")]
    pub(crate) location: Vec<f64>,
    /// Share of the weighted draws.
    #[serde(deserialize_with = "number")]
    pub(crate) weight: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) weight_error: f64,
    /// Share of the flow's unweighted draws, if there is a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight_q: Option<f64>,
    /// Share of the independent particles, if the check used any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) particles: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) particles_error: Option<f64>,
    /// Mean, and covariance row by row, of its weighted draws.
    pub(crate) mean: Option<Vec<Option<f64>>>,
    pub(crate) covariance: Option<Vec<Option<f64>>>,
    /// The location as text.
    #[serde(skip)]
    pub(crate) label: String,
    /// The nearest known mode.
    #[serde(skip)]
    pub(crate) known: Option<usize>,
}

impl FoundMode {
    pub(super) fn new(found: &Mode) -> Self {
        Self {
            location: found.location.clone(),
            weight: found.weight.value,
            weight_error: found.weight.error,
            weight_q: Some(found.under_q),
            particles: found.particles.map(|share| share.value),
            particles_error: found.particles.map(|share| share.error),
            mean: found.mean.as_deref().map(list),
            covariance: found.covariance.as_deref().and_then(short),
            label: String::new(),
            known: None,
        }
    }

    /// A mode found by particles, with its share of them.
    pub(crate) fn of_particles(found: ModeSummary, share: Estimate, known: &Known) -> Self {
        let mut mode = Self {
            weight: share.value,
            weight_error: share.error,
            weight_q: None,
            particles: None,
            particles_error: None,
            mean: found.mean.as_deref().map(list),
            covariance: found.covariance.as_deref().and_then(short),
            location: found.position,
            label: String::new(),
            known: None,
        };
        mode.name(known);
        mode
    }

    /// Sets its label, and matches it with a known mode.
    pub(super) fn name(&mut self, known: &Known) {
        self.label = point(&self.location);
        self.known = known.mode_of(&self.location);
    }
}

fn list(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

/// A covariance, unless it is too large.
fn short(values: &[f64]) -> Option<Vec<Option<f64>>> {
    (values.len() <= MOST_COORDINATES.pow(2)).then(|| list(values))
}
