//! A finished run, read back from its folder.

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

/// A finished run: what its figures and its page are made of.
pub(crate) struct Finished {
    pub(crate) record: Record,
    pub(crate) subject: Subject,
    pub(crate) summary: Summary,
    pub(crate) drawn: Drawn,
    /// Whose draws are shown.
    pub(crate) whose: Whose,
    /// As many of these as there are of the flow.
    pub(crate) chosen: Chosen,
    pub(crate) steps: Vec<Step>,
    pub(crate) trace: Vec<Update>,
    pub(crate) flow: Flow,
    /// What the run was told, as its file has it.
    pub(crate) told: String,
    /// Values of the density that figures may ask for, and have asked for.
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

    /// A run that has not come to its end, as it is at its last checkpoint: it has no files.
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

    /// The same with the training of a flow.
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

    /// The same where figures may ask for so many values of the density.
    pub(crate) fn with_values(self, most_values: usize) -> Self {
        Self { most_values, ..self }
    }

    /// May figures ask for so many more? They are counted then.
    pub(crate) fn takes_values(&self, count: usize) -> bool {
        let is_allowed = count <= self.most_values.saturating_sub(self.values());
        if is_allowed {
            self.values.fetch_add(count, Ordering::Relaxed);
        }
        is_allowed
    }

    /// Values of the density that figures have asked for.
    pub(crate) fn values(&self) -> usize {
        self.values.load(Ordering::Relaxed)
    }

    /// The flow as a density in the user's coordinates.
    pub(crate) fn approximation(&self) -> Result<Approximation<'_>> {
        Ok(Approximation::new(&*self.subject.problem.target, self.flow.clone())?)
    }

    /// The parameters that made the data, if it was made.
    pub(crate) fn truth(&self) -> Option<&[f64]> {
        let made = self.record.data_seed.is_some();
        self.subject.problem.dynamics.as_ref().filter(|_| made).map(|dynamics| dynamics.truth())
    }
}

fn transposed(columns: &[Vec<f64>]) -> impl Iterator<Item = Vec<f64>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|i| columns.iter().map(|column| column[i]).collect())
}
