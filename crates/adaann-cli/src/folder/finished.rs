//! A finished run, read from its folder.

use crate::folder::{
    drawn::{Chosen, Drawn, Whose},
    record::Record,
    stored::Stored,
    subject::{Programs, Subject},
    summary::Summary,
};
use adaann::{
    approximation::Approximation,
    fit::{Outcome, StepRecord, UpdateRecord},
    flow::Flow,
    importance::Sample,
};
use anyhow::Result;
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A finished run, the source of its figures and page.
pub(crate) struct Finished {
    pub(crate) record: Record,
    pub(crate) subject: Subject,
    pub(crate) summary: Summary,
    pub(crate) drawn: Drawn,
    /// Whose draws are shown.
    pub(crate) whose: Whose,
    /// As many resampled draws as the flow has draws.
    pub(crate) chosen: Chosen,
    pub(crate) steps: Vec<Step>,
    pub(crate) trace: Vec<Update>,
    pub(crate) flow: Flow,
    /// The text of `run.toml`.
    pub(crate) told: String,
    /// The numbers of density values that figures may use, and have used.
    most_values: usize,
    values: AtomicUsize,
}

/// A line of `schedule.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) step: f64,
    pub(crate) t: f64,
    pub(crate) epsilon: f64,
}

/// A line of `trace.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Update {
    pub(crate) update: f64,
    pub(crate) t: f64,
    pub(crate) neg_elbo: f64,
}

impl Finished {
    /// Reads the folder of a run.
    pub(crate) fn read(folder: &Path, whose: Whose, programs: Programs) -> Result<Self> {
        let stored = Stored::open(folder)?;
        let record = Record::read(&stored)?;
        let subject = Subject::read(&record.source(), &stored, programs)?;
        let problem = &subject.problem;
        let drawn = Drawn::read(&stored, &problem.target.names())?;
        let steps = transposed(&stored.columns("schedule.csv", &["step", "t", "epsilon"])?)
            .map(|row| Step { step: row[0], t: row[1], epsilon: row[2] })
            .collect();
        let trace = transposed(&stored.columns("trace.csv", &["update", "t", "neg_elbo"])?)
            .map(|row| Update { update: row[0], t: row[1], neg_elbo: row[2] })
            .collect();
        let mut summary = Summary::read(&stored)?;
        summary.name_modes(&problem.known);
        let flow = record.flow(&stored, problem.target.dim())?;
        let chosen = drawn.chosen(whose, drawn.x.len(), summary.seed);
        let told = record.to_toml()?;
        let (most_values, values) = (usize::MAX, AtomicUsize::new(0));
        Ok(Self {
            record,
            subject,
            summary,
            drawn,
            whose,
            chosen,
            steps,
            trace,
            flow,
            told,
            most_values,
            values,
        })
    }

    /// An unfinished run at its last checkpoint, which has no files.
    pub(crate) fn of_a_look(
        record: Record,
        subject: Subject,
        mut summary: Summary,
        sample: &Sample,
        flow: Flow,
        told: String,
        whose: Whose,
    ) -> Self {
        summary.name_modes(&subject.problem.known);
        let drawn = Drawn::of(sample);
        let chosen = drawn.chosen(whose, drawn.x.len(), summary.seed);
        let (steps, trace) = (Vec::new(), Vec::new());
        let (most_values, values) = (usize::MAX, AtomicUsize::new(0));
        Self {
            record,
            subject,
            summary,
            drawn,
            whose,
            chosen,
            steps,
            trace,
            flow,
            told,
            most_values,
            values,
        }
    }

    /// Adds the training of a flow.
    pub(crate) fn with_training(self, outcome: &Outcome) -> Self {
        let step = |record: &StepRecord| Step {
            step: record.step as f64,
            t: record.t,
            epsilon: record.epsilon,
        };
        let update = |record: &UpdateRecord| Update {
            update: record.update as f64,
            t: record.t,
            neg_elbo: record.neg_elbo,
        };
        let steps = outcome.steps.iter().map(step).collect();
        let trace = outcome.trace.iter().map(update).collect();
        Self { steps, trace, ..self }
    }

    /// Sets the number of density values that figures may use.
    pub(crate) fn with_values(self, most_values: usize) -> Self {
        Self { most_values, ..self }
    }

    /// May figures use `count` more density values? If so, counts them.
    pub(crate) fn takes_values(&self, count: usize) -> bool {
        let is_allowed = count <= self.most_values.saturating_sub(self.values());
        if is_allowed {
            self.values.fetch_add(count, Ordering::Relaxed);
        }
        is_allowed
    }

    /// The number of density values that figures have used.
    pub(crate) fn values(&self) -> usize {
        self.values.load(Ordering::Relaxed)
    }

    /// The flow as a density in the target's coordinates.
    pub(crate) fn approximation(&self) -> Result<Approximation<'_>> {
        Ok(Approximation::new(&*self.subject.problem.target, self.flow.clone())?)
    }

    /// The true parameters, if the data was simulated.
    pub(crate) fn truth(&self) -> Option<&[f64]> {
        let made = self.record.data_seed.is_some();
        self.subject.problem.dynamics.as_ref().filter(|_| made).map(|dynamics| dynamics.truth())
    }
}

fn transposed(columns: &[Vec<f64>]) -> impl Iterator<Item = Vec<f64>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|i| columns.iter().map(|column| column[i]).collect())
}
