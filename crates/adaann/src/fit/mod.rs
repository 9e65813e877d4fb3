//! Algorithm 1: a flow follows a density from t_0 to 1, by steps that the schedule chooses.
//!
//! ```
//! use adaann::{Program, fit::{Settings, fit}, schedule::Work};
//!
//! // log p, up to a constant: two modes, at -2 ± √3.
//! let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
//! let settings = Settings {
//!     work: Work { warmup: 100, anneal: 2, refine: 100 },
//!     refine_samples: 100,
//!     ..Settings::default()
//! };
//! let outcome = fit(&target, &settings, &mut ())?;
//! let draws = outcome.approximation(&target)?.sample(1000, 7)?;
//! assert_eq!(draws.points.len(), 1000);
//! # Ok::<(), adaann::Error>(())
//! ```

mod annealed;
mod approximation;
mod observer;
mod restarts;
mod settings;
mod shard;

pub use approximation::{Approximation, Sample};
pub use observer::{Event, Observer, StepRecord, UpdateRecord};
pub use restarts::{Restart, Restarts, restarts};
pub use settings::{BaseSpec, Settings, Start};

use crate::{
    Error, Result,
    flow::Flow,
    optim::{self, clip_by_norm},
    pieces,
    rng::{Purpose, Stream},
    schedule::{Draws, Phase, Position, Rule, Step, Warning},
    target::{Target, Unconstrained},
};
use annealed::Annealed;
use shard::{PointClip, Shards};
use std::ops::ControlFlow;

/// Updates in a row that may be skipped because their gradient was not finite; then the run has
/// lost its way.
const MOST_SKIPPED_IN_A_ROW: usize = 100;

/// What a run has done.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The flow at the end.
    pub flow: Flow,
    /// The flow on arrival at t = 1, before it was trained there; absent if the run was stopped
    /// before.
    pub flow_at_1: Option<Flow>,
    /// Every value of t.
    pub steps: Vec<StepRecord>,
    /// Every update.
    pub trace: Vec<UpdateRecord>,
    /// Points at which the target was evaluated, those of the schedule's draws included.
    pub target_evaluations: usize,
    /// Updates left out because their gradient was not finite.
    pub skipped_updates: usize,
    /// What the schedule warned of.
    pub warnings: Vec<Warning>,
    /// Did the observer stop the run before its end?
    pub stopped: bool,
}

impl Outcome {
    /// The approximation that the run has found.
    ///
    /// # Errors
    /// If the target's supports are no supports.
    pub fn approximation<'a>(&self, target: &'a dyn Target) -> Result<Approximation<'a>> {
        Approximation::new(target, self.flow.clone())
    }
}

/// Trains a flow on a target by the schedule's annealed densities.
///
/// Runs on the threads of the rayon pool it is called in, or of the global one; their number never
/// changes the result.
///
/// # Errors
/// If a setting is out of range (before anything is done), the target fails, the schedule finds no
/// next step, or training diverges.
pub fn fit(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    settings.check(target)?;
    // All of it inside the pool: there a fork costs a microsecond, from outside it costs seven.
    rayon::scope(|_| run(target, settings, observer))
}

fn run(target: &dyn Target, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome> {
    let target = Unconstrained::new(target)?;
    let base = settings.base.resolve(&target, settings.seed)?;
    let mut flow = Flow::new(&settings.flow, base.clone())?;
    flow.initialise(settings.initial_scale, settings.seed);
    let density = Annealed { target, path: settings.path, reference: base };
    let mut run = Run::new(settings, density, flow);
    let total_updates = settings.schedule.count().map(|count| settings.work.total_updates(count));
    let watched = match observer.observe(&Event::Start { total_updates }) {
        ControlFlow::Continue(()) => run.anneal(observer)?,
        stop => stop,
    };
    run.outcome.stopped = watched.is_break();
    run.outcome.flow = run.flow.into_double();
    Ok(run.outcome)
}

/// A run under way.
struct Run<'a> {
    settings: &'a Settings,
    density: Annealed<'a>,
    flow: Flow,
    optimizer: optim::State,
    gradient: Vec<f64>,
    training: Stream,
    variance: Stream,
    b: Vec<f64>,
    point_clip: PointClip,
    skipped_in_a_row: usize,
    outcome: Outcome,
}

impl<'a> Run<'a> {
    fn new(settings: &'a Settings, density: Annealed<'a>, flow: Flow) -> Self {
        let outcome = Outcome {
            flow: flow.clone(),
            flow_at_1: None,
            steps: Vec::new(),
            trace: Vec::new(),
            target_evaluations: 0,
            skipped_updates: 0,
            warnings: Vec::new(),
            stopped: false,
        };
        Self {
            settings,
            density,
            optimizer: optim::State::new(settings.optimizer, flow.parameters().len()),
            gradient: vec![0.0; flow.parameters().len()],
            training: Stream::new(settings.seed, Purpose::Training),
            variance: Stream::new(settings.seed, Purpose::Evaluation),
            b: Vec::with_capacity(settings.variance_samples),
            point_clip: PointClip::new(settings.point_clip),
            skipped_in_a_row: 0,
            flow,
            outcome,
        }
    }

    fn shards(&self, points: usize) -> Shards {
        Shards::new(&self.flow, points, self.density.target.target().wants_whole_batch())
    }

    /// The loop of Algorithm 1. `Break` says that the observer stopped it.
    fn anneal(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        let schedule = &self.settings.schedule;
        let mut shards = self.shards(self.settings.samples);
        let mut draws = schedule.needs_draws().then(|| self.shards(self.settings.variance_samples));
        let mut at = Position::start(schedule);
        while at.t < 1.0 {
            let stage = self.train(at, &mut shards, observer)?;
            let next =
                if stage.stopped { None } else { Some(self.choose_step(at, draws.as_mut())?) };
            let Some(next) = self.close(at, &stage, next, observer) else {
                return Ok(ControlFlow::Break(()));
            };
            at = at.after(&next);
        }
        self.outcome.flow_at_1 = Some(self.flow.clone().into_double());
        let mut shards = self.shards(self.settings.refine_samples);
        let stage = self.train(at, &mut shards, observer)?;
        self.close(at, &stage, None, observer);
        Ok(if stage.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The updates at one value of t.
    fn train(
        &mut self,
        at: Position,
        shards: &mut Shards,
        observer: &mut dyn Observer,
    ) -> Result<Stage> {
        let phase = Phase::at(at);
        let mut stage = Stage::default();
        self.outcome.trace.reserve(self.settings.work.updates(phase));
        while stage.updates < self.settings.work.updates(phase) && !stage.stopped {
            let Settings { lr, refine_lr, lr_rule, refine_lr_rule, .. } = self.settings;
            let rate = match phase {
                Phase::Refine => refine_lr.unwrap_or(*lr) * refine_lr_rule.factor(stage.updates),
                _ => lr * lr_rule.factor(self.outcome.trace.len()),
            };
            stage.kept += self.update(at.t, rate, shards)?;
            stage.seen += shards.points();
            stage.updates += 1;
            let record = self.outcome.trace.last().expect("an update was just recorded");
            stage.stopped = observer.observe(&Event::Update { record, phase }).is_break();
        }
        if stage.lost() > 0.5 && !stage.stopped {
            let reason = format!(
                "{:.0} per cent of the points have a log density of -inf or NaN; start from a base \
                 (base-mean, base-sd) that lies inside the support or, for a dynamical system, where \
                 trajectories do not explode; give the coordinates bounds or a narrower prior, and \
                 logarithms of what may reach 0 a floor, like log(max(x, 1e-9))",
                100.0 * stage.lost()
            );
            return Err(Error::Diverged { t: at.t, reason });
        }
        Ok(stage)
    }

    /// One update; returns how many points it kept.
    fn update(&mut self, t: f64, rate: f64, shards: &mut Shards) -> Result<usize> {
        let number = self.outcome.trace.len() + 1;
        let (tally, sums) = shards.gradient(
            &self.flow,
            &self.density,
            &self.training,
            number as u64,
            t,
            if t < 1.0 { self.point_clip } else { PointClip::new(None) },
        )?;
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

    /// Asks the schedule for its next step, with draws of b if it wants them.
    fn choose_step(&mut self, at: Position, draws: Option<&mut Shards>) -> Result<Step> {
        if let Some(shards) = draws {
            let draw = at.index as u64;
            shards.draw_b(&self.flow, &self.density, &self.variance, draw, &mut self.b)?;
            self.outcome.target_evaluations += shards.points();
        }
        Ok(self.settings.schedule.next(at, &Draws { b: &self.b, weights: None })?)
    }

    /// Records a stage and tells the observer; gives the next step back if the run goes on.
    fn close(
        &mut self,
        at: Position,
        stage: &Stage,
        next: Option<Step>,
        observer: &mut dyn Observer,
    ) -> Option<Step> {
        let record = StepRecord {
            step: at.index + 1,
            t: at.t,
            epsilon: next.as_ref().map_or(0.0, |next| next.epsilon),
            std_b: next.as_ref().and_then(|next| next.std_b),
            updates: stage.updates,
            lost: stage.lost(),
            reason: next.as_ref().map(|next| next.reason),
        };
        let mut told = observer.observe(&Event::Step { record: &record, flow: &self.flow });
        self.outcome.steps.push(record);
        if let Some(warning) = next.as_ref().and_then(|next| next.warning) {
            self.outcome.warnings.push(warning);
            if told.is_continue() {
                told = observer.observe(&Event::Warning(warning));
            }
        }
        next.filter(|_| told.is_continue())
    }
}

/// What happened at one value of t.
#[derive(Debug, Default)]
struct Stage {
    updates: usize,
    seen: usize,
    kept: usize,
    stopped: bool,
}

impl Stage {
    /// Share of the points with no finite density or gradient.
    fn lost(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { 1.0 - self.kept as f64 / self.seen as f64 }
    }
}
