//! Settings of a start from particles.

use crate::{Result, error, smc};
use serde::{Deserialize, Serialize};

/// Settings of a start from particles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pilot {
    /// How many particles go ahead.
    pub particles: usize,
    /// Rounds that sharpen the mixture fitted to them.
    pub rounds: usize,
    /// Draws of such a round, each an evaluation of the target.
    pub draws: usize,
    /// The share of its draws that must count as draws of the target for the mixture to be enough.
    pub enough: f64,
}

impl Default for Pilot {
    /// Particles as many as an independent check has; with half of the draws counting, 10,000 are
    /// plenty.
    fn default() -> Self {
        Self { particles: 2_000, rounds: 2, draws: 20_000, enough: 0.5 }
    }
}

/// Tells the pilot's particles and draws from those of others with the same seed.
pub(super) const PILOT_SEED: u64 = 0xd1b5_4a32_d192_ed03;

impl Pilot {
    pub(in crate::fit) fn check(&self) -> Result<()> {
        if !(self.enough > 0.0 && self.enough <= 1.0) {
            return Err(error::setting("pilot-enough", self.enough, "above 0 and at most 1"));
        }
        Ok(())
    }

    /// The settings of its particles, from those that go with the fit.
    pub(in crate::fit) fn particles(&self, fit: smc::Settings) -> smc::Settings {
        smc::Settings {
            particles: self.particles,
            pmc_rounds: self.rounds,
            pmc_draws: self.draws,
            seed: fit.seed ^ PILOT_SEED,
            ..fit
        }
    }
}
