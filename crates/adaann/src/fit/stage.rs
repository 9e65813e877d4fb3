//! The updates at one value of t: a fixed number, or as many as it takes to fit p_t.

use super::{Event, Observer, Settings, run::Run, shard::Shards};
use crate::{
    Error, Result, error,
    schedule::{Phase, Position},
};
use serde::{Deserialize, Serialize};

/// When training at a value of t below 1 ends: a rule in place of T_0 and T.
///
/// Blocks of T updates are made until the draws of q, weighted by p_t/q, are worth the share `ess` of
/// as many draws of p_t. The schedule chooses its step from the draws that said so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stage {
    /// The share to reach, between 0 and 1.
    pub ess: f64,
    /// Updates after which the run goes on whatever the share; at t_0, T_0 if that is more.
    pub most_updates: usize,
}

impl Default for Stage {
    fn default() -> Self {
        Self { ess: 0.5, most_updates: 200 }
    }
}

impl Stage {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.ess > 0.0 && self.ess < 1.0) {
            return Err(error::setting("stage-ess", self.ess, "between 0 and 1, both excluded"));
        }
        error::at_least_one("stage-most", self.most_updates)
    }
}

/// What happened at one value of t.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) updates: usize,
    seen: usize,
    kept: usize,
    /// What the last draws were worth, if any were taken.
    pub(super) ess: Option<f64>,
    pub(super) stopped: bool,
}

impl Progress {
    /// Share of the points with no finite density or gradient.
    pub(super) fn lost(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { 1.0 - self.kept as f64 / self.seen as f64 }
    }
}

impl Run<'_> {
    /// The updates at one value of t.
    pub(super) fn train(
        &mut self,
        at: Position,
        shards: &mut Shards,
        draws: Option<&mut Shards>,
        observer: &mut dyn Observer,
    ) -> Result<Progress> {
        let Settings { work, stage, .. } = *self.settings;
        let phase = Phase::at(at);
        let mut progress = Progress::default();
        match (stage, draws) {
            (Some(stage), Some(draws)) => {
                let first = if phase == Phase::Warmup { work.warmup } else { 0 };
                let most = stage.most_updates.max(first);
                while progress.updates < most && !progress.stopped {
                    let until = most.min(progress.updates + work.anneal);
                    self.train_until(until, at, &mut progress, shards, observer)?;
                    if !progress.stopped {
                        let ess = self.look_at(at.t, draws)?;
                        progress.ess = Some(ess);
                        if ess >= stage.ess {
                            break;
                        }
                    }
                }
            }
            _ => self.train_until(work.updates(phase), at, &mut progress, shards, observer)?,
        }
        if progress.lost() > 0.5 && !progress.stopped {
            let reason = format!(
                "{:.0} per cent of the points have a log density of -inf or NaN; start from a base \
                 (base-mean, base-sd) that lies inside the support or, for a dynamical system, where \
                 trajectories do not explode; give the coordinates bounds or a narrower prior, and \
                 logarithms of what may reach 0 a floor, like log(max(x, 1e-9))",
                100.0 * progress.lost()
            );
            return Err(Error::Diverged { t: at.t, reason });
        }
        Ok(progress)
    }

    /// Updates until the stage has made so many of them, or the observer stops it.
    fn train_until(
        &mut self,
        updates: usize,
        at: Position,
        progress: &mut Progress,
        shards: &mut Shards,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let phase = Phase::at(at);
        self.outcome.trace.reserve(updates.saturating_sub(progress.updates));
        while progress.updates < updates && !progress.stopped {
            let Settings { lr, refine_lr, lr_rule, refine_lr_rule, .. } = self.settings;
            let rate = match phase {
                Phase::Refine => refine_lr.unwrap_or(*lr) * refine_lr_rule.factor(progress.updates),
                _ => lr * lr_rule.factor(self.outcome.trace.len()),
            };
            progress.kept += self.update(at.t, rate, shards)?;
            progress.seen += shards.points();
            progress.updates += 1;
            let record = self.outcome.trace.last().expect("an update was just recorded");
            progress.stopped = observer.observe(&Event::Update { record, phase }).is_break();
        }
        Ok(())
    }
}
