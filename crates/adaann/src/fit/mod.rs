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

mod forward_kl;
mod gradient;
mod lessons;
mod multiple_importance;
mod observer;
pub mod overlay;
mod pilot;
mod restarts;
mod run;
mod settings;
mod shard;
mod stage;

pub use forward_kl::{Divergence, ForwardKl, RoundRecord};
pub use gradient::Gradient;
pub use observer::{Event, Observer, StepRecord, UpdateRecord};
pub use overlay::Overlay;
pub use pilot::{Pilot, PilotRecord};
pub use restarts::{Restart, Restarts, restarts};
pub use settings::Settings;
pub use stage::Stage;

use crate::{
    Result,
    approximation::Approximation,
    flow::Flow,
    path::Tempered,
    schedule::Warning,
    target::{Target, Unconstrained},
};
use run::Run;
use std::ops::ControlFlow;

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
    /// The rounds of the mass-covering stage, if there was one: what each began with, and what the
    /// last one ended with.
    pub rounds: Vec<RoundRecord>,
    /// What particles that went ahead have found, if any did.
    pub pilot: Option<PilotRecord>,
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
    let pilot = match settings.pilot {
        None => None,
        Some(pilot) => match pilot.explore(target, settings, observer)? {
            Some(pilot) if pilot.record.is_kept => return Ok(pilot.into_outcome()),
            Some(pilot) => Some(pilot),
            None => return stopped_before_training(target, settings),
        },
    };
    let mut run = start(target, settings)?;
    run.find_first()?;
    let total_updates = run.total_updates();
    let watched = match observer.observe(&Event::Start { total_updates }) {
        ControlFlow::Continue(()) => run.all(observer)?,
        stop => stop,
    };
    let outcome = run.into_outcome(watched.is_break());
    pilot.map_or(Ok(outcome.clone()), |pilot| pilot.or_better(outcome))
}

/// A run that has done nothing yet.
fn start<'a>(target: &'a dyn Target, settings: &'a Settings) -> Result<Run<'a>> {
    let target = Unconstrained::new(target)?;
    let base = settings.base.resolve(&target, settings.seed)?;
    let mut flow = Flow::new(&settings.flow, base.clone())?;
    flow.initialise(settings.initial_scale, settings.seed);
    let density = Tempered { target, path: settings.path, reference: base };
    Ok(Run::new(settings, density, flow))
}

/// The outcome of a run whose particles were stopped: the flow as it starts.
fn stopped_before_training(target: &dyn Target, settings: &Settings) -> Result<Outcome> {
    Ok(start(target, settings)?.into_outcome(true))
}
