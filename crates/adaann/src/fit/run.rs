//! A run under way: the loop of Algorithm 1, its updates, and its steps.

use super::{
    Event, Observer, Outcome, Settings, StepRecord, UpdateRecord,
    shard::{Drawn, PointClip, Shards, Update},
    stage::Progress,
};
use crate::{
    Error, Result,
    flow::Flow,
    optim::{self, clip_by_norm},
    path::Tempered,
    pieces,
    rng::{Purpose, Stream},
    schedule::{Draws, Position, Rule, Schedule, Step, gentlest_t, weight_ess},
};
use std::ops::ControlFlow;

/// Updates in a row that may be skipped because their gradient was not finite; then the run has
/// lost its way.
pub(super) const MOST_SKIPPED_IN_A_ROW: usize = 100;

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) settings: &'a Settings,
    /// The settings' own, with t_0 found.
    schedule: Schedule,
    pub(super) density: Tempered<'a>,
    pub(super) flow: Flow,
    optimizer: optim::State,
    gradient: Vec<f64>,
    training: Stream,
    variance: Stream,
    /// How often draws were taken for the schedule and the stages.
    looks: u64,
    drawn: Drawn,
    point_clip: PointClip,
    skipped_in_a_row: usize,
    pub(super) outcome: Outcome,
}

impl<'a> Run<'a> {
    pub(super) fn new(settings: &'a Settings, density: Tempered<'a>, flow: Flow) -> Self {
        let outcome = Outcome {
            flow: flow.clone(),
            flow_at_1: None,
            steps: Vec::new(),
            trace: Vec::new(),
            target_evaluations: 0,
            skipped_updates: 0,
            rounds: Vec::new(),
            pilot: None,
            warnings: Vec::new(),
            stopped: false,
        };
        Self {
            settings,
            schedule: settings.schedule.clone(),
            density,
            optimizer: optim::State::new(settings.optimizer, flow.parameters().len()),
            gradient: vec![0.0; flow.parameters().len()],
            training: Stream::new(settings.seed, Purpose::Training),
            variance: Stream::new(settings.seed, Purpose::Evaluation),
            looks: 0,
            drawn: Drawn::default(),
            point_clip: PointClip::new(settings.point_clip),
            skipped_in_a_row: 0,
            flow,
            outcome,
        }
    }

    /// What the run has done.
    pub(super) fn into_outcome(self, stopped: bool) -> Outcome {
        Outcome { flow: self.flow.into_double(), stopped, ..self.outcome }
    }

    pub(super) fn shards(&self, points: usize) -> Shards {
        Shards::new(&self.flow, points, self.density.target.target().wants_whole_batch())
    }

    /// Finds t_0 from draws of the flow as it starts, if that is asked for.
    pub(super) fn find_first(&mut self) -> Result<()> {
        if !self.settings.auto_t0 {
            return Ok(());
        }
        let mut first = 0.0;
        if !self.settings.path.allows_zero() {
            let mut shards = self.shards(self.settings.variance_samples);
            self.look(&mut shards)?;
            first = gentlest_t(&self.drawn.a, &self.drawn.b, &self.drawn.log_q);
        }
        self.schedule.set_first(first);
        Ok(())
    }

    /// Updates of the whole run, if their number is known beforehand.
    pub(super) fn total_updates(&self) -> Option<usize> {
        let Settings { work, stage, forward_kl, .. } = self.settings;
        let covering = forward_kl.map_or(0, |forward_kl| forward_kl.total_updates());
        // A stage that is trained until it fits takes as long as it takes.
        let count = self.schedule.count().filter(|count| stage.is_none() || *count == 1);
        count.map(|count| work.total_updates(count).saturating_add(covering))
    }

    /// Algorithm 1, and what follows it. `Break` says that the observer stopped it.
    pub(super) fn all(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        if self.anneal(observer)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match self.settings.forward_kl {
            Some(forward_kl) => self.forward_kl(&forward_kl, observer),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// The loop of Algorithm 1. `Break` says that the observer stopped it.
    fn anneal(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        let Settings { samples, variance_samples, stage, .. } = *self.settings;
        let mut shards = self.shards(samples);
        let looks = self.schedule.needs_draws() || stage.is_some();
        let mut draws = looks.then(|| self.shards(variance_samples));
        let mut at = Position::start(&self.schedule);
        while at.t < 1.0 {
            let mut progress = self.train(at, &mut shards, draws.as_mut(), observer)?;
            let next = if progress.stopped {
                None
            } else {
                Some(self.choose_step(at, &mut progress, draws.as_mut())?)
            };
            let Some(next) = self.close(at, &progress, next, observer) else {
                return Ok(ControlFlow::Break(()));
            };
            at = at.after(&next);
        }
        self.outcome.flow_at_1 = Some(self.flow.clone().into_double());
        let mut shards = self.shards(self.settings.refine_samples);
        let progress = self.train(at, &mut shards, None, observer)?;
        let told = self.record(at, &progress, None, observer);
        // Whoever stops a run at its end has not cut it short.
        let cut_short = told.is_break() && self.settings.forward_kl.is_some();
        let stopped = progress.stopped || cut_short;
        Ok(if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// One update; returns how many points it kept.
    pub(super) fn update(&mut self, t: f64, rate: f64, shards: &mut Shards) -> Result<usize> {
        let number = self.outcome.trace.len() + 1;
        let (tally, sums) = shards.gradient(&Update {
            flow: &self.flow,
            density: &self.density,
            stream: &self.training,
            draw: number as u64,
            t,
            clip: if t < 1.0 { self.point_clip } else { PointClip::new(None) },
            gradient: self.settings.gradient,
        })?;
        self.point_clip.follow(&tally);
        self.flow.gradient(sums, &mut self.gradient);
        self.outcome.target_evaluations += shards.points();
        self.outcome.trace.push(UpdateRecord { update: number, t, neg_elbo: tally.mean() });
        pieces::each(&mut self.gradient, |gradient| {
            for g in gradient {
                *g /= tally.weight;
            }
        });
        // With no point kept the gradient is 0/0, and the update is skipped like any other without
        // a finite gradient: no NaN reaches a parameter.
        let clip = if t < 1.0 { self.settings.clip } else { self.settings.refine_clip };
        if clip_by_norm(&mut self.gradient, clip.unwrap_or(f64::INFINITY)).is_finite() {
            self.skipped_in_a_row = 0;
            let (optimizer, gradient) = (&mut self.optimizer, &self.gradient);
            self.flow.update(|parameters| optimizer.update(parameters, gradient, rate));
        } else {
            self.outcome.skipped_updates += 1;
            self.skipped_in_a_row += 1;
        }
        if self.skipped_in_a_row == MOST_SKIPPED_IN_A_ROW {
            let reason = format!(
                "the gradient was not finite {MOST_SKIPPED_IN_A_ROW} times in a row; lower lr, or set clip"
            );
            return Err(Error::Diverged { t, reason });
        }
        Ok(tally.kept)
    }

    /// Fresh draws of the flow.
    fn look(&mut self, shards: &mut Shards) -> Result<()> {
        shards.draw(&self.flow, &self.density, &self.variance, self.looks, &mut self.drawn)?;
        self.looks += 1;
        self.outcome.target_evaluations += shards.points();
        Ok(())
    }

    /// Fresh draws, and the share of them that counts as draws of p_t.
    pub(super) fn look_at(&mut self, t: f64, shards: &mut Shards) -> Result<f64> {
        self.look(shards)?;
        Ok(weight_ess(t, &self.drawn.a, &self.drawn.b, &self.drawn.log_q))
    }

    /// Asks the schedule for its next step, with draws of b if it wants them: those that the stage
    /// ended with, if it looked.
    fn choose_step(
        &mut self,
        at: Position,
        progress: &mut Progress,
        draws: Option<&mut Shards>,
    ) -> Result<Step> {
        if let (Some(shards), None) = (draws, progress.ess) {
            progress.ess = Some(self.look_at(at.t, shards)?);
        }
        Ok(self.schedule.next(at, &Draws { b: &self.drawn.b, weights: None })?)
    }

    /// Records a stage and tells the observer; gives the next step back if the run goes on.
    fn close(
        &mut self,
        at: Position,
        progress: &Progress,
        next: Option<Step>,
        observer: &mut dyn Observer,
    ) -> Option<Step> {
        let mut told = self.record(at, progress, next.as_ref(), observer);
        if let Some(warning) = next.as_ref().and_then(|next| next.warning) {
            self.outcome.warnings.push(warning);
            if told.is_continue() {
                told = observer.observe(&Event::Warning(warning));
            }
        }
        next.filter(|_| told.is_continue())
    }

    fn record(
        &mut self,
        at: Position,
        progress: &Progress,
        next: Option<&Step>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let record = StepRecord {
            step: at.index + 1,
            t: at.t,
            epsilon: next.map_or(0.0, |next| next.epsilon),
            std_b: next.and_then(|next| next.std_b),
            updates: progress.updates,
            lost: progress.lost(),
            ess: progress.ess,
            reason: next.map(|next| next.reason),
        };
        let told = observer.observe(&Event::Step { record: &record, flow: &self.flow });
        self.outcome.steps.push(record);
        told
    }
}
