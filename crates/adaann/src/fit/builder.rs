//! Builds and starts a run, from its start or from a state, with the flow and schedule of the settings or
//! custom ones.

use super::{
    Event, Observer, Outcome, RoundRecord, Settings,
    run::{Followed, Run},
    state::State,
};
use crate::{
    Error, Result, error,
    flow::{Base, Flow},
    path::{Tempered, integral},
    schedule::Rule,
    target::{Target, Unconstrained},
};
use std::ops::ControlFlow;

/// Trains a flow on a target along the schedule's annealed densities.
///
/// Uses the threads of the current rayon pool, or of the global one; their number never changes the result.
///
/// # Errors
/// If a setting is out of range (checked before any work), the target fails, the schedule finds no next
/// step, or training diverges.
pub fn fit(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    Fit::new(target, settings).run(observer)
}

/// Resumes a run from a state, to the same bits as an uninterrupted run.
///
/// Target and settings must be those of the original run. An observer copies the state:
///
/// ```
/// use adaann::{Program, fit::{Event, Settings, State, fit, resume}, schedule::Work};
/// use std::ops::ControlFlow;
///
/// let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
/// let settings = Settings {
///     work: Work { warmup: 50, anneal: 2, refine: 50 },
///     refine_samples: 100,
///     ..Settings::default()
/// };
/// let whole = fit(&target, &settings, &mut ())?;
///
/// // The same run is stopped after 70 updates, and its state written down …
/// let mut saved = String::new();
/// fit(&target, &settings, &mut |event: &Event| match event {
///     Event::Update { record, snapshot, .. } if record.update == 70 => {
///         saved = serde_json::to_string(&snapshot.state()).unwrap();
///         ControlFlow::Break(())
///     }
///     _ => ControlFlow::Continue(()),
/// })?;
///
/// // … and taken up again, maybe on another day.
/// let state: State = serde_json::from_str(&saved).unwrap();
/// assert_eq!(state.updates(), 70);
/// let rest = resume(&target, &settings, state, &mut ())?;
/// assert_eq!(rest.flow.parameters(), whole.flow.parameters());
/// assert_eq!(rest.trace, whole.trace[70..]);
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// As [`fit`], and if the state is that of a run with another flow.
pub fn resume(
    target: &dyn Target,
    settings: &Settings,
    state: State,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    Fit::new(target, settings).resume(state, observer)
}

/// A fit with a custom flow or schedule.
///
/// ```
/// use adaann::{Program, fit::{Fit, Settings}, flow::{Base, Flow, FlowSpec}, schedule::*};
///
/// /// Halves the way to t = 1, four times.
/// struct Halving;
///
/// impl Rule for Halving {
///     fn first(&self) -> f64 {
///         0.2
///     }
///     fn needs_draws(&self) -> bool {
///         false
///     }
///     fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
///         let t = if at.index < 4 { 0.5 * (at.t + 1.0) } else { 1.0 };
///         let reason = Reason::Planned;
///         Ok(Step { t, epsilon: t - at.t, std_b: None, lost: 0, reason, warning: None })
///     }
///     fn check(&self, _: bool) -> adaann::Result<()> {
///         Ok(())
///     }
/// }
///
/// let target = Program::record(1, |z| -0.5 * (z[0] - 1.0).square() - 0.1 * z[0].exp());
/// let mut flow = Flow::new(&FlowSpec::planar(4), Base::standard(1).trained())?;
/// flow.initialise(0.1, 7);
/// let settings = Settings {
///     work: Work { warmup: 20, anneal: 5, refine: 100 },
///     refine_samples: 100,
///     ..Settings::default()
/// };
/// let outcome = Fit::new(&target, &settings).flow(flow).rule(&Halving).run(&mut ())?;
/// let values: Vec<f64> = outcome.steps.iter().map(|step| step.t).collect();
/// assert_eq!(values, [0.2, 0.6, 0.8, 0.9, 0.95, 1.0]);
/// # Ok::<(), adaann::Error>(())
/// ```
#[must_use = "a fit does nothing until it is run"]
pub struct Fit<'a> {
    target: &'a dyn Target,
    settings: &'a Settings,
    flow: Option<Flow>,
    rule: Option<&'a (dyn Rule + Sync)>,
}

impl<'a> Fit<'a> {
    /// A fit defined by its settings alone.
    pub fn new(target: &'a dyn Target, settings: &'a Settings) -> Self {
        Self { target, settings, flow: None, rule: None }
    }

    /// Trains this flow, from its current parameters, instead of the settings' `flow` on their `base`. A
    /// bridge starts at its base.
    pub fn flow(self, flow: Flow) -> Self {
        Self { flow: Some(flow), ..self }
    }

    /// Uses this rule instead of the settings' `schedule`.
    pub fn rule(self, rule: &'a (dyn Rule + Sync)) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// Runs it from the start: see [`fit`].
    ///
    /// # Errors
    /// As [`fit`], and if the flow does not fit the target or the rule refuses the path.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Outcome> {
        self.check()?;
        // All work runs inside the pool: there a fork costs a microsecond, from outside it costs seven.
        rayon::scope(|_| self.run_from_start(observer))
    }

    /// Resumes from a state: see [`resume`]. A custom flow or rule must be given again; the flow's
    /// parameters are taken from the state.
    ///
    /// # Errors
    /// As [`Fit::run`], and if the state is that of a run with another flow.
    pub fn resume(self, state: State, observer: &mut dyn Observer) -> Result<Outcome> {
        self.check()?;
        rayon::scope(|_| self.run_from_state(state, observer))
    }

    fn check(&self) -> Result<()> {
        let Settings { path, work, auto_t0, samples, refine_samples, .. } = self.settings;
        self.settings.check(self.target)?;
        if let Some(flow) = &self.flow {
            self.check_dim(flow.dim())?;
            let components = flow.base().components();
            for (name, count) in [("samples", *samples), ("refine-samples", *refine_samples)] {
                if count < components {
                    let range =
                        format!("at least {components}, a point for each component of the base");
                    return Err(error::setting(name, count, range));
                }
            }
        }
        if let Some(rule) = self.rule {
            if *auto_t0 {
                let range = "a number where a rule is given, which says itself where it starts";
                return Err(error::setting("t0", "auto", range));
            }
            rule.check(path.allows_zero())?;
            if work.anneal == 0 && rule.first() < 1.0 {
                let range = "at least 1, since the flow has to follow the density";
                return Err(error::setting("updates", 0, range));
            }
        }
        Ok(())
    }

    /// Refuses a flow or a state whose dimension differs from the target's.
    fn check_dim(&self, found: usize) -> Result<()> {
        match self.target.dim() {
            dim if dim == found => Ok(()),
            dim => Err(error::shape("the dimensions of the flow", found, dim)),
        }
    }

    fn run_from_start(self, observer: &mut dyn Observer) -> Result<Outcome> {
        let (density, first) = (self.density(Base::standard(self.target.dim()))?, self.first());
        let mut run = self.start()?;
        let base = run.flow.base().clone();
        // At t = 0 only flat priors can make the integral infinite. At larger t the data may make it
        // finite, and a flow that stays at its modes is not affected.
        if first == 0.0
            && integral::has_flat_prior(&density)
            && let Some(refusal) = integral::without(&density, &base, first)?
        {
            return Err(refusal);
        }
        let outcome = run.find_first().and_then(|()| go_on(run, observer));
        explained(outcome, &density, &base, first)
    }

    /// The first value of t.
    fn first(&self) -> f64 {
        self.rule.map_or_else(|| self.settings.schedule.first(), |rule| rule.first())
    }

    fn run_from_state(self, state: State, observer: &mut dyn Observer) -> Result<Outcome> {
        self.check_dim(state.base().dim())?;
        let (plain, first) = (self.density(Base::standard(self.target.dim()))?, self.first());
        let base = state.base().clone();
        let density = self.density(base.clone())?;
        let followed = self.followed();
        let mut flow = match self.flow {
            Some(flow) => flow,
            None => Flow::new(&self.settings.flow, state.base().clone())?,
        };
        let carried = state.restore(&mut flow)?;
        let run = Run::from_carried(self.settings, followed, density, flow, carried);
        explained(go_on(run, observer), &plain, &base, first)
    }

    /// A run before its first update.
    fn start(self) -> Result<Run<'a>> {
        let Settings { base, seed, initial_scale, .. } = self.settings;
        let followed = self.followed();
        let (density, flow) = match &self.flow {
            Some(flow) => (self.density(flow.base().clone())?, flow.clone()),
            None => {
                let base = base.resolve(&Unconstrained::new(self.target)?, *seed)?;
                let mut flow = Flow::new(&self.settings.flow, base.clone())?;
                flow.initialise(*initial_scale, *seed);
                (self.density(base)?, flow)
            }
        };
        Ok(Run::new(self.settings, followed, density, flow))
    }

    fn density(&self, reference: Base) -> Result<Tempered<'a>> {
        let target = Unconstrained::new(self.target)?;
        let path = self.settings.path;
        let reference = path.needs_reference().then_some(reference);
        Ok(Tempered { target, path, reference })
    }

    fn followed(&self) -> Followed<'a> {
        match self.rule {
            Some(rule) => Followed::Given(rule),
            None => Followed::Own(self.settings.schedule.clone()),
        }
    }
}

/// The result of a run. If the density has no integral, that is reported as the cause of a failure.
fn explained(
    outcome: Result<Outcome>,
    density: &Tempered,
    base: &Base,
    first: f64,
) -> Result<Outcome> {
    if outcome.as_ref().is_ok_and(|outcome| outcome.failure.is_none()) {
        return outcome;
    }
    let Some(refusal) = integral::without(density, base, first).ok().flatten() else {
        return outcome;
    };
    let Ok(mut outcome) = outcome else { return Err(refusal) };
    if let Some(failure) = &mut outcome.failure {
        failure.reason = refusal.to_string();
    }
    Ok(outcome)
}

/// Runs the rest of a run.
fn go_on(mut run: Run, observer: &mut dyn Observer) -> Result<Outcome> {
    let total_updates = run.total_updates();
    if observer.observe(&Event::Start { total_updates }).is_break() {
        let rounds = run.put_down(observer)?;
        return Ok(Outcome { rounds, ..run.into_outcome(true)? });
    }
    match to_the_end(&mut run, observer) {
        Ok((told, rounds)) => Ok(Outcome { rounds, ..run.into_outcome(told.is_break())? }),
        // The deadline has passed: the flow is that of the last update.
        Err(Error::OutOfTime) => {
            let rounds = run.put_down(observer)?;
            Ok(Outcome { rounds, ..run.into_outcome(true)? })
        }
        Err(error) => run.fall_back(error),
    }
}

/// Algorithm 1 and the refinement. `Break` means that the observer stopped them.
fn to_the_end(
    run: &mut Run,
    observer: &mut dyn Observer,
) -> Result<(ControlFlow<()>, Vec<RoundRecord>)> {
    let told = run.anneal(observer)?;
    match &run.settings.forward_kl {
        Some(forward_kl) if told.is_continue() => run.forward_kl(forward_kl, observer),
        _ => Ok((told, Vec::new())),
    }
}
