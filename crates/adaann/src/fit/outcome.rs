//! What a run has done.

use super::{RoundRecord, State, StepRecord, UpdateRecord, trace};
use crate::{
    Failure, Result, approximation::Approximation, flow::Flow, schedule::Warning, target::Target,
};

/// What a run has done. Of a run that was resumed the steps, updates and warnings are those since
/// then; counts and rounds are of the whole run.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// The flow at the end.
    pub flow: Flow,
    /// The flow on arrival at t = 1, before it was trained there; absent if the run was stopped
    /// before.
    pub flow_at_1: Option<Flow>,
    /// Every value of t.
    pub steps: Vec<StepRecord>,
    /// Every update.
    #[serde(with = "trace")]
    pub trace: Vec<UpdateRecord>,
    /// Points at which the target was evaluated, those of the schedule's draws included.
    pub target_evaluations: usize,
    /// Updates left out because their gradient was not finite.
    pub skipped_updates: usize,
    /// The rounds of the forward-KL refinement, if there was one: what each began with, and what the
    /// last one ended with.
    pub rounds: Vec<RoundRecord>,
    /// What the schedule warned of.
    pub warnings: Vec<Warning>,
    /// Did the observer stop the run before its end?
    pub stopped: bool,
    /// Where the training at t = 1 ended, before any rounds of forward-KL refinement: what a longer run
    /// goes on from. Absent if it was stopped before.
    pub last: Option<State>,
    /// What ended the run late, if training or schedule failed: the flow is then the last that was good.
    #[serde(default)]
    pub failure: Option<Failure>,
}

impl Outcome {
    /// The inverse temperature of the density that the flow approximates; 0 if there is none yet.
    pub fn t(&self) -> f64 {
        let last = self.steps.last().map_or(0.0, |step| step.t);
        self.failure.as_ref().map_or(last, |failure| failure.t)
    }

    /// The run, unless it failed: for those to whom half of one is none.
    ///
    /// # Errors
    /// What ended it late.
    pub fn whole(self) -> Result<Self> {
        match self.failure {
            Some(failure) => Err(failure.into_error()),
            None => Ok(self),
        }
    }

    /// The approximation that the run has found.
    ///
    /// # Errors
    /// If the target's supports are no supports.
    pub fn approximation<'a>(&self, target: &'a dyn Target) -> Result<Approximation<'a>> {
        Approximation::new(target, self.flow.clone())
    }
}
