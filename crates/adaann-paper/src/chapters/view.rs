//! The data for the chapters: runs by name, and quantities over their trials.

use crate::Result;
use crate::{
    campaign::{Plan, Results},
    experiments::{Example, Point, Run},
    kept::Kept,
    published::{Published, published},
    stats::{median, quantile},
    trial::{CAPTURED, Measured, Trial},
};

/// Results, settings and published numbers side by side.
pub(super) struct View<'a> {
    examples: &'a [Example],
    plan: &'a Plan,
    results: &'a Results,
    pub(super) published: Published,
}

impl<'a> View<'a> {
    pub(super) fn new(examples: &'a [Example], plan: &'a Plan, results: &'a Results) -> Self {
        Self { examples, plan, results, published: published() }
    }

    /// The selected runs of a case.
    pub(super) fn case(&self, example: &str, case: &str) -> Vec<&'a Run> {
        let of_case = |run: &&Run| run.id.starts_with(example) && run.case == case;
        self.plan.runs(self.examples).filter(of_case).collect()
    }

    /// A selected run.
    pub(super) fn run(&self, id: &str) -> Option<&'a Run> {
        self.plan.runs(self.examples).find(|run| run.id == id)
    }

    /// All selected runs.
    pub(super) fn runs(&self) -> Vec<&'a Run> {
        self.plan.runs(self.examples).collect()
    }

    /// The selected examples.
    pub(super) fn examples(&self) -> impl Iterator<Item = &'a Example> {
        self.examples.iter().filter(|example| self.plan.examples.contains(&example.id))
    }

    /// The trials of a run at one of its points.
    pub(super) fn trials(&self, run: &Run, point: &Point) -> Vec<&'a Trial> {
        self.results.at(run, point.value)
    }

    /// The measurements of the trials that did not fail.
    pub(super) fn measured(&self, run: &Run, point: &Point) -> Vec<&'a Measured> {
        self.trials(run, point)
            .into_iter()
            .filter_map(|trial| trial.outcome.as_ref().ok())
            .collect()
    }

    /// A quantity over those trials.
    pub(super) fn values(
        &self,
        run: &Run,
        point: &Point,
        of: impl Fn(&Measured) -> f64,
    ) -> Vec<f64> {
        self.measured(run, point).into_iter().map(of).filter(|x| x.is_finite()).collect()
    }

    /// Its median.
    pub(super) fn median(&self, run: &Run, point: &Point, of: impl Fn(&Measured) -> f64) -> f64 {
        median(&self.values(run, point, of))
    }

    /// 5th percentile, median and 95th percentile.
    pub(super) fn spread(
        &self,
        run: &Run,
        point: &Point,
        of: impl Fn(&Measured) -> f64,
    ) -> [f64; 3] {
        let values = self.values(run, point, of);
        [0.05, 0.5, 0.95].map(|share| quantile(&values, share))
    }

    /// Processor seconds of the trials that did not fail.
    pub(super) fn seconds(&self, run: &Run, point: &Point) -> Vec<f64> {
        let trials = self.trials(run, point).into_iter().filter(|trial| trial.outcome.is_ok());
        trials.map(|trial| trial.cpu_seconds).collect()
    }

    /// The number of trials with at least this share of their draws near each mode. Failed trials do not count.
    pub(super) fn captured(&self, run: &Run, point: &Point, share: f64) -> usize {
        self.measured(run, point).iter().filter(|found| found.at_end.captures(share)).count()
    }

    /// The saved data of the first trial that finished, if any.
    pub(super) fn shown(&self, run: &Run, point: &Point) -> Result<Option<Kept>> {
        self.first(run, point, |_| true)
    }

    /// The saved data of the first trial that captures the modes, or else of the first trial.
    pub(super) fn shown_with_modes(&self, run: &Run, point: &Point) -> Result<Option<Kept>> {
        let captures = |found: &Measured| found.at_end.captures(CAPTURED);
        match self.first(run, point, captures)? {
            None => self.shown(run, point),
            found => Ok(found),
        }
    }

    fn first(
        &self,
        run: &Run,
        point: &Point,
        is_wanted: impl Fn(&Measured) -> bool,
    ) -> Result<Option<Kept>> {
        let wanted = |trial: &&Trial| trial.outcome.as_ref().is_ok_and(&is_wanted);
        let first = self.trials(run, point).into_iter().find(wanted);
        first.map(|trial| self.results.kept(run, point, trial.number)).transpose()
    }

    /// "48 of 50": trials that capture both modes.
    pub(super) fn captured_of(&self, run: &Run, point: &Point) -> String {
        let trials = self.trials(run, point).len();
        format!("{} of {trials}", self.captured(run, point, CAPTURED))
    }

    /// Trials that failed.
    pub(super) fn failed(&self, run: &Run, point: &Point) -> usize {
        self.trials(run, point).len() - self.measured(run, point).len()
    }

    /// The saved data of a trial of a watched run.
    pub(super) fn kept(&self, run: &Run, point: &Point, number: usize) -> Result<Kept> {
        self.results.kept(run, point, number)
    }

    /// Processor time of everything, in seconds.
    pub(super) fn total_seconds(&self) -> f64 {
        self.results.all().values().flatten().map(|trial| trial.cpu_seconds).sum()
    }
}

/// KL(q‖p) at the end, or NaN if unknown.
pub(super) fn kl(found: &Measured) -> f64 {
    found.at_end.kl.unwrap_or(f64::NAN)
}

/// KL(q‖p) on arrival at t = 1, or NaN if unknown.
pub(super) fn kl_on_arrival(found: &Measured) -> f64 {
    found.on_arrival.kl.unwrap_or(f64::NAN)
}
