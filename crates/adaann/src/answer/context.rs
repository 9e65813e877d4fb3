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
    diagnostics::Witness,
    fit,
    flow::Base,
    modes::{self, Searched},
    path::PathKind,
    smc,
    target::{Target, Unconstrained},
};
use std::ops::ControlFlow;

/// Dimensions up to which particles are worth their cost in a check.
const MOST_DIMENSIONS: usize = 60;

/// The work of an answer.
pub(super) struct Context<'a> {
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
    /// Has the check begun?
    is_checking: bool,
    /// Has it spent what it may?
    pub(super) spent: bool,
    /// Was it stopped?
    pub(super) stopped: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        target: &'a dyn Target,
        settings: &'a Settings,
        observer: &'a mut dyn Observer,
        ledger: &'a mut Ledger,
    ) -> Result<Self> {
        let unconstrained = Unconstrained::new(target)?;
        let base = settings.base.resolve(&unconstrained, settings.seed)?;
        Ok(Self {
            target,
            unconstrained,
            base,
            settings,
            observer,
            ledger: Some(ledger),
            rungs: Vec::new(),
            searches: Vec::new(),
            witnesses: Vec::new(),
            of_answer: settings.budget(1.0 - settings.check),
            of_all: settings.budget(1.0),
            is_checking: false,
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
        let tried = self.part(name, |context, ledger| {
            Ok(work(context, ledger).map_err(|error| error.to_string()))
        })?;
        Ok(tried.map_err(Error::Data))
    }

    /// Points evaluated by all rungs so far.
    pub(super) fn evaluations(&self) -> usize {
        self.rungs.iter().map(|rung| rung.evaluations).sum()
    }

    /// What may be spent from now on.
    pub(super) fn budget(&self) -> Budget {
        let whole = if self.is_checking { self.of_all } else { self.of_answer };
        whole.after(self.evaluations())
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
    }

    /// Is there nothing left, or does nobody want more?
    pub(super) fn is_over(&mut self) -> bool {
        self.spent |= self.budget().is_spent(0);
        self.spent || self.stopped
    }

    /// Says what is done now.
    pub(super) fn begin(&mut self, step: Step, what: &str) {
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
