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

/// A run that was put down, with what it has reported until then: [`Fit::go_on`] takes it up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PutDown(State, Records);

impl Outcome {
    /// The run as it was at the end of its training at t = 1; none if it was stopped before. A fit with a
    /// larger `work.refine` goes on from there, and through the rounds of forward-KL refinement if there
    /// are any, to the same bits as if it had been given that number at the start. A learning rate that
    /// falls over so many updates (`refine_lr_rule`) is not stretched: where it has come to its end it stays.
    pub fn put_down(&self) -> Option<PutDown> {
        let state = self.last.clone()?;
        let (steps, updates) = (self.steps.split_last()?.1.to_vec(), state.updates());
        let made = self.trace.iter().filter(|record| record.update <= updates);
        let trace = made.copied().collect();
        Some(PutDown(state, Records { steps, trace, warnings: self.warnings.clone() }))
    }
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
            let before = ledger.take_up::<PutDown>()?;
            let records = before.as_ref().map(|before| before.1.clone()).unwrap_or_default();
            let mut keeping = Keeping { observer, ledger, records, is_over: false };
            let outcome = match before {
                Some(before) => self.go_on(before, &mut keeping)?,
                None => self.run(&mut keeping)?,
            };
            Ok(if outcome.stopped { Done::Stopped(outcome) } else { Done::Whole(outcome) })
        })
    }

    /// Goes on with a run that was put down; the outcome is that of the whole run. So is a finished one
    /// lengthened:
    ///
    /// ```
    /// use adaann::{Program, fit::{Fit, Settings, fit}, schedule::Work};
    ///
    /// let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    /// let with = |refine| Settings {
    ///     work: Work { warmup: 50, anneal: 2, refine },
    ///     refine_samples: 100,
    ///     ..Settings::default()
    /// };
    /// let short = fit(&target, &with(50), &mut ())?;
    /// let end = short.put_down().expect("it came to its end");
    /// let longer = Fit::new(&target, &with(80)).go_on(end, &mut ())?;
    ///
    /// let whole = fit(&target, &with(80), &mut ())?;
    /// assert_eq!(longer.flow.parameters(), whole.flow.parameters());
    /// assert_eq!(longer.trace, whole.trace);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Fit::resume`].
    pub fn go_on(
        self,
        PutDown(state, before): PutDown,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let rest = self.resume(state, observer)?;
        Ok(Outcome {
            steps: [before.steps, rest.steps].concat(),
            trace: [before.trace, rest.trace].concat(),
            warnings: [before.warnings, rest.warnings].concat(),
            ..rest
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
