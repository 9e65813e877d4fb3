//! A running fit: its state, its working memory, and its records.

use super::{
    Event, Observer, Outcome, Settings, StepRecord, UpdateRecord,
    state::{Carried, Snapshot},
};
use crate::{
    Error, Result,
    flow::Flow,
    path::Tempered,
    rng::{Purpose, Stream},
    schedule::{Position, Rule, Schedule, Step, Warning, gentlest_t, weight_ess},
    train::{DrawShards, Drawn, MOST_SKIPPED_IN_A_ROW, PointClip, State as Training, Trainer},
};
use std::ops::ControlFlow;

/// The rule that a run follows.
pub(super) enum Followed<'a> {
    /// The settings' own rule, with t_0 found.
    Own(Schedule),
    Given(&'a (dyn Rule + Sync)),
}

impl Followed<'_> {
    pub(super) fn rule(&self) -> &dyn Rule {
        match self {
            Self::Own(schedule) => schedule,
            Self::Given(rule) => *rule,
        }
    }

    fn set_first(&mut self, first: f64) {
        if let Self::Own(schedule) = self {
            schedule.set_first(first);
        }
    }
}

/// A running fit.
pub(super) struct Run<'a> {
    pub(super) settings: &'a Settings,
    pub(super) followed: Followed<'a>,
    pub(super) density: Tempered<'a>,
    pub(super) flow: Flow,
    pub(super) carried: Carried,
    pub(super) trainer: Trainer,
    pub(super) training_draws: Stream,
    evaluation_draws: Stream,
    /// The draws for the schedule.
    pub(super) drawn: Drawn,
    steps: Vec<StepRecord>,
    pub(super) trace: Vec<UpdateRecord>,
    warnings: Vec<Warning>,
}

impl<'a> Run<'a> {
    /// A run before its first update.
    pub(super) fn new(
        settings: &'a Settings,
        followed: Followed<'a>,
        density: Tempered<'a>,
        flow: Flow,
    ) -> Self {
        let at = Position::start(followed.rule());
        let training = Training::new(settings.optimizer, &flow);
        let clip = PointClip::new(settings.point_clip);
        let carried = Carried::new(flow.base().clone(), at, training, clip);
        Self::from_carried(settings, followed, density, flow, carried)
    }

    /// A run resumed from a state.
    pub(super) fn from_carried(
        settings: &'a Settings,
        mut followed: Followed<'a>,
        density: Tempered<'a>,
        flow: Flow,
        carried: Carried,
    ) -> Self {
        if let Some(first) = carried.first {
            followed.set_first(first);
        }
        Self {
            settings,
            followed,
            density,
            trainer: Trainer::new(&flow),
            training_draws: Stream::new(settings.seed, Purpose::Training),
            evaluation_draws: Stream::new(settings.seed, Purpose::Evaluation),
            drawn: Drawn::default(),
            steps: Vec::new(),
            trace: Vec::new(),
            warnings: Vec::new(),
            carried,
            flow,
        }
    }

    /// The outcome of the run.
    pub(super) fn into_outcome(self, stopped: bool) -> Result<Outcome> {
        let last = self.carried.refined(&self.flow);
        let flow = self.flow.into_double();
        let flow_at_1 = match &self.carried.at_1 {
            None => None,
            Some(parameters) => {
                let mut flow = flow.clone();
                flow.set_parameters(parameters)?;
                Some(flow)
            }
        };
        Ok(Outcome {
            flow,
            flow_at_1,
            steps: self.steps,
            trace: self.trace,
            target_evaluations: self.carried.target_evaluations,
            skipped_updates: self.carried.skipped_updates(),
            rounds: Vec::new(),
            warnings: self.warnings,
            stopped,
            last,
            failure: None,
        })
    }

    pub(super) fn shards(&self, points: usize) -> DrawShards {
        DrawShards::new(&self.flow, points, self.density.target.target().wants_whole_batch())
    }

    /// Finds t_0 from draws of the initial flow, if requested.
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
        self.followed.set_first(first);
        self.carried.first = Some(first);
        self.carried.at = Position::start(self.followed.rule());
        Ok(())
    }

    /// The number of updates of the whole run, if it is known beforehand.
    pub(super) fn total_updates(&self) -> Option<usize> {
        let Settings { work, stage, forward_kl, .. } = self.settings;
        let refining = forward_kl.map_or(0, |forward_kl| forward_kl.total_updates());
        // A stage that is trained until it fits has no fixed number of updates.
        let count = self.followed.rule().count().filter(|count| stage.is_none() || *count == 1);
        count.map(|count| work.total_updates(count).saturating_add(refining))
    }

    /// Takes fresh draws of the flow.
    fn look(&mut self, shards: &mut DrawShards) -> Result<()> {
        let Self { flow, density, evaluation_draws, carried, drawn, .. } = self;
        shards.draw(flow, density, evaluation_draws, carried.looks, drawn)?;
        carried.looks += 1;
        carried.target_evaluations += shards.points();
        Ok(())
    }

    /// Takes fresh draws, and returns their effective share as draws of p_t.
    pub(super) fn look_at(&mut self, t: f64, shards: &mut DrawShards) -> Result<f64> {
        self.look(shards)?;
        Ok(weight_ess(t, &self.drawn.a, &self.drawn.b, &self.drawn.log_q))
    }

    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { flow: &self.flow, carried: &self.carried }
    }

    /// Records the last update and calls the observer.
    pub(super) fn tell_update(
        &mut self,
        neg_elbo: f64,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let Carried { at, .. } = self.carried;
        let record = UpdateRecord { update: self.carried.updates(), t: at.t, neg_elbo };
        self.trace.push(record);
        let (phase, snapshot) = (self.carried.phase(), self.snapshot());
        observer.observe(&Event::Update { record: &record, phase, snapshot })
    }

    /// Records a step's warning and calls the observer.
    pub(super) fn tell_warning(
        &mut self,
        next: &Step,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        match next.warning {
            None => ControlFlow::Continue(()),
            Some(warning) => {
                self.warnings.push(warning);
                observer.observe(&Event::Warning(warning))
            }
        }
    }

    /// Records the end of training at a value of t, without calling the observer.
    pub(super) fn record(&mut self, record: StepRecord) {
        self.steps.push(record);
    }

    /// Records the end of training at a value of t and calls the observer.
    pub(super) fn tell_step(
        &mut self,
        record: StepRecord,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let (flow, snapshot) = (&self.flow, self.snapshot());
        let told = observer.observe(&Event::Step { record: &record, flow, snapshot });
        self.steps.push(record);
        told
    }
}

/// Refuses to continue a diverged training.
pub(super) fn check_way(training: &Training, t: f64, remedy: impl Fn() -> String) -> Result<()> {
    if !training.has_lost_its_way() {
        return Ok(());
    }
    let reason =
        format!("the gradient was not finite {MOST_SKIPPED_IN_A_ROW} times in a row; {}", remedy());
    Err(Error::Diverged { t, reason })
}
