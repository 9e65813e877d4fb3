//! What all rungs share: the target, where the search starts, settings, and who watches.

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

/// Dimensions up to which particles are worth their cost in a check.
const MOST_DIMENSIONS: usize = 60;

/// Points that are evaluated only to see what one takes.
const MEASURED: usize = 2;

/// Evaluations that a particle takes on its way, and the particles that are sent whatever is left.
const EVALUATIONS_OF_PARTICLE: usize = 60;
const FEWEST_PARTICLES: usize = 32;

/// The work of an answer.
pub(super) struct Context<'a> {
    /// The target, with a meter that knows when the time is over.
    meter: &'a Metered<'a>,
    pub(super) target: &'a dyn Target,
    pub(super) unconstrained: Unconstrained<'a>,
    /// Where the search starts.
    pub(super) base: Base,
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a mut dyn Observer,
    /// What was finished before; a part under way has it.
    ledger: Option<&'a mut Ledger>,
    pub(super) rungs: Vec<Rung>,
    /// What searches for modes have found, those of checks included.
    pub(super) searches: Vec<Searched>,
    /// What checks have found without the answer.
    pub(super) witnesses: Vec<Witness>,
    /// What the answer may spend, and what all of it may.
    of_answer: Budget,
    of_all: Budget,
    /// Evaluations that the work under way has told of.
    pub(super) told: usize,
    /// Evaluations of attempts that came to nothing, for the account of the rung that made them.
    wasted: usize,
    /// Evaluations of examinations that have come to an end.
    pub(super) checked: usize,
    /// Has the check begun?
    is_checking: bool,
    /// What was asked of the target when it began.
    before_check: usize,
    /// Has it spent what it may?
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

    /// Work that needs the list of what was finished before.
    pub(super) fn with_ledger<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Ledger) -> Result<T>,
    ) -> Result<T> {
        let ledger = self.ledger.take().expect("one that has it passes it on");
        let found = work(self, ledger);
        if self.stopped {
            ledger.close();
        }
        self.ledger = Some(ledger);
        found
    }

    /// A part of the work, unless it is known what it came to. What was stopped goes on another time.
    pub(super) fn part<T: Part>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self, &mut Ledger) -> Result<T>,
    ) -> Result<T> {
        self.with_ledger(|context, ledger| {
            ledger.part(name, |ledger| {
                let found = work(context, ledger)?;
                // What fails because it is to end has not failed.
                let is_over = context.stopped || ledger.is_asked_to_end();
                Ok(if is_over { Done::Stopped(found) } else { Done::Whole(found) })
            })
        })
    }

    /// A part that may fail, with another to follow: that it did is what it came to.
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
        }
        Ok(tried.map_err(Error::Data))
    }

    /// Points evaluated by all rungs so far.
    pub(super) fn evaluations(&self) -> usize {
        self.rungs.iter().map(|rung| rung.evaluations).sum()
    }

    /// The same with what work took that came to nothing for want of time. Then the meter has counted all of it.
    pub(super) fn all_evaluations(&self) -> usize {
        let metered = match self.is_checking {
            true => self.before_check,
            false => self.meter.values().get(),
        };
        let is_timed = self.of_all.deadline().is_some();
        self.evaluations().max(if is_timed { metered } else { 0 })
    }

    /// What may be spent from now on.
    pub(super) fn budget(&self) -> Budget {
        let whole = if self.is_checking { self.of_all } else { self.of_answer };
        whole.after(self.evaluations() + self.checked).at_pace(self.meter.time_each())
    }

    /// Are particles sent from the base to check an answer?
    pub(super) fn is_checked_by_particles(&self) -> bool {
        let is_proper = !self.target.has_prior() || self.target.has_proper_prior();
        is_proper && self.target.dim() <= MOST_DIMENSIONS
    }

    /// The check begins, with what was kept for it.
    pub(super) fn begin_check(&mut self) {
        self.spent |= self.budget().is_spent(0);
        self.is_checking = true;
        self.before_check = self.meter.values().get();
    }

    /// Evaluations of a check that found this. One that came to no end says nothing of them, but its time was over: the
    /// meter has counted all of it.
    pub(super) fn check_evaluations(&self, found: Option<&Examination>) -> usize {
        match found {
            Some(found) => found.evaluations,
            None if self.is_checking => self.meter.values().get() - self.before_check,
            None => 0,
        }
    }

    /// Is there nothing left, or does nobody want more?
    pub(super) fn is_over(&mut self) -> bool {
        self.spent |= self.budget().is_spent(0);
        self.spent || self.stopped
    }

    /// What work came to; nothing if the time was over before its end.
    pub(super) fn in_time<T>(&mut self, found: Result<T>) -> Result<Option<T>> {
        match found {
            Err(Error::OutOfTime) => {
                self.spent = true;
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Does work that ends when the time of this budget is over.
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

    /// What to say where the time was over before there was an answer.
    pub(super) fn refusal_of_time(&self) -> Error {
        let time = self.settings.max_time.unwrap_or(0.0);
        let each = self.meter.time_each().as_secs_f64();
        let message = format!(
            "`max-time` of {time}s was over before there was an answer: a value of the density takes {} s here; give \
             it more time",
            error::short(each)
        );
        error::conflict("max-time", message)
    }

    /// Says what is done now.
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

    /// Shows an event to who watches.
    pub(super) fn see(&mut self, event: &Event) -> ControlFlow<()> {
        let told = self.observer.observe(event);
        if told.is_break() {
            self.stopped = true;
            // What follows is not what a run that goes on would do.
            if let Some(ledger) = &mut self.ledger {
                ledger.close();
            }
        }
        // Evaluations of the work under way; the rungs that were left have theirs.
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

    /// A rung is left.
    pub(super) fn leave(
        &mut self,
        method: Method,
        evaluations: usize,
        ess_share: Option<f64>,
        left: Left,
        found: String,
    ) {
        let evaluations = evaluations + std::mem::take(&mut self.wasted);
        let rung = Rung { method, evaluations, ess_share, left, found };
        let _ = self.see(&Event::Left(&rung));
        self.rungs.push(rung);
    }

    /// The rules of adapting that the settings ask for.
    pub(super) fn rules(&self) -> Rules {
        let Settings { target_ess, most_draws, draws, at_once, .. } = *self.settings;
        let rules = Rules::new(self.target.dim());
        let rules = Rules { draws: rules.draws.max(at_once), ..rules };
        Rules { target_ess, most_draws, exactly: draws, budget: self.budget(), ..rules }
    }

    /// How particles travel to this target: from the prior where there is a proper one, else from a wide Gaussian
    /// around the modes that are known, else by powers of the density.
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
