//! What a run tells those who watch it, and how they stop it.

use super::{RoundRecord, Snapshot, StepRecord, UpdateRecord};
use crate::{
    flow::Flow,
    schedule::{Phase, Warning},
};
use std::ops::ControlFlow;

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
        /// The run after it.
        snapshot: Snapshot<'a>,
    },
    /// Training at one value of t is over.
    Step {
        /// What was done there, and the step to the next value.
        record: &'a StepRecord,
        /// The flow as it is now, for those who want to look at it on its way.
        flow: &'a Flow,
        /// The run after the step.
        snapshot: Snapshot<'a>,
    },
    /// Draws of a round of the forward-KL refinement were taken.
    Round {
        /// What they say.
        record: &'a RoundRecord,
        /// The run, with the draws.
        snapshot: Snapshot<'a>,
    },
    /// A schedule's warning; the step that it is about follows.
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
