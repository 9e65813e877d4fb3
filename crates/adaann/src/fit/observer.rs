//! What a run tells those who watch it, and how they stop it.

use super::RoundRecord;
use crate::{
    flow::Flow,
    schedule::{Phase, Reason, Warning},
    smc::Stage,
};
use std::ops::ControlFlow;

/// One parameter update.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct UpdateRecord {
    /// Its number, from 1.
    pub update: usize,
    /// The inverse temperature.
    pub t: f64,
    /// Estimate of E_q[log q − log p_t] from the update's own points, before the update; in the
    /// mass-covering stage from the draws that its round began with.
    pub neg_elbo: f64,
}

/// One value of t, when its training is over.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: usize,
    /// The inverse temperature.
    pub t: f64,
    /// How far the next value lies above it; 0 at t = 1.
    pub epsilon: f64,
    /// Standard deviation of b over the schedule's draws, if it looked at them.
    pub std_b: Option<f64>,
    /// Updates made at this t.
    pub updates: usize,
    /// Share of the points of this stage that were lost: log density −∞ or not a number.
    pub lost: f64,
    /// Share of the last draws taken at this t that counts as draws of p_t: the effective sample size
    /// of the weights p_t/q, if draws were taken.
    pub ess: Option<f64>,
    /// What decided the step to the next value; absent at t = 1.
    pub reason: Option<Reason>,
}

/// Something happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins. How many updates it will make, if that is known.
    Start {
        /// Updates of the whole run, unless the schedule finds its own number of steps.
        total_updates: Option<usize>,
    },
    /// An update was made.
    Update {
        /// The update.
        record: &'a UpdateRecord,
        /// What the training is for.
        phase: Phase,
    },
    /// Training at one value of t is over.
    Step {
        /// What was done there, and the step to the next value.
        record: &'a StepRecord,
        /// The flow as it is now, for those who want to look at it on its way.
        flow: &'a Flow,
    },
    /// Particles that go ahead have settled at a temperature.
    Pilot(&'a Stage),
    /// Draws of a mass-covering round were taken.
    Round(&'a RoundRecord),
    /// A schedule's warning.
    Warning(Warning),
}

/// Watches a run. The run may go on in another thread than the one that started it.
pub trait Observer: Send {
    /// Sees an event; `Break` ends the run after it, and what was done is kept.
    fn observe(&mut self, event: &Event) -> ControlFlow<()>;
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Event) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        self(event)
    }
}
