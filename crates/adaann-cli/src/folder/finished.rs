//! A finished run, read back from its folder.

use crate::{
    folder::{
        csv,
        drawn::{Chosen, Drawn, Whose},
        record::Record,
        subject::Subject,
        summary::Summary,
    },
    text::failure::usage,
};
use adaann::{approximation::Approximation, flow::Flow, registry::Table};
use anyhow::{Context, Result};
use std::path::Path;

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
    pub(crate) fn read(folder: &Path, whose: Whose) -> Result<Self> {
        let record = Record::read(folder)?;
        let subject = Subject::read(&record, folder)?;
        let problem = &subject.problem;
        let columns = |file: &str, names: &[&str]| columns(&folder.join(file), names);
        let drawn = Drawn::read(folder, &problem.target.names())?;
        let steps = transposed(&columns("schedule.csv", &["step", "t", "epsilon"])?)
            .map(|row| Step { step: row[0], t: row[1], epsilon: row[2] })
            .collect();
        let trace = transposed(&columns("trace.csv", &["update", "t", "neg_elbo"])?)
            .map(|row| Update { update: row[0], t: row[1], neg_elbo: row[2] })
            .collect();
        let path = folder.join(Summary::FILE);
        let text = csv::text(&path, "a run's summary")?;
        let mut summary: Summary = serde_json::from_str(&text)
            .with_context(|| format!("cannot read {}", path.display()))?;
        summary.name_modes(&problem.known);
        let flow = record.flow(folder, problem.target.dim())?;
        let chosen = drawn.chosen(whose, drawn.x.len(), summary.seed);
        Ok(Self { record, subject, summary, drawn, whose, chosen, steps, trace, flow })
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

/// Columns of a table of the run, by their names.
pub(super) fn columns(path: &Path, names: &[&str]) -> Result<Vec<Vec<f64>>> {
    let file = path.display().to_string();
    let Table { names: found, rows } = csv::table(&file, &csv::text(path, "numbers")?)?;
    let column = |name: &&str| {
        let place = found.iter().position(|found| found == name);
        let place = place.ok_or_else(|| usage(format!("{file} has no column {name}")))?;
        Ok(rows.iter().map(|row| row[place]).collect())
    };
    names.iter().map(column).collect()
}

fn transposed(columns: &[Vec<f64>]) -> impl Iterator<Item = Vec<f64>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|i| columns.iter().map(|column| column[i]).collect())
}
