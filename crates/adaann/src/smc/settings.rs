//! The settings of a run of sequential Monte Carlo, validated before it starts.

use super::Move;
use crate::{
    Result, error,
    flow::BaseSpec,
    path::PathKind,
    schedule::{Guarded, Rule, Schedule},
    target::Target,
};
use serde::{Deserialize, Serialize};

/// The settings of a run. A fit derives them from its own settings, with its number of `particles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The path from the base to the target.
    pub path: PathKind,
    /// The schedule of inverse temperatures.
    pub schedule: Schedule,
    /// The base density, where particles start.
    pub base: BaseSpec,
    /// Number of particles.
    pub particles: usize,
    /// Number of independent runs that share the particles and are pooled by their evidence. With two or
    /// more, the error of the evidence is at least that implied by their spread. Particles of one run that
    /// all miss a region, or all lag behind, agree with each other, and their genealogy does not show it.
    /// Each island has fewer particles to resolve the shape of the density; four is a good number. Islands
    /// cannot show what all of them miss, such as a mode far from the base.
    pub islands: usize,
    /// Particles of further populations, run one after another with separate random numbers, as in a
    /// lengthened run. `particles` includes them; only the first population has islands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<usize>,
    /// The kernel that moves them.
    #[serde(rename = "move")]
    pub moves: Move,
    /// Whether to propose jumps from a heavy-tailed mixture fitted to the particles. Jumps carry particles
    /// between modes.
    #[doc(alias = "independence sampler")]
    pub jumps: bool,
    /// Whether to skip local moves at every second temperature where jumps alone renew the particles. This
    /// saves a quarter of the evaluations when particles only explore.
    #[serde(skip)]
    pub spares_local_moves: bool,
    /// Moves continue until particles are this far from their origins; independent particles are at
    /// distance 1.
    pub freshness: f64,
    /// Largest number of sweeps of moves at one temperature.
    pub most_sweeps: usize,
    /// Number of sweeps at t = 1 whose particles enter the result.
    pub kept_sweeps: usize,
    /// Number of rounds that refine the mixture fitted to the particles: its draws are weighted by p and
    /// fitted again.
    pub pmc_rounds: usize,
    /// Draws per round.
    pub pmc_draws: usize,
    /// Resample when the effective sample size falls below this fraction of the particles.
    pub resample_below: f64,
    /// Seed of all random numbers of the run.
    pub seed: u64,
}

/// τ of the default schedule: each step costs a KL divergence of 0.18 and retains about 70 per cent of the
/// effective sample size.
const TAU: f64 = 0.6;

impl Default for Settings {
    fn default() -> Self {
        Self::starting_at(0.01)
    }
}

/// AdaAnn's rule with a robust spread. The ratio is unbounded, since particles cannot collapse as a flow
/// can.
fn guarded(t0: f64, tau: f64) -> Schedule {
    Guarded { t0, tau, max_ratio: 1e6, ..Guarded::default() }.into()
}

impl Settings {
    /// The default settings with a schedule that starts at `t0`.
    pub fn starting_at(t0: f64) -> Self {
        Self {
            path: PathKind::Power,
            schedule: guarded(t0, TAU),
            base: BaseSpec::default(),
            particles: 2_000,
            islands: 1,
            further: Vec::new(),
            moves: Move::default(),
            jumps: true,
            spares_local_moves: false,
            freshness: 0.8,
            most_sweeps: 5,
            kept_sweeps: 5,
            pmc_rounds: 0,
            pmc_draws: 10_000,
            resample_below: 0.6,
            seed: 1,
        }
    }

    /// Sets the τ of the schedule.
    #[must_use]
    pub(crate) fn with_tau(self, tau: f64) -> Self {
        let t0 = self.schedule.first();
        Self { schedule: guarded(t0, tau), ..self }
    }

    /// Particles of the first population.
    pub(super) fn first_particles(&self) -> usize {
        self.further.iter().fold(self.particles, |left, count| left.saturating_sub(*count))
    }

    /// Refuses settings out of range; called at the start of every run.
    ///
    /// # Errors
    /// Names the setting, its value and the valid range.
    pub fn check(&self, target: &dyn Target) -> Result<()> {
        self.schedule.check(self.path.allows_zero())?;
        if !(10..=MOST_PARTICLES).contains(&self.particles) {
            let range = format!("from 10 to {MOST_PARTICLES}");
            return Err(error::setting("particles", self.particles, range));
        }
        let few = self.further.iter().copied().chain([self.first_particles()]);
        if let Some(few) = few.min().filter(|count| *count < 10) {
            return Err(error::setting("particles", few, "at least 10 in each population"));
        }
        let most = self.first_particles() / 10;
        if !(1..=most).contains(&self.islands) {
            let range = format!("from 1 to {most}, a tenth of the particles");
            return Err(error::setting("islands", self.islands, range));
        }
        if !(1..=100_000).contains(&self.most_sweeps) {
            return Err(error::setting("most-sweeps", self.most_sweeps, "from 1 to 100000"));
        }
        if !(1..=10_000).contains(&self.kept_sweeps) {
            return Err(error::setting("kept-sweeps", self.kept_sweeps, "from 1 to 10000"));
        }
        if self.pmc_rounds > 0 && !(100..=MOST_PARTICLES).contains(&self.pmc_draws) {
            let range = format!("from 100 to {MOST_PARTICLES}");
            return Err(error::setting("pmc-draws", self.pmc_draws, range));
        }
        if !(self.freshness > 0.0 && self.freshness < 1.0) {
            return Err(error::setting("freshness", self.freshness, "between 0 and 1"));
        }
        if !(self.resample_below > 0.0 && self.resample_below <= 1.0) {
            let range = "above 0 and at most 1";
            return Err(error::setting("resample-below", self.resample_below, range));
        }
        if self.path == PathKind::Likelihood && !target.has_prior() {
            let range = "power or bridge for a target without a separate prior";
            return Err(error::setting("path", self.path.name(), range));
        }
        Ok(())
    }
}

/// Upper limit on particles: more would not fit into memory.
const MOST_PARTICLES: usize = 10_000_000;
