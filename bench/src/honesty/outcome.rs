//! The data of a run for tables.

use super::classes::Instance;
use crate::ladder::run::Run;
use adaann::{Result, diagnostics::Trust};

/// log₁₀ of the smallest volume ratio for which right answers are required, with room for rounding.
const DEMANDED_LOG10_RATIO: f64 = -3.0 - 1e-9;

/// A run and its instance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) class: &'static str,
    pub(crate) dim: usize,
    pub(crate) log10_ratio: Option<f64>,
    /// `None` if the run failed.
    pub(crate) found: Option<Found>,
}

/// The result of a run with an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) is_right: bool,
    /// `None` without a check.
    pub(crate) trust: Option<Trust>,
    /// The claimed power, as a share.
    pub(crate) power: Option<f64>,
    /// The share of the true modes that the answer contains.
    pub(crate) modes_found: f64,
    pub(crate) evaluations: f64,
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn new(instance: &Instance, run: &Result<Run>) -> Self {
        let found = run.as_ref().ok().map(|run| {
            let (found, all) = run.off.modes_found();
            Found {
                is_right: run.is_right(),
                trust: run.trust,
                power: run.power.map(|power| power.share()),
                modes_found: found as f64 / all as f64,
                evaluations: run.all_evaluations() as f64,
                seconds: run.seconds,
            }
        });
        let Instance { class, dim, log10_ratio, .. } = *instance;
        Self { class, dim, log10_ratio, found }
    }

    pub(crate) fn is_right(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.is_right)
    }

    pub(crate) fn trust(&self) -> Option<Trust> {
        self.found.as_ref()?.trust
    }

    pub(crate) fn is_reliable(&self) -> bool {
        self.trust() == Some(Trust::Reliable)
    }

    pub(crate) fn is_reliable_and_wrong(&self) -> bool {
        self.is_reliable() && !self.is_right()
    }

    /// Is the volume ratio of the modes large enough to require a right answer?
    pub(crate) fn is_demanded(&self) -> bool {
        self.log10_ratio.is_none_or(|ratio| ratio >= DEMANDED_LOG10_RATIO)
    }
}
