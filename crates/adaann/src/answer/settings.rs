//! The settings of the ladder.

use super::Method;
use crate::{Result, budget::Budget, error, flow::BaseSpec};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most points of a batch that ranks could share; a larger value is surely a mistake.
const MOST_AT_ONCE: usize = 100_000;

/// The largest factor for the search's effort; a larger value is surely a mistake.
const MOST_SEARCH: f64 = 10_000.0;

/// The settings of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The method that makes the answer.
    pub method: Method,
    /// The start of the search: its draws should lie where the density may be.
    pub base: BaseSpec,
    /// The effective sample size that the weighted draws should reach.
    pub target_ess: f64,
    /// The most draws to take to reach it.
    pub most_draws: usize,
    /// A fixed number of draws, whatever their effective sample size, if given.
    pub draws: Option<usize>,
    /// The check's share of all evaluations; 0 for no check.
    pub check: f64,
    /// Multiplies the effort of the search for modes, in the answer and in its check.
    pub search: f64,
    /// The least number of points in a batch, where the method allows it, for targets that ranks or processes
    /// evaluate. A larger value means fewer batches in sequence, but more evaluations in all.
    pub at_once: usize,
    /// The most evaluations of the target, including the check, if given. A running batch is finished.
    pub max_evaluations: Option<usize>,
    /// The most seconds, including the check, if given.
    pub max_time: Option<f64>,
    /// The seed of every random number.
    pub seed: u64,
}

impl Default for Settings {
    /// 4,000 effective draws: the error of a mean is then a sixtieth of the standard deviation.
    fn default() -> Self {
        Self {
            method: Method::Ladder,
            base: BaseSpec::default(),
            target_ess: 4_000.0,
            most_draws: 200_000,
            draws: None,
            check: 0.5,
            search: 1.0,
            at_once: 1,
            max_evaluations: None,
            max_time: None,
            seed: 1,
        }
    }
}

impl Settings {
    /// A share of the remaining budget; the answer's share is 1 minus that of the check.
    pub(super) fn budget(&self, share: f64) -> Budget {
        let evaluations = self.max_evaluations.map(|most| (share * most as f64) as usize);
        let time = self.max_time.and_then(|time| Duration::try_from_secs_f64(share * time).ok());
        Budget::new(evaluations, time)
    }

    /// Refuses settings out of range.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
    pub fn check(&self) -> Result<()> {
        if !(self.target_ess >= 100.0 && self.target_ess <= 1e8) {
            return Err(error::setting("target-ess", self.target_ess, "from 100 to 1e8"));
        }
        if (self.most_draws as f64) < self.target_ess {
            let range = "at least target-ess";
            return Err(error::setting("most-draws", self.most_draws, range));
        }
        if self.max_evaluations == Some(0) {
            return Err(error::setting("max-evaluations", 0, "at least 1"));
        }
        if let Some(time) = self.max_time.filter(|time| time.is_nan() || *time <= 0.0) {
            return Err(error::setting("max-time", format!("{time}s"), "more than 0"));
        }
        if !(1..=MOST_AT_ONCE).contains(&self.at_once) {
            return Err(error::setting("at-once", self.at_once, "from 1 to 100000"));
        }
        if !(0.01..=MOST_SEARCH).contains(&self.search) {
            return Err(error::setting("search", self.search, "from 0.01 to 10000"));
        }
        if !(0.0..=0.9).contains(&self.check) {
            return Err(error::setting("check", self.check, "from 0 to 0.9"));
        }
        Ok(())
    }
}
