//! What a verdict looks at: the numbers of an examination, and nothing else.

use crate::{
    diagnostics::{
        Place,
        spread::Spread,
        thresholds::{ALLOWANCE, TAIL_MASS},
    },
    importance::Estimate,
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
    /// The largest weight, as a multiple of their mean.
    pub(super) largest_weight: f64,
    /// The parameter whose standard deviation is known least.
    pub(super) spread: Option<Spread>,
    /// The mode whose weight is known least, where there are several.
    pub(super) least_known_mode: Option<(Place, Estimate)>,
    /// Share of the draws whose weights are not those of q, where there is a q.
    pub(super) weights_off: Option<f64>,
    /// Points of the check that owe nothing to q, beside it.
    pub(super) compared: Vec<Comparison>,
    /// What the check was asked for and could not do.
    pub(super) failed: Option<String>,
}

/// What independent points found beside what q says.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    /// Share of the particles where q is too small.
    pub(super) lacking: Estimate,
    /// A place there.
    pub(super) lacking_at: Place,
    /// log Z of the particles less that of the weights.
    pub(super) log_z_gap: Estimate,
    pub(super) modes: Vec<ModeShares>,
    /// Are they particles? On their way they may lose a narrow mode, and their evidence with it.
    pub(super) are_particles: bool,
}

/// A mode's shares.
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

impl Findings {
    /// Do independent points show that next to no mass of p lies where p is far above q?
    pub(super) fn is_all_covered(&self) -> bool {
        let is_covered = |compared: &Comparison| {
            let Estimate { value, error } = compared.lacking;
            value + ALLOWANCE.value * error <= TAIL_MASS.value
        };
        !self.compared.is_empty() && self.compared.iter().all(is_covered)
    }
}
