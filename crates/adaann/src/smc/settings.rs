//! What a run of sequential Monte Carlo is told, checked before the first particle.

use super::Move;
use crate::{
    Result, error,
    flow::BaseSpec,
    path::PathKind,
    schedule::{Guarded, Rule, Schedule},
    target::Target,
};
use serde::{Deserialize, Serialize};

/// The settings of a run. Those of a fit make the ones that go with it, by their `particles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// How the density is approached.
    pub path: PathKind,
    /// Which inverse temperatures it passes.
    pub schedule: Schedule,
    /// Where particles start.
    pub base: BaseSpec,
    /// How many there are.
    pub particles: usize,
    /// Independent runs that they are shared out to, pooled by the evidence that each finds. From two
    /// on the error of the evidence is not smaller than their spread says: particles of one run that
    /// all miss a region, or all lag behind, agree with each other, and its family tree sees nothing of
    /// it. Each island has fewer particles to see the shape of the density by; four are a good
    /// number. What all of them miss they do not see, as a mode that is far from the base.
    pub islands: usize,
    /// Particles of populations that follow the first, one after another, each with random numbers of its
    /// own: what a run that was lengthened has. `particles` counts them too, and islands are the first's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<usize>,
    /// How they move.
    #[serde(rename = "move")]
    pub moves: Move,
    /// Also propose jumps, from a mixture with heavy tails that is fitted to the particles? They
    /// carry particles from mode to mode.
    #[doc(alias = "independence sampler")]
    pub jumps: bool,
    /// Leave out local moves at every second temperature where jumps alone renew the particles? That saves a quarter of the
    /// evaluations of particles that are only to look.
    #[serde(skip)]
    pub spares_local_moves: bool,
    /// Moves go on until particles are this far from where they were: 1 is as far as independent
    /// ones.
    pub freshness: f64,
    /// The most sweeps of moves at one temperature.
    pub most_sweeps: usize,
    /// Sweeps at t = 1 whose particles are all part of the result.
    pub kept_sweeps: usize,
    /// Rounds that sharpen the mixture which describes the particles: draws of it are weighted by p
    /// and fitted again.
    pub pmc_rounds: usize,
    /// Draws of such a round.
    pub pmc_draws: usize,
    /// Particles are resampled when the weights are worth less than this share of them.
    pub resample_below: f64,
    /// Fixes every random number of the run.
    pub seed: u64,
}

/// τ of the default schedule: a step is worth a KL divergence of 0.18, and keeps about 70 per cent
/// of the effective sample size.
const TAU: f64 = 0.6;

impl Default for Settings {
    fn default() -> Self {
        Self::starting_at(0.01)
    }
}

/// AdaAnn's rule with a spread that particles far out cannot move; no bound on ratios, since
/// particles cannot collapse as a flow can.
fn guarded(t0: f64, tau: f64) -> Schedule {
    Guarded { t0, tau, max_ratio: 1e6, ..Guarded::default() }.into()
}

impl Settings {
    /// The default settings with temperatures that begin at `t0`.
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

    /// The same with steps between temperatures of another τ.
    #[must_use]
    pub(crate) fn with_tau(self, tau: f64) -> Self {
        let t0 = self.schedule.first();
        Self { schedule: guarded(t0, tau), ..self }
    }

    /// Particles of the first population.
    pub(super) fn first_particles(&self) -> usize {
        self.further.iter().fold(self.particles, |left, count| left.saturating_sub(*count))
    }

    /// Refuses settings out of range; every run begins with this.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
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
            let range = "power or bridge for a target that has no prior apart from its likelihood";
            return Err(error::setting("path", self.path.name(), range));
        }
        Ok(())
    }
}

/// More is surely a slip, and would ask for more memory than there is.
const MOST_PARTICLES: usize = 10_000_000;
