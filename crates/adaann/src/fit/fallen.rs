//! A run that fails late keeps what it had: the last flow that was good, and why it went no further.

use super::{
    Outcome, RoundRecord,
    run::Run,
    state::{Carried, Good},
};
use crate::{Error, Failure, Result};

/// Updates at t = 1 whose mean loss says how good the flow is.
const BLOCK: usize = 100;

impl Carried {
    /// The flow fits the density at t, and the schedule has found a step from there.
    pub(super) fn keep_good(&mut self, parameters: &[f64]) {
        self.set_good(parameters, self.at.t, None);
    }

    /// Copies a flow to where the last one was: updates allocate nothing.
    fn set_good(&mut self, parameters: &[f64], t: f64, neg_elbo: Option<f64>) {
        match &mut self.good {
            Some(good) => {
                good.parameters.copy_from_slice(parameters);
                (good.t, good.neg_elbo) = (t, neg_elbo);
            }
            None => self.good = Some(Good { parameters: parameters.into(), t, neg_elbo }),
        }
    }

    /// An update at t = 1 was made, or skipped: of blocks of them the one with the least loss is kept. A flow
    /// that goes astray may do so long before its gradient is no number.
    pub(super) fn follow_good(&mut self, parameters: &[f64], neg_elbo: f64, is_skipped: bool) {
        if is_skipped || !neg_elbo.is_finite() {
            self.block = (0, 0.0);
            return;
        }
        self.block = (self.block.0 + 1, self.block.1 + neg_elbo);
        if self.block.0 < BLOCK {
            return;
        }
        let mean = self.block.1 / BLOCK as f64;
        self.block = (0, 0.0);
        let least = self.good.as_ref().and_then(|good| good.neg_elbo);
        if least.is_none_or(|least| mean < least) {
            self.set_good(parameters, 1.0, Some(mean));
        }
    }
}

impl Run<'_> {
    /// What the run has after it could not go on, from the last flow that was good.
    ///
    /// # Errors
    /// The failure itself, if there was no such flow yet, or if it is none of training or schedule.
    pub(super) fn fall_back(mut self, error: Error) -> Result<Outcome> {
        let (failed_at, reason) = match &error {
            Error::Diverged { t, reason } => (*t, reason.clone()),
            Error::Schedule(schedule) => (self.carried.at.t, schedule.to_string()),
            _ => return Err(error),
        };
        let Some((t, rounds)) = self.last_good()? else { return Err(error) };
        let failure = Some(Failure { t, failed_at, reason });
        Ok(Outcome { failure, rounds, ..self.into_outcome(false)? })
    }

    /// Takes on the last flow that was good, with its t and what rounds were worth.
    fn last_good(&mut self) -> Result<Option<(f64, Vec<RoundRecord>)>> {
        if !self.carried.rounds.is_empty() {
            return Ok(Some((1.0, self.judge_rounds()?)));
        }
        let Some(good) = self.carried.good.take() else { return Ok(None) };
        self.record_cut_short();
        self.flow.set_parameters(&good.parameters)?;
        Ok(Some((good.t, Vec::new())))
    }
}
