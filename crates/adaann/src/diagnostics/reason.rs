//! Something that speaks against an approximation, how much it weighs, and what to try.

use crate::diagnostics::{Finding, Remedy, Trust, thresholds::Threshold};

/// Something that speaks against an approximation, and what to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// How much it weighs.
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

    /// A finding, if its number is beyond its threshold.
    pub(super) fn beyond(threshold: Threshold, value: f64, finding: Finding) -> Option<Self> {
        reason(threshold.judge(value), finding)
    }
}

/// A finding with its weight, if it has one.
pub(super) fn reason(trust: Option<Trust>, finding: Finding) -> Option<Reason> {
    trust.map(|trust| Reason::new(trust, finding))
}
