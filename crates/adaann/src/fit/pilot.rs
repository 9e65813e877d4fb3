//! A start from particles: they go ahead along the path, and what describes them may be enough.
//!
//! Annealing a flow can lose a mode, and no loss tells. Particles of sequential Monte Carlo keep
//! their modes and know how much each weighs. A mixture of Gaussians is fitted to them; in a few
//! dimensions it often is an approximation that weights can make exact, for a fraction of the work.
//! If too few of its draws count as draws of the target, the flow is annealed as ever, from the base
//! of the settings, and the better of the two is kept: the one that is likelier to have made the
//! particles, since E_p[log q] is largest where KL(p‖q) is smallest, and falls with every mode lost.

use super::{Event, Observer, Outcome, Settings, StepRecord};
use crate::{
    Result, error,
    flow::{Base, Flow, FlowSpec},
    smc::{self, Population},
    target::Target,
};
use serde::{Deserialize, Serialize};

/// Settings of a start from particles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[doc(alias = "scout")]
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

/// What particles that went ahead have found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PilotRecord {
    /// Points at which the target was evaluated for them.
    pub evaluations: usize,
    /// Temperatures they passed.
    pub stages: usize,
    /// Components of the mixture.
    pub components: usize,
    /// Share of the mixture's draws that counts as draws of the target.
    pub ess: f64,
    /// Is the mixture the approximation?
    pub is_kept: bool,
}

/// The mixture that describes the particles, as a flow, with the particles.
pub(super) struct PilotRun {
    flow: Flow,
    population: Population,
    pub(super) record: PilotRecord,
}

/// Tells the pilot's particles and draws from those of others with the same seed.
const PILOT_SEED: u64 = 0xd1b5_4a32_d192_ed03;

impl Pilot {
    pub(super) fn check(&self, settings: &Settings, target: &dyn Target) -> Result<()> {
        if !(self.enough > 0.0 && self.enough <= 1.0) {
            return Err(error::setting("pilot-enough", self.enough, "above 0 and at most 1"));
        }
        self.particles_of(settings).check(target)
    }

    fn particles_of(&self, settings: &Settings) -> smc::Settings {
        smc::Settings {
            particles: self.particles,
            pmc_rounds: self.rounds,
            pmc_draws: self.draws,
            seed: settings.seed ^ PILOT_SEED,
            ..smc::Settings::of_fit(settings)
        }
    }

    /// Sends the particles. `None` if the observer stopped them.
    pub(super) fn explore(
        &self,
        target: &dyn Target,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<PilotRun>> {
        let mut watch = |stage: &smc::Stage| observer.observe(&Event::Pilot(stage));
        let population = smc::smc(target, &self.particles_of(settings), &mut watch)?;
        if population.stopped {
            return Ok(None);
        }
        // A shift and a scale that are left at none: a flow has layers.
        let flow = Flow::new(&FlowSpec::Affine, base_of(&population)?)?;
        let approximation = super::Approximation::new(target, flow.clone())?;
        let ess = approximation.tally(self.draws, settings.seed ^ PILOT_SEED)?.ess_share();
        let record = PilotRecord {
            evaluations: population.evaluations + self.draws,
            stages: population.stages.len(),
            components: flow.base().components(),
            ess,
            is_kept: ess >= self.enough,
        };
        Ok(Some(PilotRun { flow, population, record }))
    }
}

impl PilotRun {
    /// The mixture as the result of a run: one step, at t = 1, without updates.
    pub(super) fn into_outcome(self) -> Outcome {
        let step = StepRecord {
            step: 1,
            t: 1.0,
            epsilon: 0.0,
            std_b: None,
            updates: 0,
            lost: 0.0,
            ess: Some(self.record.ess),
            reason: None,
        };
        Outcome {
            flow_at_1: Some(self.flow.clone()),
            flow: self.flow,
            steps: vec![step],
            trace: Vec::new(),
            target_evaluations: self.record.evaluations,
            skipped_updates: 0,
            rounds: Vec::new(),
            pilot: Some(self.record),
            warnings: Vec::new(),
            stopped: false,
        }
    }

    /// The outcome of the annealed flow, with the mixture in its place if that is better.
    pub(super) fn or_better(mut self, mut outcome: Outcome) -> Result<Outcome> {
        outcome.target_evaluations += self.record.evaluations;
        self.record.is_kept = self.is_better_than(&outcome.flow)?;
        if self.record.is_kept {
            outcome.flow = self.flow;
        }
        outcome.pilot = Some(self.record);
        Ok(outcome)
    }

    /// Is the mixture likelier than `flow` to have made the particles?
    fn is_better_than(&self, flow: &Flow) -> Result<bool> {
        let mean = |flow: &Flow| -> Result<f64> {
            let log_q = flow.log_density(&self.population.z)?;
            Ok(log_q.iter().zip(&self.population.weights).map(|(q, w)| q * w).sum())
        };
        let (own, other) = (mean(&self.flow)?, mean(flow)?);
        Ok(other.is_nan() || own > other)
    }
}

/// The base that describes the particles.
fn base_of(population: &Population) -> Result<Base> {
    let families = population.shape();
    match &families[..] {
        [one] => Base::full(&one.mean, &one.covariance),
        many => {
            let weights: Vec<f64> = many.iter().map(|family| family.weight).collect();
            let means: Vec<f64> = many.iter().flat_map(|family| family.mean.clone()).collect();
            let covariances: Vec<f64> =
                many.iter().flat_map(|family| family.covariance.clone()).collect();
            Base::full_mixture(&weights, &means, &covariances)
        }
    }
}
