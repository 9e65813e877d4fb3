//! What particles that went ahead have found: a mixture, and themselves to judge others by.

use super::settings::PILOT_SEED;
use crate::{
    Batch, Result,
    approximation::Approximation,
    fit::{Outcome, Pilot, PilotRecord, StepRecord},
    flow::{Base, Flow, FlowSpec},
    simd::Buffer,
    smc::Population,
    target::Target,
};
use serde::{Deserialize, Serialize};

/// The mixture that describes the particles, and the particles.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::fit) struct Found {
    mixture: Base,
    z: Batch,
    weights: Buffer,
    record: PilotRecord,
}

impl Found {
    /// Describes particles, and tries the mixture that does.
    pub(super) fn new(
        pilot: &Pilot,
        population: Population,
        target: &dyn Target,
        seed: u64,
    ) -> Result<Self> {
        let mixture = base_of(&population)?;
        let approximation = Approximation::new(target, as_flow(&mixture)?)?;
        let ess = approximation.weight_sums(pilot.draws, seed ^ PILOT_SEED)?.ess_share();
        let record = PilotRecord {
            evaluations: population.evaluations + pilot.draws,
            stages: population.stages.len(),
            components: mixture.components(),
            ess,
            is_kept: ess >= pilot.enough,
        };
        let weights = Buffer::from(&population.weights[..]);
        Ok(Self { mixture, z: population.z, weights, record })
    }

    /// Is the mixture all that is needed?
    pub(in crate::fit) fn is_enough(&self) -> bool {
        self.record.is_kept
    }

    /// The mixture as the result of a run: one step, at t = 1, without updates.
    pub(in crate::fit) fn into_outcome(self) -> Result<Outcome> {
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
        let flow = as_flow(&self.mixture)?;
        Ok(Outcome {
            flow_at_1: Some(flow.clone()),
            flow,
            steps: vec![step],
            trace: Vec::new(),
            target_evaluations: self.record.evaluations,
            skipped_updates: 0,
            rounds: Vec::new(),
            pilot: Some(self.record),
            warnings: Vec::new(),
            stopped: false,
        })
    }

    /// The outcome of the annealed flow, with the mixture in its place if that is better.
    pub(in crate::fit) fn or_better(mut self, mut outcome: Outcome) -> Result<Outcome> {
        let own = as_flow(&self.mixture)?;
        outcome.target_evaluations += self.record.evaluations;
        let (mean, other) = (self.mean_log_q(&own)?, self.mean_log_q(&outcome.flow)?);
        self.record.is_kept = other.is_nan() || mean > other;
        if self.record.is_kept {
            outcome.flow = own;
        }
        outcome.pilot = Some(self.record);
        Ok(outcome)
    }

    /// Estimate of E_p[log q]: how likely a flow is to have made the particles.
    fn mean_log_q(&self, flow: &Flow) -> Result<f64> {
        let log_q = flow.log_density(&self.z)?;
        Ok(log_q.iter().zip(&*self.weights).map(|(q, w)| q * w).sum())
    }
}

/// A shift and a scale that are left at none: a flow has layers.
fn as_flow(mixture: &Base) -> Result<Flow> {
    Flow::new(&FlowSpec::Affine, mixture.clone())
}

/// The base that describes the particles.
fn base_of(population: &Population) -> Result<Base> {
    match &population.mixture()[..] {
        [one] => Base::full(&one.mean, &one.covariance),
        many => {
            let weights: Vec<f64> = many.iter().map(|component| component.weight).collect();
            let means: Vec<f64> =
                many.iter().flat_map(|component| component.mean.clone()).collect();
            let covariances: Vec<f64> =
                many.iter().flat_map(|component| component.covariance.clone()).collect();
            Base::full_mixture(&weights, &means, &covariances)
        }
    }
}
