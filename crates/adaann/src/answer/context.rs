//! The state that all rungs share: the target, the start of the search, settings, and the observer.

use super::{
    Event, Left, Method, Observer, Rung, Settings,
    forecast::{Forecast, Step},
};
use crate::{
    Error, Result,
    adaptive::Rules,
    budget::Budget,
    checkpoint::{Done, Ledger, Part},
    diagnostics::{Examination, Witness},
    error, fit,
    flow::Base,
    modes::{self, Searched},
    path::PathKind,
    smc,
    target::{Metered, Target, Unconstrained},
};
use std::ops::ControlFlow;

/// The most dimensions in which particles are worth their cost in a check.
const MOST_DIMENSIONS: usize = 60;

/// Points evaluated only to measure the cost of an evaluation.
const MEASURED: usize = 2;

/// The evaluations that a particle takes, and the least number of particles.
const EVALUATIONS_OF_PARTICLE: usize = 60;
const FEWEST_PARTICLES: usize = 32;

/// The state of the work on an answer.
pub(super) struct Context<'a> {
    /// The target, with a meter that enforces the deadline.
    meter: &'a Metered<'a>,
    pub(super) target: &'a dyn Target,
    pub(super) unconstrained: Unconstrained<'a>,
    /// The start of the search.
    pub(super) base: Base,
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a mut dyn Observer,
    /// The ledger of finished work; `None` while a part of the work holds it.
    ledger: Option<&'a mut Ledger>,
    pub(super) rungs: Vec<Rung>,
    /// The results of searches for modes, including those of checks.
    pub(super) searches: Vec<Searched>,
    /// What checks have found without the answer.
    pub(super) witnesses: Vec<Witness>,
    /// The budget of the answer, and the whole budget.
    of_answer: Budget,
    of_all: Budget,
    /// Evaluations reported by the current work.
    pub(super) told: usize,
    /// Evaluations of failed attempts, to be added to the rung that made them.
    wasted: usize,
    /// Evaluations of finished examinations.
    pub(super) checked: usize,
    /// Has the check begun?
    is_checking: bool,
    /// The evaluations before the check began.
    before_check: usize,
    /// Has it spent its budget?
    pub(super) spent: bool,
    /// Was it stopped?
    pub(super) stopped: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        meter: &'a Metered<'a>,
        settings: &'a Settings,
        observer: &'a mut dyn Observer,
        ledger: &'a mut Ledger,
    ) -> Result<Self> {
        let target: &dyn Target = meter;
        let unconstrained = Unconstrained::new(target)?;
        let base = settings.base.resolve(&unconstrained, settings.seed)?;
        let (of_answer, of_all) = (settings.budget(1.0 - settings.check), settings.budget(1.0));
        meter.set_deadline(of_all.last_moment());
        if of_all.deadline().is_some() {
            meter.measure(&base.points(settings.seed, MEASURED))?;
        }
        Ok(Self {
            meter,
            target,
            unconstrained,
            base,
            settings,
            observer,
            ledger: Some(ledger),
            rungs: Vec::new(),
            searches: Vec::new(),
            witnesses: Vec::new(),
            of_answer,
            of_all,
            told: 0,
            wasted: 0,
            checked: 0,
            is_checking: false,
            before_check: 0,
            spent: false,
            stopped: false,
        })
    }

    /// Runs work that needs the ledger.
    pub(super) fn with_ledger<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Ledger) -> Result<T>,
    ) -> Result<T> {
        let ledger = self.ledger.take().expect("nested work receives the ledger");
        let found = work(self, ledger);
        if self.stopped {
            ledger.close();
        }
        self.ledger = Some(ledger);
        found
    }

    /// A part of the work, or its recorded result. A part that was stopped resumes in a later run.
    pub(super) fn part<T: Part>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self, &mut Ledger) -> Result<T>,
    ) -> Result<T> {
        self.with_ledger(|context, ledger| {
            ledger.part(name, |ledger| {
                let found = work(context, ledger)?;
                // A failure because the run is ending is not a failure of the part.
                let is_over = context.stopped || ledger.is_asked_to_end();
                Ok(if is_over { Done::Stopped(found) } else { Done::Whole(found) })
            })
        })
    }

    /// A part that may fail and be replaced by another: the failure is recorded as its result.
    pub(super) fn attempt<T: Part>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self, &mut Ledger) -> Result<T>,
    ) -> Result<Result<T>> {
        self.told = 0;
        let (tried, evaluations) = self.part(name, |context, ledger| {
            let tried = match work(context, ledger) {
                Err(Error::OutOfTime) => return Err(Error::OutOfTime),
                tried => tried.map_err(|error| error.to_string()),
            };
            Ok((tried, context.told))
        })?;
        if tried.is_err() {
            self.wasted += evaluations;
            self.told = 0;
        }
        Ok(tried.map_err(Error::Data))
    }

    /// The evaluations of all rungs so far.
    pub(super) fn evaluations(&self) -> usize {
        self.rungs.iter().map(|rung| rung.evaluations).sum()
    }

    /// The same, including work that ran out of time without a result; with a deadline the meter has counted it.
    pub(super) fn all_evaluations(&self) -> usize {
        let metered = match self.is_checking {
            true => self.before_check,
            false => self.meter.values().get(),
        };
        let is_timed = self.of_all.deadline().is_some();
        self.evaluations().max(if is_timed { metered } else { 0 })
    }

    /// The budget that is left.
    pub(super) fn budget(&self) -> Budget {
        let whole = if self.is_checking { self.of_all } else { self.of_answer };
        whole.after(self.evaluations() + self.checked).at_pace(self.meter.time_each())
    }

    /// Does the check use particles from the base?
    pub(super) fn is_checked_by_particles(&self) -> bool {
        let is_proper = !self.target.has_prior() || self.target.has_proper_prior();
        is_proper && self.target.dim() <= MOST_DIMENSIONS
    }

    /// Begins the check, with the budget reserved for it.
    pub(super) fn begin_check(&mut self) {
        self.spent |= self.budget().is_spent(0);
        self.is_checking = true;
        self.before_check = self.meter.values().get();
    }

    /// Evaluations of the check with this result. A check that ran out of time has no result, so its count comes from
    /// the meter.
    pub(super) fn check_evaluations(&self, found: Option<&Examination>) -> usize {
        match found {
            Some(found) => found.evaluations,
            None if self.is_checking => self.meter.values().get() - self.before_check,
            None => 0,
        }
    }

    /// Is the budget spent, or has the observer stopped the run?
    pub(super) fn is_over(&mut self) -> bool {
        self.spent |= self.budget().is_spent(0);
        self.has_ended()
    }

    /// Was it stopped, or has it been found to be over?
    pub(super) fn has_ended(&self) -> bool {
        self.spent || self.stopped
    }

    /// The result of work; none if it ran out of time.
    pub(super) fn in_time<T>(&mut self, found: Result<T>) -> Result<Option<T>> {
        match found {
            Err(Error::OutOfTime) => {
                self.spent = true;
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Runs work that ends at the deadline of this budget.
    pub(super) fn within_time<T>(
        &mut self,
        budget: Budget,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let whole = self.meter.set_deadline(budget.deadline());
        let done = work(self);
        self.meter.set_deadline(whole);
        done
    }

    /// The error if time ran out before there was an answer.
    pub(super) fn refusal_of_time(&self) -> Error {
        let time = self.settings.max_time.unwrap_or(0.0);
        let each = self.meter.time_each().as_secs_f64();
        let message = format!(
            "`max-time` of {time}s ended before there was an answer: one evaluation of the density takes {} s here; \
             allow more time",
            error::short(each)
        );
        error::conflict("max-time", message)
    }

    /// Announces the next step.
    pub(super) fn begin(&mut self, step: Step, what: &str) {
        self.told = 0;
        let evaluations = self.evaluations();
        let most = self.budget().evaluations();
        let has_particles = self.is_checked_by_particles();
        let forecast = Forecast::new(&self.unconstrained, self.settings, has_particles);
        let forecast = forecast.after(&self.rungs);
        let (own, then) = forecast.of(step);
        let to_come = (own.min(most), then.min(most));
        let _ = self.see(&Event::Begins { what, evaluations, to_come });
    }

    /// Passes an event to the observer.
    pub(super) fn see(&mut self, event: &Event) -> ControlFlow<()> {
        let told = self.observer.observe(event);
        if told.is_break() {
            self.stopped = true;
            // The work that follows a stop differs from that of a resumed run, so it is not recorded.
            if let Some(ledger) = &mut self.ledger {
                ledger.close();
            }
        }
        // Evaluations of the current work; finished rungs have been counted.
        let used = match event {
            Event::Particles(stage) => stage.evaluations,
            Event::Chains(progress) => progress.evaluations,
            Event::Fit(fit::Event::Update { snapshot, .. }) => snapshot.evaluations(),
            _ => return told,
        };
        self.told = used;
        if !self.is_checking && self.budget().is_spent(used) {
            self.spent = true;
            return ControlFlow::Break(());
        }
        told
    }

    /// Records a rung that is done.
    pub(super) fn leave(
        &mut self,
        method: Method,
        evaluations: usize,
        ess_share: Option<f64>,
        left: Left,
        found: String,
    ) {
        let evaluations = evaluations + std::mem::take(&mut self.wasted);
        self.record(Rung { method, evaluations, ess_share, left, found, is_repair: false });
    }

    /// Reports and records a rung.
    pub(super) fn record(&mut self, rung: Rung) {
        let _ = self.see(&Event::Left(&rung));
        self.rungs.push(rung);
    }

    /// The rules of adaptation that follow from the settings.
    pub(super) fn rules(&self) -> Rules {
        let Settings { target_ess, most_draws, draws, at_once, .. } = *self.settings;
        let rules = Rules::new(self.target.dim());
        let rules = Rules { draws: rules.draws.max(at_once), ..rules };
        Rules { target_ess, most_draws, exactly: draws, budget: self.budget(), ..rules }
    }

    /// The settings of particles for this target: they start from the prior if it is proper, else from a wide Gaussian
    /// around the known modes, else they use powers of the density.
    pub(super) fn particles(&self, count: usize, seed: u64) -> smc::Settings {
        let count = count.min(self.budget().part(EVALUATIONS_OF_PARTICLE, FEWEST_PARTICLES));
        let count = count.max(self.settings.at_once);
        let from_prior = self.target.has_prior() && self.target.has_proper_prior();
        let frame = self.searches.last().filter(|_| !from_prior).and_then(modes::frame);
        let has_frame = frame.is_some();
        let base = frame.unwrap_or_else(|| self.settings.base.clone());
        let (path, t0) = match from_prior {
            true => (PathKind::Likelihood, 0.0),
            false if has_frame || self.target.has_prior() => (PathKind::Bridge, 0.0),
            false => (PathKind::Power, 0.01),
        };
        smc::Settings { path, base, particles: count, seed, ..smc::Settings::starting_at(t0) }
    }
}
