//! A finding against an approximation, how severe it is, and what to try.

use crate::diagnostics::{Finding, Remedy, Trust, thresholds::Threshold};

/// A finding against an approximation, with a remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// How severe it is.
    pub trust: Trust,
    /// What was found.
    pub finding: Finding,
    /// What to try.
    pub remedy: Remedy,
}

impl Reason {
    pub(super) fn new(trust: Trust, finding: Finding) -> Self {
        Self { trust, remedy: finding.remedy(), finding }
    }

    /// A reason, if the value is beyond its threshold.
    pub(super) fn beyond(threshold: Threshold, value: f64, finding: Finding) -> Option<Self> {
        reason(threshold.judge(value), finding)
    }
}

/// A reason with this level, if there is one.
pub(super) fn reason(trust: Option<Trust>, finding: Finding) -> Option<Reason> {
    trust.map(|trust| Reason::new(trust, finding))
}
