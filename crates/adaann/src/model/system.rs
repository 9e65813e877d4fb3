//! Converts a model's recording for its posterior, and extracts its system of equations.

use super::data::Data;
use super::diagnostic::Report;
use super::file::{Event, Events};
use super::outline::Outline;
use super::record::{Recording, record_system};
use crate::posterior::{Dynamics, Line, Recorded, RecordedSeries, RecordedSystem, settle};
use crate::program::{self, RowInput};
use crate::{Error, Result};

/// The recorded parts, with the rows that they use.
pub(super) fn recorded(outline: &Outline, recording: Recording) -> Recorded {
    let mut graph = recording.graph;
    let direct = recording.density.unwrap_or_else(|| graph.constant(0.0));
    let columns = outline.data.columns.len();
    let mut row_inputs = Vec::new();
    row_inputs.extend(outline.file.ode.iter().map(|_| RowInput::Time));
    row_inputs.extend((0..recording.rates.len()).map(RowInput::State));
    row_inputs.extend((0..outline.carried()).map(RowInput::Carried));
    let lags = outline.lag_columns();
    row_inputs.extend((0..columns + lags.len()).map(RowInput::Column));
    row_inputs.extend((0..outline.changes.numbers).map(RowInput::Stretch));
    row_inputs.extend(outline.file.ode.iter().map(|_| RowInput::Event(0)));
    row_inputs.extend((0..recording.trajectories.len()).map(RowInput::Trajectory));
    row_inputs.extend((0..recording.gathers.len()).map(RowInput::Gather));
    let gathers = recording.gathers.into_iter();
    let gathers =
        gathers.map(|gather| program::Gather { vector: gather.vector, index: gather.index });
    let lines = recording.lines.into_iter();
    let lines = lines.map(|line| Line { log_density: line.log_density, rows: line.rows });
    // Without data there are no rows, but there are still trajectories.
    let times = outline.time.map_or(Vec::new(), |time| outline.data.columns[time].clone());
    let system = match (&outline.file.ode, outline.solver) {
        (Some(ode), Some(solver)) => Some(RecordedSystem {
            names: ode.states.iter().map(|state| state.name.text.clone()).collect(),
            rates: recording.rates,
            readings: Vec::new(),
            initial: recording.initial,
            jumps: recording.jumps,
            moments: recording.moments,
            solver,
            settle: outline.settle,
            stretches: outline.subjects.in_rows(&times, outline.changes.numbers),
            times,
            subjects: outline.subjects.clone(),
        }),
        _ => None,
    };
    let walk = &outline.series.walk;
    let series = recording.series.map(|series| RecordedSeries {
        start: series.start,
        next: series.next,
        last: series.last,
        order: walk.order.iter().map(|row| *row as u32).collect(),
        begins: walk.order.iter().map(|row| walk.begins(*row)).collect(),
    });
    let mut recorded = Recorded {
        graph,
        parameters: outline.dim,
        row_inputs,
        columns: [&outline.data.columns[..], &lags].concat(),
        gathers: gathers.collect(),
        log_prior: recording.log_prior,
        direct,
        lines: lines.collect(),
        system,
        series,
    };
    settle(&mut recorded);
    recorded
}

impl Outline {
    /// The system of equations for other rows: the columns of the data with other values, sorted by time.
    ///
    /// # Errors
    /// If the equations cannot be solved for these rows.
    pub(super) fn dynamics_at(&self, columns: Vec<Vec<f64>>) -> Result<Dynamics> {
        let (mut outline, mut report) = (self.clone(), Report::default());
        outline.data = Data::new(self.data.names.clone(), columns);
        outline.order_names(&mut report);
        outline.find_subjects(&mut report);
        let recording = record_system(&outline, &mut report);
        match report.into_result() {
            Ok(()) => Dynamics::new(&recorded(&outline, recording)),
            Err(error) => {
                Err(Error::Data(format!("the system cannot be solved for these rows: {error}")))
            }
        }
    }

    /// The columns with the time, subject and events of a row, and those that equations depend on.
    pub(super) fn columns_of_system(&self) -> Vec<usize> {
        let Some(ode) = &self.file.ode else { return Vec::new() };
        let mut columns = self.columns_of_equations();
        columns.extend(self.time.into_iter().chain(self.subject_column()));
        if let Events::Nonmem(_) = ode.events {
            columns.extend(self.columns_of_doses());
        }
        columns
    }

    /// The columns that formulas of a system depend on, directly or through quantities.
    pub(super) fn columns_of_equations(&self) -> Vec<usize> {
        let Some(ode) = &self.file.ode else { return Vec::new() };
        let mut columns = Vec::new();
        for state in &ode.states {
            columns.extend(self.columns_of(&state.rate.ast));
            columns.extend(self.columns_of(&state.start.ast));
            state.of_doses().for_each(|formula| columns.extend(self.columns_of(&formula.ast)));
        }
        if let Events::List(list) = &ode.events {
            let formulas = list.iter().flat_map(Event::formulas);
            formulas.for_each(|formula| columns.extend(self.columns_of(&formula.ast)));
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}
