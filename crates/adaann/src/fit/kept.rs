//! A fit that survives being killed: it saves its state and its records at intervals.

use super::{Event, Fit, Observer, Outcome, State, StepRecord, UpdateRecord, trace};
use crate::{
    Result,
    checkpoint::{Done, Ledger},
    schedule::Warning,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The records reported so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Records {
    steps: Vec<StepRecord>,
    #[serde(with = "trace")]
    trace: Vec<UpdateRecord>,
    warnings: Vec<Warning>,
}

/// The state of a run with the records up to it: [`Fit::go_on`] resumes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PutDown(State, Records);

impl Outcome {
    /// The run at the end of its training at t = 1; none if it was stopped before. A fit with a larger
    /// `work.refine` resumes from there, including any rounds of forward-KL refinement, to the same bits as a
    /// run that had this number from the start. A learning rate that falls over a number of updates
    /// (`refine_lr_rule`) is not stretched: it stays at its final value.
    pub fn put_down(&self) -> Option<PutDown> {
        let state = self.last.clone()?;
        let (steps, updates) = (self.steps.split_last()?.1.to_vec(), state.updates());
        let made = self.trace.iter().filter(|record| record.update <= updates);
        let trace = made.copied().collect();
        Some(PutDown(state, Records { steps, trace, warnings: self.warnings.clone() }))
    }
}

impl Fit<'_> {
    /// Runs the fit with a ledger of finished work: it resumes where the ledger ends, and records its own
    /// work. The outcome is that of the whole run.
    ///
    /// # Errors
    /// As [`Fit::run`], and if the ledger belongs to another fit.
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

    /// Resumes a run from its state; the outcome is that of the whole run. This also lengthens a finished
    /// run:
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

/// Passes events to the observer, and offers the state to the ledger after each.
struct Keeping<'a> {
    observer: &'a mut dyn Observer,
    ledger: &'a mut Ledger,
    records: Records,
    /// Did the observer ask to stop?
    is_over: bool,
}

impl Observer for Keeping<'_> {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        let told = self.observer.observe(event);
        // Later events report a stage that was cut short; the resumed run continues that stage.
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
