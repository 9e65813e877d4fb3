//! A fit that can be killed: its state and what it has reported, written down now and then.

use super::{Event, Fit, Observer, Outcome, State, StepRecord, UpdateRecord, trace};
use crate::{
    Result,
    checkpoint::{Done, Ledger},
    schedule::Warning,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What was reported so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Records {
    steps: Vec<StepRecord>,
    #[serde(with = "trace")]
    trace: Vec<UpdateRecord>,
    warnings: Vec<Warning>,
}

impl Fit<'_> {
    /// Runs it with a list of what was finished before: it goes on where that ends, and keeps it. The
    /// outcome is that of the whole run.
    ///
    /// # Errors
    /// As [`Fit::run`], and if the list is that of another fit.
    pub fn run_with(self, observer: &mut dyn Observer, ledger: &mut Ledger) -> Result<Outcome> {
        if ledger.is_off() {
            return self.run(observer);
        }
        ledger.part("flow", |ledger| {
            let (state, records) = match ledger.take_up::<(State, Records)>()? {
                Some((state, records)) => (Some(state), records),
                None => (None, Records::default()),
            };
            let before = records.clone();
            let mut keeping = Keeping { observer, ledger, records, is_over: false };
            let rest = match state {
                Some(state) => self.resume(state, &mut keeping)?,
                None => self.run(&mut keeping)?,
            };
            let outcome = Outcome {
                steps: [before.steps, rest.steps].concat(),
                trace: [before.trace, rest.trace].concat(),
                warnings: [before.warnings, rest.warnings].concat(),
                ..rest
            };
            Ok(if outcome.stopped { Done::Stopped(outcome) } else { Done::Whole(outcome) })
        })
    }
}

/// Shows events to who watches, and offers the state after each.
struct Keeping<'a> {
    observer: &'a mut dyn Observer,
    ledger: &'a mut Ledger,
    records: Records,
    /// Has who watches ended it?
    is_over: bool,
}

impl Observer for Keeping<'_> {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        let told = self.observer.observe(event);
        // What is told after that is of a stage that was cut short, and goes on.
        if self.is_over {
            return told;
        }
        self.is_over = told.is_break();
        let snapshot = match event {
            Event::Update { record, snapshot, .. } => {
                self.records.trace.push(**record);
                Some(snapshot)
            }
            Event::Step { record, snapshot, .. } => {
                self.records.steps.push((*record).clone());
                Some(snapshot)
            }
            Event::Round { snapshot, .. } => Some(snapshot),
            Event::Warning(warning) => {
                self.records.warnings.push(*warning);
                None
            }
            _ => None,
        };
        if let Some(snapshot) = snapshot
            && self.ledger.is_due()
        {
            self.ledger.keep(&(snapshot.state(), &self.records));
        }
        told
    }
}
