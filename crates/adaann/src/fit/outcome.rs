//! The outcome of a run.

use super::{RoundRecord, State, StepRecord, UpdateRecord, trace};
use crate::{
    Failure, Result, approximation::Approximation, flow::Flow, schedule::Warning, target::Target,
};

/// The outcome of a run. If the run was resumed, steps, updates and warnings are those since then;
/// counts and rounds are of the whole run.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// The flow at the end.
    pub flow: Flow,
    /// The flow on arrival at t = 1, before training there; absent if the run was stopped before.
    pub flow_at_1: Option<Flow>,
    /// The record of every value of t.
    pub steps: Vec<StepRecord>,
    /// The record of every update.
    #[serde(with = "trace")]
    pub trace: Vec<UpdateRecord>,
    /// The evaluations of the target, including those for the schedule's draws.
    pub target_evaluations: usize,
    /// Updates that were skipped because their gradient was not finite.
    pub skipped_updates: usize,
    /// The rounds of the forward-KL refinement, if any: the flow at the start of each, and the final
    /// flow.
    pub rounds: Vec<RoundRecord>,
    /// Warnings of the schedule.
    pub warnings: Vec<Warning>,
    /// Did the observer stop the run before its end?
    pub stopped: bool,
    /// The state at the end of training at t = 1, before any rounds of forward-KL refinement. A longer
    /// run resumes from it. Absent if the run was stopped before.
    pub last: Option<State>,
    /// The error that ended the run late, if training or schedule failed; the flow is then the last good
    /// one.
    #[serde(default)]
    pub failure: Option<Failure>,
}

impl Outcome {
    /// The inverse temperature of the density that the flow approximates; 0 if there is none yet.
    pub fn t(&self) -> f64 {
        let last = self.steps.last().map_or(0.0, |step| step.t);
        self.failure.as_ref().map_or(last, |failure| failure.t)
    }

    /// The outcome, or the error of a run that failed late.
    ///
    /// # Errors
    /// The error that ended the run late.
    pub fn whole(self) -> Result<Self> {
        match self.failure {
            Some(failure) => Err(failure.into_error()),
            None => Ok(self),
        }
    }

    /// The approximation that the run has found.
    ///
    /// # Errors
    /// If the target's supports are invalid.
    pub fn approximation<'a>(&self, target: &'a dyn Target) -> Result<Approximation<'a>> {
        Approximation::new(target, self.flow.clone())
    }
}
