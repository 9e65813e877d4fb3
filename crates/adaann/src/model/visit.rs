//! Visits rows one by one, with everything that formulas of rows may use, at several draws of the
//! parameters.

use super::evaluate::Evaluator;
use super::file::Formula;
use super::outline::Outline;
use super::scope::{Place, Scope};
use super::value::Law;
use super::walk::{Tie, Walk};
use crate::posterior::Dynamics;
use crate::program::Expr;
use crate::table::Table;
use crate::{Batch, Error, Result};
use std::borrow::Cow;

/// The rows to visit: cells by row and column of the model's data.
struct Rows<'r> {
    outline: &'r Outline,
    /// New inputs, and for each column of the data its position in them.
    places: Option<(Cow<'r, Table>, Vec<Option<usize>>)>,
    /// The order in time or in the series.
    order: Vec<usize>,
    walk: Walk,
}

impl<'r> Rows<'r> {
    fn new(outline: &'r Outline, inputs: Option<&'r Table>) -> Result<Self> {
        let place = |table: &Table, name: &String| table.names.iter().position(|n| n == name);
        let places = inputs.map(|table| {
            let table = outline.with_derived(table);
            let places = outline.data.names.iter().map(|name| place(&table, name)).collect();
            (table, places)
        });
        let len = inputs.map_or(outline.data.len(), |table| table.rows.len());
        let mut rows = Self { outline, places, order: (0..len).collect(), walk: Walk::default() };
        rows.check(len)?;
        if let Some(time) = outline.time {
            let mut order = std::mem::take(&mut rows.order);
            order.sort_by(|&a, &b| rows.cell(a, time).total_cmp(&rows.cell(b, time)));
            rows.order = order;
        }
        let series = &outline.series;
        if outline.file.series.is_some() || !series.lags.is_empty() {
            rows.walk = rows.walk(len)?;
            rows.order.clone_from(&rows.walk.order);
        }
        Ok(rows)
    }

    /// The walk through the rows, with their own series.
    fn walk(&self, len: usize) -> Result<Walk> {
        let series = &self.outline.series;
        let cells = |column: usize| (0..len).map(|row| self.cell(row, column)).collect::<Vec<_>>();
        let (order, group) = (series.order.map(cells), series.group.map(cells));
        Walk::new(len, order.as_deref(), group.as_deref()).map_err(|Tie(a, b)| {
            Error::Data(format!(
                "the order of rows {} and {} of the new inputs is not defined: they belong to the same \
                 series and have the same order",
                a + 1,
                b + 1
            ))
        })
    }

    /// Refuses inputs without a value that predictions need.
    fn check(&self, len: usize) -> Result<()> {
        let Some((table, _)) = &self.places else { return Ok(()) };
        let outline = self.outline;
        let mut needed: Vec<usize> =
            outline.time.into_iter().chain(outline.subject_column()).collect();
        for (_, formula) in &outline.file.likelihood {
            needed.extend(outline.columns_of(&formula.ast));
        }
        needed.extend(outline.series.order.iter().chain(&outline.series.group));
        needed.extend(outline.columns_of_states());
        needed.extend(outline.columns_of_equations());
        for &column in needed.iter().chain(&outline.columns_of_series()) {
            let name = &outline.data.names[column];
            if !table.names.contains(name) {
                return Err(Error::Data(format!(
                    "the new inputs have no column {name}, which the predictions depend on"
                )));
            }
        }
        for column in needed {
            let name = &outline.data.names[column];
            if let Some(row) = (0..len).find(|&row| self.cell(row, column).is_nan()) {
                return Err(Error::Data(format!(
                    "{name} is missing in row {} of the new inputs",
                    row + 1
                )));
            }
        }
        Ok(())
    }

    /// The columns of the model's data, sorted by time.
    fn columns(&self) -> Vec<Vec<f64>> {
        let column = |c: usize| self.order.iter().map(|&row| self.cell(row, c)).collect();
        (0..self.outline.data.names.len()).map(column).collect()
    }

    fn cell(&self, row: usize, column: usize) -> f64 {
        match &self.places {
            None => self.outline.data.columns[column][row],
            Some((table, places)) => {
                places[column].map_or(f64::NAN, |place| table.rows[row][place])
            }
        }
    }
}

/// The row being visited.
pub(super) struct Visited {
    /// Its index, from 0, in the order of the data or of the new inputs.
    pub(super) row: usize,
    /// Is it the last row of a series?
    pub(super) is_last: bool,
}

impl Outline {
    /// Calls `see` with each measured row and the scopes at each point of a batch in the target's
    /// coordinates, in the order of time or of a series; `see` returns whether to continue.
    pub(super) fn visit_rows(
        &self,
        dynamics: Option<&Dynamics>,
        points: &Batch,
        inputs: Option<&Table>,
        see: &mut dyn FnMut(Visited, &mut [Scope<'static>]) -> bool,
    ) -> Result<()> {
        if points.dim() != self.dim {
            return Err(Error::Shape {
                what: "the batch of points".into(),
                found: format!("{} coordinates", points.dim()),
                expected: self.dim.to_string(),
            });
        }
        let rows = Rows::new(self, inputs)?;
        let states = match (dynamics, inputs) {
            (None, _) => None,
            (Some(dynamics), None) => Some(dynamics.states(points)?),
            (Some(_), Some(_)) => Some(self.dynamics_at(rows.columns())?.states(points)?),
        };
        let mut scopes: Vec<Scope<'static>> = (0..points.len())
            .map(|i| {
                let theta: Vec<Expr<'static>> = points.point(i).iter().map(|&x| x.into()).collect();
                let mut scope = self.scope(&theta);
                let mut faults = Vec::new();
                self.evaluate_quantities(&mut scope, &mut faults, |reach| !reach.is_of_rows());
                scope
            })
            .collect();
        for (at, &row) in rows.order.iter().enumerate() {
            for scope in &mut scopes {
                self.enter_row(scope, &|column| rows.cell(row, column));
            }
            if let Some(states) = &states {
                enter_states(&mut scopes, &states[at]);
            }
            let is_of_series = !rows.walk.order.is_empty();
            if is_of_series {
                let cell = |row: usize, column: usize| rows.cell(row, column);
                for scope in &mut scopes {
                    self.enter_lags(scope, &rows.walk, row, &cell);
                    self.carry_on(scope, rows.walk.begins(row));
                }
                if !self.is_measured(&rows.walk, row) {
                    continue;
                }
            }
            for scope in &mut scopes {
                self.evaluate_quantities(scope, &mut Vec::new(), |reach| reach.is_of_rows());
            }
            let is_last = is_of_series && rows.walk.ends(row);
            if !see(Visited { row, is_last }, &mut scopes) {
                break;
            }
        }
        Ok(())
    }

    /// The distribution that a formula gives for the row of a scope.
    pub(super) fn law_of_row(
        &self,
        scope: &mut Scope<'static>,
        formula: &Formula,
    ) -> Option<Law<'static>> {
        let (names, place, mut faults) = (&self.names, Place::Row, Vec::new());
        Evaluator { names, scope, place, faults: &mut faults, gather: None }.law(&formula.ast)
    }

    /// The number that a formula gives for the row of a scope; NaN if it is not a number.
    pub(super) fn number_of_row(&self, scope: &mut Scope<'static>, formula: &Formula) -> f64 {
        let (names, place, mut faults) = (&self.names, Place::Row, Vec::new());
        let value = Evaluator { names, scope, place, faults: &mut faults, gather: None }
            .evaluate(&formula.ast);
        value.element(0).and_then(Expr::as_constant).unwrap_or(f64::NAN)
    }
}

/// Sets the states of every draw for a row.
fn enter_states(scopes: &mut [Scope<'static>], states: &Batch) {
    for (i, scope) in scopes.iter_mut().enumerate() {
        scope.states = (0..states.dim()).map(|state| states.row(state)[i].into()).collect();
    }
}
