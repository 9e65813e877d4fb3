//! The settings of a run of chains, checked before the first step.

use crate::{Result, error};
use serde::{Deserialize, Serialize};

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The number of chains that run side by side. The target evaluates them in batches of 32.
    pub chains: usize,
    /// Sampling ends when each coordinate and the log density have this effective sample size, and
    /// `max_r_hat` is reached too.
    pub target_ess: f64,
    /// Sampling ends when the largest R-hat is below this, and `target_ess` is reached too.
    pub max_r_hat: f64,
    /// The most iterations of warm-up.
    pub max_warm_up: usize,
    /// The most iterations after warm-up.
    pub max_iterations: usize,
    /// The most evaluations of the target; warm-up uses at most half of them.
    pub max_evaluations: usize,
    /// The target of the mean acceptance probability, which determines the step size.
    pub acceptance: f64,
    /// The most leapfrog steps of a trajectory.
    pub max_steps: usize,
    /// The seed of every random number of the run.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            chains: 64,
            target_ess: 4_000.0,
            max_r_hat: 1.01,
            max_warm_up: 1_500,
            max_iterations: 20_000,
            max_evaluations: 20_000_000,
            acceptance: 0.8,
            max_steps: 64,
            seed: 1,
        }
    }
}

impl Settings {
    /// Refuses settings out of range; every run begins with this check.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
    pub fn check(&self) -> Result<()> {
        if !(4..=MOST_CHAINS).contains(&self.chains) {
            return Err(error::setting("chains", self.chains, format!("from 4 to {MOST_CHAINS}")));
        }
        if !(self.target_ess > 0.0 && self.target_ess.is_finite()) {
            return Err(error::setting("target-ess", self.target_ess, "positive and finite"));
        }
        // NaN is refused as well.
        if self.max_r_hat.is_nan() || self.max_r_hat <= 1.0 {
            return Err(error::setting("max-r-hat", self.max_r_hat, "above 1"));
        }
        if !(self.acceptance > 0.0 && self.acceptance < 1.0) {
            return Err(error::setting("acceptance", self.acceptance, "between 0 and 1"));
        }
        error::at_least_one("max-warm-up", self.max_warm_up)?;
        error::at_least_one("max-iterations", self.max_iterations)?;
        error::at_least_one("max-steps", self.max_steps)?;
        if self.max_evaluations < self.chains {
            let range = format!("at least one for each of the {} chains", self.chains);
            return Err(error::setting("max-evaluations", self.max_evaluations, range));
        }
        Ok(())
    }
}

/// A larger value is surely a mistake.
const MOST_CHAINS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        Settings::default().check().unwrap();
        let with = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().unwrap_err().setting().unwrap()
        };
        for (change, name) in [
            ((|s| s.chains = 3) as fn(&mut Settings), "chains"),
            (|s| s.chains = 1 << 20, "chains"),
            (|s| s.target_ess = 0.0, "target-ess"),
            (|s| s.target_ess = f64::INFINITY, "target-ess"),
            (|s| s.max_r_hat = 1.0, "max-r-hat"),
            (|s| s.max_r_hat = f64::NAN, "max-r-hat"),
            (|s| s.acceptance = 1.0, "acceptance"),
            (|s| s.max_warm_up = 0, "max-warm-up"),
            (|s| s.max_iterations = 0, "max-iterations"),
            (|s| s.max_steps = 0, "max-steps"),
            (|s| s.max_evaluations = 63, "max-evaluations"),
        ] {
            assert_eq!(with(change), name);
        }
    }
}
