//! Columns computed from other columns, row by row.

use super::diagnostic::Report;
use super::evaluate::Evaluator;
use super::expression::{Ast, Fault};
use super::file::{Formula, Name};
use super::names::{Meaning, each_name};
use super::outline::Outline;
use super::scope::{Place, Scope};
use super::value::Value;
use crate::table::Table;
use std::borrow::Cow;

impl Outline {
    /// Appends the derived columns; their values are computed with the constants.
    pub(super) fn add_derived(&mut self, report: &mut Report) {
        let derived = self.file.data.iter().flat_map(|data| &data.derived);
        let missing = vec![f64::NAN; self.data.len()];
        for (name, _) in derived {
            // Missing data has been reported.
            if self.data.names.is_empty() {
                return;
            }
            match self.data.find(&name.text) {
                None => self.data.add(name.text.clone(), missing.clone()),
                Some(_) => {
                    let message = format!("the data already has a column `{}`", name.text);
                    report.error(&self.source, name.span.clone(), message, None);
                }
            }
        }
    }

    /// The derived columns, each with its index, name and formula.
    pub(super) fn derived(&self) -> Vec<(usize, Name, Formula)> {
        let derived = self.file.data.iter().flat_map(|data| &data.derived);
        let known = derived.filter_map(|(name, formula)| {
            Some((self.data.find(&name.text)?, name.clone(), formula.clone()))
        });
        known.collect()
    }

    /// Computes a derived column.
    pub(super) fn derive(
        &mut self,
        column: usize,
        name: &Name,
        formula: &Formula,
        faults: &mut Vec<Fault>,
        report: &mut Report,
    ) {
        let said = faults.len();
        self.check_derived(&formula.ast, name, faults);
        if self.time == Some(column) {
            let message = format!(
                "the times must be a column of the data, but `{}` is a derived column",
                name.text
            );
            faults.push(Fault { span: name.span.clone(), message, help: None });
        }
        if faults.len() > said {
            return;
        }
        let used = self.columns_named(&formula.ast);
        let mut scope = self.scope(&[]);
        for row in 0..self.data.len() {
            let cell = |column: usize| self.data.columns[column][row];
            let found = self.derived_value(&mut scope, &formula.ast, &cell, faults);
            if faults.len() > said {
                return;
            }
            // A value computed from a missing number is missing.
            let is_missing = used.iter().any(|&column| cell(column).is_nan());
            if !is_missing && !found.is_finite() {
                let number = self.data.number_of(row);
                let message = format!("`{}` is {found} in row {number} of the data", name.text);
                report.error(&self.source, formula.span.clone(), message, None);
                return;
            }
            self.data.columns[column][row] = if is_missing { f64::NAN } else { found };
        }
    }

    /// The value of a derived column in a row, from the row's other cells; NaN if it has none.
    pub(super) fn derived_value(
        &self,
        scope: &mut Scope<'static>,
        ast: &Ast,
        cell: &dyn Fn(usize) -> f64,
        faults: &mut Vec<Fault>,
    ) -> f64 {
        self.enter_row(scope, cell);
        // If a column has the name of a state, the name means the column here.
        let states = self.file.ode.iter().flat_map(|ode| &ode.states);
        let column = |name: &Name| self.data.find(&name.text).map_or(f64::NAN, cell);
        scope.states = states.map(|state| column(&state.name).into()).collect();
        let (names, place, gather) = (&self.names, Place::Row, None);
        let value = Evaluator { names, scope, place, faults, gather }.evaluate(ast).into_numbers();
        match value {
            Value::Number(x) => x.as_constant().unwrap_or(f64::NAN),
            Value::Unknown => f64::NAN,
            other => {
                let message =
                    format!("a derived column needs a number in each row, found {}", other.kind());
                faults.push(Fault { span: ast.span.clone(), message, help: None });
                f64::NAN
            }
        }
    }

    /// New inputs, with the derived columns that can be computed from them.
    pub(super) fn with_derived<'t>(&self, inputs: &'t Table) -> Cow<'t, Table> {
        let place = |table: &Table, name: &str| table.names.iter().position(|known| known == name);
        let mut table = Cow::Borrowed(inputs);
        let mut waiting = self.derived();
        waiting.retain(|(_, name, _)| place(inputs, &name.text).is_none());
        // Derived columns may depend on each other, in any order.
        for _ in 0..waiting.len() {
            let (ready, others): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, _, formula)| {
                    let used = self.columns_named(&formula.ast);
                    used.into_iter().all(|used| place(&table, &self.data.names[used]).is_some())
                });
            waiting = others;
            let places: Vec<Option<usize>> =
                self.data.names.iter().map(|name| place(&table, name)).collect();
            let mut scope = self.scope(&[]);
            for (_, name, formula) in ready {
                let own = table.to_mut();
                for row in &mut own.rows {
                    let cell = |column: usize| places[column].map_or(f64::NAN, |place| row[place]);
                    let found =
                        self.derived_value(&mut scope, &formula.ast, &cell, &mut Vec::new());
                    row.push(found);
                }
                own.names.push(name.text.clone());
            }
        }
        table
    }

    /// The columns that a formula of the data names.
    pub(super) fn columns_named(&self, ast: &Ast) -> Vec<usize> {
        let mut columns = Vec::new();
        each_name(ast, &mut |name| match self.names.find(name) {
            Some(Meaning::Columns(group)) => columns.extend(self.group(group)),
            _ => columns.extend(self.data.find(name)),
        });
        columns
    }

    /// Reports names that a derived column cannot depend on.
    fn check_derived(&self, ast: &Ast, name: &Name, faults: &mut Vec<Fault>) {
        let mut strange = None;
        each_name(ast, &mut |used| {
            let what = match self.names.find(used) {
                Some(Meaning::Parameter(_)) => "a parameter",
                Some(Meaning::Quantity(_)) => "a quantity",
                Some(Meaning::State(_)) if self.data.find(used).is_none() => "a state",
                _ => return,
            };
            strange.get_or_insert_with(|| format!("`{used}`, which is {what}"));
        });
        if let Some(strange) = strange {
            let message = format!("`{}` cannot depend on {strange}", name.text);
            let help = "a derived column can depend on columns and constants; define what depends on parameters \
                        under [quantities]";
            faults.push(Fault { span: ast.span.clone(), message, help: Some(help.to_owned()) });
        }
    }
}
