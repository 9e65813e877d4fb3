//! The rows of the data that the likelihood uses, and checks of their values.

use super::compound::named;
use super::diagnostic::Report;
use super::evaluate::{Evaluator, Index};
use super::expression::{Ast, Fault, Kind};
use super::file::{Formula, Missing, Name};
use super::names::{Meaning, Reach};
use super::outline::Outline;
use super::record::as_family;
use super::scope::{Place, Scope};
use super::value::Value;
use crate::distribution::Family;

impl Outline {
    /// The column that a line of the likelihood measures.
    pub(super) fn measured(&self, name: &Name, report: &mut Report) -> Option<usize> {
        let column = self.data.find(&name.text);
        if column.is_none() && !self.data.names.is_empty() {
            let message = format!("the data has no column `{}`", name.text);
            let help =
                if ["title", "density", "log-likelihood", "command"].contains(&&name.text[..]) {
                    Some(format!("move `{}` above the first [table]", name.text))
                } else {
                    self.column_meant(&name.text)
                };
            report.error(&self.source, name.span.clone(), message, help);
        }
        column
    }

    /// The rows of a line: all of them, or those where its column is not missing.
    pub(super) fn rows_of(
        &self,
        name: &Name,
        column: usize,
        formula: &Formula,
        report: &mut Report,
    ) -> Vec<u32> {
        let all = self.measured_rows().into_iter();
        let is_there = |row: &u32| !self.data.columns[column][*row as usize].is_nan();
        let skips = self.file.data.as_ref().is_some_and(|data| data.missing == Missing::Skip);
        let rows: Vec<u32> = if skips { all.filter(is_there).collect() } else { all.collect() };
        if rows.is_empty() && self.data.len() > 0 {
            let skips = self.file.series.as_ref().is_some_and(|series| series.skip > 0);
            let skipped = if skips { " or skipped" } else { "" };
            let message = format!("every value of `{}` is missing{skipped}", name.text);
            report.error(&self.source, name.span.clone(), message, None);
        }
        let mut columns = self.columns_of(&formula.ast);
        // The end of an interval may be missing.
        if let Some(open) = until_column(&formula.ast) {
            columns.retain(|&column| self.data.names[column] != open);
        }
        columns.push(column);
        columns.extend(self.time);
        columns.sort_unstable();
        columns.dedup();
        self.check_present(&columns, &rows, Some(column), report);
        self.check_lags(formula, &rows, report);
        rows
    }

    /// Reports, for each of some columns, the first cell in some rows that is missing or not a number.
    /// `measured` is the column that may be skipped.
    pub(super) fn check_present(
        &self,
        columns: &[usize],
        rows: &[u32],
        measured: Option<usize>,
        report: &mut Report,
    ) {
        for &column in columns {
            let name = &self.data.names[column];
            let is_missing = |row: &&u32| self.data.columns[column][**row as usize].is_nan();
            let strange = self.data.strange(column);
            let Some(row) = strange.or_else(|| rows.iter().find(is_missing).map(|&r| r as usize))
            else {
                continue;
            };
            let what = if strange.is_some() { "is not a number" } else { "is missing" };
            let message =
                format!("`{name}` {what} in row {} of the data", self.data.number_of(row));
            let help = (strange.is_none() && measured == Some(column)).then(|| {
                "set missing = \"skip\" in [data] to leave such rows out of this line".to_owned()
            });
            self.error_at_cell(row, column, message, help, report);
        }
    }

    /// Reports a mistake at a cell of the data, or at the column in the model file.
    pub(super) fn error_at_cell(
        &self,
        row: usize,
        column: usize,
        message: String,
        help: Option<String>,
        report: &mut Report,
    ) {
        if self.data.error_at((row, column), &message, help.as_deref(), report) {
            return;
        }
        let name = &self.data.names[column];
        let data = self.file.data.as_ref();
        let written = data.and_then(|d| d.columns.iter().find(|(n, _)| n.text == *name));
        let written = written.map(|(name, _)| name);
        let derived = data.and_then(|d| d.derived.iter().find(|(n, _)| n.text == *name));
        let written = written.or(derived.map(|(name, _)| name));
        let span = written.map_or(0..0, |name| name.span.clone());
        report.error(&self.source, span, message, help);
    }

    /// Reports the first value of a line that is impossible under its distribution.
    pub(super) fn check_values(
        &self,
        name: &Name,
        column: usize,
        formula: &Formula,
        rows: &[u32],
        report: &mut Report,
    ) {
        let Some((family, arguments)) = as_family(&formula.ast) else { return };
        let known: Vec<Option<&Ast>> = arguments
            .iter()
            .map(|argument| Some(argument).filter(|a| self.names.reach(a).is_of_data()))
            .collect();
        let differs = known.iter().flatten().any(|ast| self.names.reach(ast).is_of_rows());
        let mut plain: Option<Vec<Option<f64>>> = None;
        let mut scope = self.data_scope();
        for &row in rows {
            let row = row as usize;
            if differs || plain.is_none() {
                let value =
                    |ast: &Option<&Ast>| ast.and_then(|ast| self.data_value(&mut scope, ast, row));
                plain = Some(known.iter().map(value).collect());
            }
            let y = self.data.columns[column][row];
            let plain = plain.as_deref().unwrap_or_default();
            for ((argument, value), ast) in family.arguments().iter().zip(plain).zip(arguments) {
                // An argument that is the same for all rows was checked with the formula.
                let differs = self.names.reach(ast).is_of_rows();
                let bad = value.filter(|value| differs && !argument.range.contains(*value));
                if let Some(value) = bad {
                    let message = format!(
                        "{} of {} is {value} in row {} of the data, but must be {}",
                        argument.name,
                        family.name(),
                        self.data.number_of(row),
                        argument.range.in_words()
                    );
                    report.error(&self.source, ast.span.clone(), message, None);
                    return;
                }
            }
            let is_whole = !family.is_discrete() || y.fract() == 0.0;
            if y.is_nan() || is_whole && family.support(plain).contains(y) {
                continue;
            }
            let message = format!(
                "`{}` is {y} in row {} of the data, which is not a possible value of {}",
                name.text,
                self.data.number_of(row),
                family.name()
            );
            let help = values_in_words(family, plain);
            self.error_at_cell(row, column, message, Some(help), report);
            return;
        }
    }

    /// The rows that are measurements.
    pub(super) fn measured_rows(&self) -> Vec<u32> {
        let all = 0..self.data.len() as u32;
        let is_measured = |row: &u32| {
            self.changes.unmeasured.binary_search(row).is_err()
                && self.is_measured(&self.series.walk, *row as usize)
        };
        all.filter(is_measured).collect()
    }

    /// The value of a formula of the data in a row.
    pub(super) fn row_value(&self, ast: &Ast, row: usize) -> Option<f64> {
        self.data_value(&mut self.data_scope(), ast, row)
    }

    /// The positions that indices select in each row, from 0: in a vector, or in the elements of a matrix
    /// row by row.
    pub(super) fn indices(&self, indices: &[Index<'_>]) -> Result<Vec<u32>, Fault> {
        let mut places = vec![0; self.data.len()];
        let mut scope = self.data_scope();
        for &Index { ast, len } in indices {
            for (row, place) in places.iter_mut().enumerate() {
                let value = self.data_value(&mut scope, ast, row).unwrap_or(f64::NAN);
                // A missing index is reported where the row is used; otherwise it does not matter.
                let value = if value.is_nan() { 1.0 } else { value };
                if value.fract() != 0.0 || !(1.0..=len as f64).contains(&value) {
                    let message = format!(
                        "the index is {value} in row {} of the data, but must be from 1 to {len}",
                        self.data.number_of(row)
                    );
                    return Err(Fault { span: ast.span.clone(), message, help: None });
                }
                *place = *place * len as u32 + (value as u32 - 1);
            }
        }
        Ok(places)
    }

    /// The value of a formula of the data in a row; the scope is reused for every row.
    pub(super) fn data_value(
        &self,
        scope: &mut Scope<'static>,
        ast: &Ast,
        row: usize,
    ) -> Option<f64> {
        self.in_row(scope, row, |evaluator| evaluator.number(ast)?.as_constant())
    }

    /// Evaluates a formula of the data in a row.
    fn in_row<T>(
        &self,
        scope: &mut Scope<'static>,
        row: usize,
        work: impl FnOnce(&mut Evaluator<'_, 'static>) -> Option<T>,
    ) -> Option<T> {
        self.enter_row(scope, &|column| self.data.columns[column][row]);
        let cell = |row: usize, column: usize| self.data.columns[column][row];
        self.enter_lags(scope, &self.series.walk, row, &cell);
        let mut faults = Vec::new();
        self.evaluate_quantities(scope, &mut faults, |reach| {
            reach.is_of_data() && reach.is_of_rows()
        });
        let (names, place) = (&self.names, Place::Row);
        work(&mut Evaluator { names, scope, place, faults: &mut faults, gather: None })
    }

    /// Does a condition of the data hold in a row?
    pub(super) fn data_truth(
        &self,
        scope: &mut Scope<'static>,
        ast: &Ast,
        row: usize,
    ) -> Option<bool> {
        self.in_row(scope, row, |evaluator| {
            let truth = evaluator.truth(ast)?;
            Some(truth.select(1.0.into(), 0.0.into()).as_constant()? == 1.0)
        })
    }

    /// A scope with everything that is known without parameters and rows.
    pub(super) fn data_scope(&self) -> Scope<'static> {
        let mut scope = self.scope(&[]);
        let is_constant = |reach: Reach| reach.is_of_data() && !reach.is_of_rows();
        self.evaluate_quantities(&mut scope, &mut Vec::new(), is_constant);
        scope
    }

    /// Sets the columns to their values in a row.
    pub(super) fn enter_row(&self, scope: &mut Scope<'_>, cell: &dyn Fn(usize) -> f64) {
        let columns = 0..self.data.names.len();
        scope.columns = columns.map(|column| Value::Number(cell(column).into())).collect();
        scope.time = self.time.map(|column| Value::Number(cell(column).into()));
        let (time, subject) = (self.time.map_or(f64::NAN, cell), self.subject_column().map(cell));
        scope.inputs =
            self.curves.iter().map(|curves| curves.value(subject, time).into()).collect();
    }

    /// Evaluates the quantities that `wanted` selects, in a scope that contains their dependencies.
    pub(super) fn evaluate_quantities<'g>(
        &self,
        scope: &mut Scope<'g>,
        faults: &mut Vec<Fault>,
        wanted: impl Fn(Reach) -> bool,
    ) {
        for &q in self.names.order() {
            let reach = self.names.of(Meaning::Quantity(q));
            if wanted(reach) && !reach.trajectories {
                self.evaluate_quantity(scope, faults, q);
            }
        }
    }

    /// Evaluates a quantity, in a scope that contains its dependencies.
    pub(super) fn evaluate_quantity<'g>(
        &self,
        scope: &mut Scope<'g>,
        faults: &mut Vec<Fault>,
        q: usize,
    ) {
        let ast = &self.file.quantities[q].1.ast;
        let (names, place, gather) = (&self.names, Place::Row, None);
        let value = Evaluator { names, scope: &mut *scope, place, faults, gather }.evaluate(ast);
        scope.quantities[q] = Some(value);
    }
}

/// The column given as `until`, if it is a plain name.
fn until_column(ast: &Ast) -> Option<&str> {
    let Kind::Call { name, arguments, .. } = &ast.kind else { return None };
    let until = named(arguments, "until").filter(|_| name == "censored")?;
    if let Kind::Name(column) = &until.kind { Some(column) } else { None }
}

/// The possible values of a distribution, in words.
fn values_in_words(family: Family, arguments: &[Option<f64>]) -> String {
    let interval = family.support(arguments);
    let numbers = if family.is_discrete() { "whole numbers" } else { "numbers" };
    let low = interval.low.filter(|end| end.at.is_finite());
    let high = interval.high.filter(|end| end.at.is_finite());
    let range = match (low, high) {
        (Some(low), Some(high)) => format!(" from {} to {}", low.at, high.at),
        (Some(low), None) if low.is_inside => format!(" of at least {}", low.at),
        (Some(low), None) => format!(" above {}", low.at),
        (None, Some(high)) => format!(" of at most {}", high.at),
        (None, None) => String::new(),
    };
    format!("values of {} are {numbers}{range}", family.name())
}
