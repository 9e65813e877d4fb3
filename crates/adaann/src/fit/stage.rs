//! When training at one value of t ends: after a fixed number of updates, or when it fits p_t.

use crate::{Error, Result, error};
use serde::{Deserialize, Serialize};

/// When training at a value of t below 1 ends: a rule in place of T_0 and T.
///
/// Blocks of T updates are made until the draws of q, weighted by p_t/q, are worth the share `ess` of
/// as many draws of p_t. The schedule chooses its step from the draws that said so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stage {
    /// The share to reach, between 0 and 1.
    pub ess: f64,
    /// Updates after which the run goes on whatever the share; at t_0, T_0 if that is more.
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

/// What has happened at one value of t.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) updates: usize,
    pub(super) seen: usize,
    pub(super) kept: usize,
    /// What the last draws were worth, if any were taken.
    pub(super) ess: Option<f64>,
}

impl Progress {
    /// Share of the points with no finite density or gradient.
    pub(super) fn lost(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { 1.0 - self.kept as f64 / self.seen as f64 }
    }

    /// Refuses to go on from a stage that has lost more than half of its points.
    pub(super) fn check_lost(&self, t: f64) -> Result<()> {
        if self.lost() <= 0.5 {
            return Ok(());
        }
        let reason = format!(
            "{:.0} per cent of the points have a log density of -inf or NaN; start from a base \
             (base-mean, base-sd) that lies inside the support or, for a dynamical system, where \
             trajectories do not explode; give the coordinates bounds or a narrower prior, and \
             logarithms of what may reach 0 a floor, like log(max(x, 1e-9))",
            100.0 * self.lost()
        );
        Err(Error::Diverged { t, reason })
    }
}
