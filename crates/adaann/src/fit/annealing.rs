//! Algorithm 1: the loop from t_0 to 1, with updates and the schedule's steps, and the refinement at t =
//! 1.

use super::{
    Observer, RoundRecord, Settings, StepRecord,
    run::{Run, check_way},
    stage::Progress,
};
use crate::{
    Result,
    schedule::{Draws, Phase, Position, ScheduleError, Step},
    train::{DrawShards, OnDraws, Pace, PointClip},
};
use std::ops::ControlFlow;

const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());
const BREAK: ControlFlow<()> = ControlFlow::Break(());

impl Run<'_> {
    /// The rest of Algorithm 1 from the run's current position. `Break` means that the observer stopped
    /// it.
    pub(super) fn anneal(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        let Settings { samples, variance_samples, stage, .. } = *self.settings;
        if self.carried.at.t < 1.0 {
            let mut shards = self.shards(samples);
            let looks = self.followed.rule().needs_draws() || stage.is_some();
            let mut draws = looks.then(|| self.shards(variance_samples));
            while self.carried.at.t < 1.0 {
                if self.step(&mut shards, draws.as_mut(), observer)?.is_break() {
                    return Ok(BREAK);
                }
            }
        }
        if self.carried.is_refined { Ok(CONTINUE) } else { self.refine(observer) }
    }

    /// One update below t = 1 or, if training at this t is over, the step to the next value.
    fn step(
        &mut self,
        shards: &mut DrawShards,
        mut draws: Option<&mut DrawShards>,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        let Settings { work, stage, .. } = *self.settings;
        let at = self.carried.at;
        let fixed = work.updates(Phase::at(at));
        // Stages that end by their effective sample size are checked after every block.
        let (most, block) = match stage {
            None => (fixed, fixed),
            Some(stage) if at.index == 0 => (stage.most_updates.max(work.warmup), work.anneal),
            Some(stage) => (stage.most_updates, work.anneal),
        };
        let made = self.carried.progress.updates;
        let mut is_over = made >= most;
        if let (Some(stage), Some(draws)) = (stage, draws.as_deref_mut())
            && made > 0
            && (is_over || made.is_multiple_of(block))
        {
            let ess = self.look_at(at.t, draws)?;
            self.carried.progress.ess = Some(ess);
            is_over |= ess >= stage.ess;
        }
        if is_over {
            // After a check, the schedule uses the draws of that check.
            return self.close(draws.filter(|_| stage.is_none()), observer);
        }
        if made.is_multiple_of(block) {
            self.trace.reserve(block.min(most - made));
        }
        let told = self.update(shards, observer)?;
        if told.is_break() {
            self.tell_cut_short(observer);
        }
        Ok(told)
    }

    /// Ends the training at a value of t below 1: gets the schedule's next step, with fresh draws if it
    /// needs them, and takes it.
    fn close(
        &mut self,
        draws: Option<&mut DrawShards>,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        let at = self.carried.at;
        self.carried.progress.check_lost(at.t)?;
        if let Some(draws) = draws {
            self.carried.progress.ess = Some(self.look_at(at.t, draws)?);
        }
        let rule = self.followed.rule();
        let next = rule.next(at, &Draws { b: &self.drawn.b, weights: None })?;
        check_step(at, &next)?;
        // The step is taken before the observer is called, so that a state copied then resumes after it.
        self.carried.keep_good(self.flow.parameters());
        let progress = std::mem::take(&mut self.carried.progress);
        self.carried.at = at.after(&next);
        let warned = self.tell_warning(&next, observer);
        let told = self.tell_stage(at, progress, Some(&next), observer);
        Ok(if warned.is_break() { warned } else { told })
    }

    /// The rest of the training at t = 1.
    fn refine(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        if self.carried.at_1.is_none() {
            self.carried.at_1 = Some(self.flow.parameters().into());
        }
        let at = self.carried.at;
        let updates = self.settings.work.refine;
        let mut shards = self.shards(self.settings.refine_samples);
        self.trace.reserve(updates.saturating_sub(self.carried.progress.updates));
        while self.carried.progress.updates < updates {
            if self.update(&mut shards, observer)?.is_break() {
                self.tell_cut_short(observer);
                return Ok(BREAK);
            }
        }
        self.carried.progress.check_lost(at.t)?;
        self.carried.is_refined = true;
        let told = self.tell_stage(at, self.carried.progress, None, observer);
        // An observer that stops a run at its end has not cut it short.
        Ok(if self.settings.forward_kl.is_some() { told } else { CONTINUE })
    }

    /// One update on draws of the flow.
    fn update(
        &mut self,
        shards: &mut DrawShards,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        let Self { settings, density, flow, carried, trainer, training_draws, .. } = self;
        let t = carried.at.t;
        let (pace, clip) = if t < 1.0 {
            let rate = settings.lr * settings.lr_rule.factor(carried.training.updates());
            (Pace { rate, clip: settings.clip }, carried.point_clip)
        } else {
            let factor = settings.refine_lr_rule.factor(carried.progress.updates);
            let rate = settings.refine_lr.unwrap_or(settings.lr) * factor;
            (Pace { rate, clip: settings.refine_clip }, PointClip::new(None))
        };
        let (points, skipped) = (shards.points(), carried.training.skipped());
        let gradient = settings.gradient;
        let mut draws = OnDraws { shards, density, stream: training_draws, t, clip, gradient };
        let totals = trainer.update(&mut carried.training, flow, &mut draws, pace)?;
        if t < 1.0 {
            carried.point_clip.follow(&totals);
        } else {
            let is_skipped = carried.training.skipped() > skipped;
            carried.follow_good(flow.parameters(), totals.mean(), is_skipped);
        }
        carried.target_evaluations +=
            density.target.values(points, Some(density.path.weights(t).of_target()));
        carried.progress.updates += 1;
        carried.progress.seen += points;
        carried.progress.kept += totals.kept;
        check_way(&carried.training, t, || remedy(settings, t))?;
        Ok(self.tell_update(totals.mean(), observer))
    }

    /// Ends a run before its first update after a resume: records the current stage, and keeps the best
    /// round of the refinement.
    pub(super) fn put_down(&mut self, observer: &mut dyn Observer) -> Result<Vec<RoundRecord>> {
        if !self.carried.rounds.is_empty() {
            self.flow = self.flow.clone().into_double();
            return self.judge_rounds();
        }
        if self.carried.progress.updates > 0 && !self.carried.is_refined {
            self.tell_cut_short(observer);
        }
        Ok(Vec::new())
    }

    /// Records a stage that the observer has stopped.
    fn tell_cut_short(&mut self, observer: &mut dyn Observer) {
        let (at, progress) = (self.carried.at, self.carried.progress);
        // The observer has stopped the run, so its answer here does not matter.
        let _ = self.tell_stage(at, progress, None, observer);
    }

    /// Records the current stage of a run that failed.
    pub(super) fn record_cut_short(&mut self) {
        self.record(stage_record(self.carried.at, self.carried.progress, None));
    }

    /// Records a stage, with the step that follows if there is one.
    fn tell_stage(
        &mut self,
        at: Position,
        progress: Progress,
        next: Option<&Step>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        self.tell_step(stage_record(at, progress, next), observer)
    }
}

fn stage_record(at: Position, progress: Progress, next: Option<&Step>) -> StepRecord {
    StepRecord {
        step: at.index + 1,
        t: at.t,
        epsilon: next.map_or(0.0, |next| next.epsilon),
        std_b: next.and_then(|next| next.std_b),
        updates: progress.updates,
        lost: progress.lost(),
        ess: progress.ess,
        reason: next.map(|next| next.reason),
    }
}

/// Refuses an invalid step of a custom rule: t must grow, and end at 1.
fn check_step(at: Position, next: &Step) -> Result<(), ScheduleError> {
    match next.t {
        t if t > 1.0 => Err(ScheduleError::Position { t }),
        t if t > at.t => Ok(()),
        t => Err(ScheduleError::OutOfStep { index: at.index + 1, t: at.t, next: t }),
    }
}

/// A remedy for gradients that are not finite: the settings in force at t.
fn remedy(settings: &Settings, t: f64) -> String {
    let Settings { lr, refine_lr, clip, refine_clip, .. } = settings;
    let (rate, name, limit) = match refine_lr {
        _ if t < 1.0 => (format!("lower lr ({lr})"), "clip", clip),
        Some(refine_lr) => (format!("lower refine-lr ({refine_lr})"), "refine-clip", refine_clip),
        None => (format!("set refine-lr below lr ({lr})"), "refine-clip", refine_clip),
    };
    match limit {
        None => format!("{rate}, or set {name}"),
        Some(limit) => format!("{rate}, or lower {name} ({limit})"),
    }
}
