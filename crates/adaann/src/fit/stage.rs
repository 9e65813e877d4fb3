//! When training at one value of t ends: after a fixed number of updates, or when the flow fits p_t.

use crate::{Error, Result, error};
use serde::{Deserialize, Serialize};

/// When training at a value of t below 1 ends: a rule that replaces T_0 and T.
///
/// The run makes blocks of T updates until the draws of q, weighted by p_t/q, have an effective share
/// of `ess`. The schedule chooses its step from the draws of that check.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stage {
    /// The share to reach, between 0 and 1.
    pub ess: f64,
    /// Updates after which the run continues whatever the share; at t_0 at least T_0.
    pub most_updates: usize,
}

impl Default for Stage {
    fn default() -> Self {
        Self { ess: 0.5, most_updates: 200 }
    }
}

impl Stage {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.ess > 0.0 && self.ess < 1.0) {
            return Err(error::setting("stage-ess", self.ess, "between 0 and 1, both excluded"));
        }
        error::at_least_one("stage-most", self.most_updates)
    }
}

/// The progress at one value of t.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) updates: usize,
    pub(super) seen: usize,
    pub(super) kept: usize,
    /// The effective share of the last draws, if any were taken.
    pub(super) ess: Option<f64>,
}

impl Progress {
    /// Share of the points without a finite density or gradient.
    pub(super) fn lost(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { 1.0 - self.kept as f64 / self.seen as f64 }
    }

    /// Refuses to continue from a stage with more than half of its points non-finite.
    pub(super) fn check_lost(&self, t: f64) -> Result<()> {
        if self.lost() <= 0.5 {
            return Ok(());
        }
        let reason = format!(
            "{:.0} per cent of the points have a log density of -inf or NaN; start from a base \
             (base-mean, base-sd) that lies inside the support or, for a dynamical system, where \
             trajectories do not explode; give the coordinates bounds or a narrower prior, and \
             logarithms of values that may reach 0 a floor, such as log(max(x, 1e-9))",
            100.0 * self.lost()
        );
        Err(Error::Diverged { t, reason })
    }
}
