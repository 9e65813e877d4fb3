//! The events that a run reports to its observer, and how the observer stops it.

use super::{RoundRecord, Snapshot, StepRecord, UpdateRecord};
use crate::{
    flow::Flow,
    schedule::{Phase, Warning},
};
use std::ops::ControlFlow;

/// An event of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Start {
        /// The number of updates of the whole run; none if the schedule finds its own number of
        /// steps.
        total_updates: Option<usize>,
    },
    /// An update was made.
    Update {
        /// The update.
        record: &'a UpdateRecord,
        /// The purpose of the training.
        phase: Phase,
        /// The state after the update.
        snapshot: Snapshot<'a>,
    },
    /// Training at one value of t is over.
    Step {
        /// The work at this value of t, and the step to the next.
        record: &'a StepRecord,
        /// The current flow, for observers that inspect it.
        flow: &'a Flow,
        /// The state after the step.
        snapshot: Snapshot<'a>,
    },
    /// The draws of a round of the forward-KL refinement were taken.
    Round {
        /// The results of these draws.
        record: &'a RoundRecord,
        /// The state, including the draws.
        snapshot: Snapshot<'a>,
    },
    /// A warning of the schedule; the step that it concerns follows.
    Warning(Warning),
}

/// Watches a run. It may be called from another thread than the one that started the run.
pub trait Observer: Send {
    /// Receives an event; `Break` ends the run after it, and the run returns its result so far.
    fn observe(&mut self, event: &Event) -> ControlFlow<()>;
}

/// Ignores all events.
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
