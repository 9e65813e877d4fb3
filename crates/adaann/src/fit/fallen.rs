//! Keeps the result of a run that fails late: the last good flow, and the reason for the failure.

use super::{
    Outcome, RoundRecord,
    run::Run,
    state::{Carried, Good},
};
use crate::{Error, Failure, Result};

/// Updates at t = 1 whose mean loss measures how good the flow is.
const BLOCK: usize = 100;

impl Carried {
    /// Records a good flow: it fits the density at t, and the schedule has found a step from there.
    pub(super) fn keep_good(&mut self, parameters: &[f64]) {
        self.set_good(parameters, self.at.t, None);
    }

    /// Copies a flow into the existing buffer, so that updates do not allocate.
    fn set_good(&mut self, parameters: &[f64], t: f64, neg_elbo: Option<f64>) {
        match &mut self.good {
            Some(good) => {
                good.parameters.copy_from_slice(parameters);
                (good.t, good.neg_elbo) = (t, neg_elbo);
            }
            None => self.good = Some(Good { parameters: parameters.into(), t, neg_elbo }),
        }
    }

    /// Records an update at t = 1, which may have been skipped, and keeps the flow of the block with the
    /// least loss. Training can diverge long before a gradient stops being finite.
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
    /// The result of a failed run, from the last good flow.
    ///
    /// # Errors
    /// The failure itself, if there is no good flow yet, or if training and schedule did not cause it.
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

    /// Restores the last good flow, with its t and the results of the rounds.
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
