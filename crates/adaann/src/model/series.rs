//! The series of a model: the order of rows, states, and earlier rows.

use super::diagnostic::Report;
use super::expression::{Ast, Kind, Span};
use super::file::{Formula, Name};
use super::names::{Meaning, each_before};
use super::outline::Outline;
use super::scope::{Lag, Lagged, Scope};
use super::value::Plain;
use super::walk::{Tie, Walk};

/// Maximum number of values in the states of a series.
const MOST_CARRIED: usize = 10_000;

/// A column at an earlier row, as used in a formula.
struct Named<'a> {
    lag: Lag,
    has_otherwise: bool,
    call: &'a Ast,
}

impl Outline {
    /// Finds the columns of order and group, and reports states that are also columns.
    pub(super) fn name_series(&mut self, report: &mut Report) {
        let Some(series) = &self.file.series else { return };
        let mut column = |name: &Option<Name>, what: &str| {
            let name = name.as_ref()?;
            let found = self.data.find(&name.text);
            if found.is_none() && !self.data.names.is_empty() {
                let message = format!("the data has no {what} column `{}`", name.text);
                report.error(
                    &self.source,
                    name.span.clone(),
                    message,
                    self.column_meant(&name.text),
                );
            }
            found
        };
        let (order, group) = (column(&series.order, "order"), column(&series.group, "group"));
        let written = self.file.data.iter().flat_map(|data| &data.columns);
        let written: Vec<&str> = written.map(|(name, _)| &name.text[..]).collect();
        for state in &series.states {
            let name = &state.name;
            // For columns in the model file this was reported when the file was read.
            if self.data.find(&name.text).is_some() && !written.contains(&&name.text[..]) {
                let message = format!("`{}` is both a state and a column of the data", name.text);
                let help =
                    "rename the state, or rename the column: [data] rename = { new = \"...\" }";
                report.error(&self.source, name.span.clone(), message, Some(help.to_owned()));
            }
        }
        (self.series.order, self.series.group) = (order, group);
    }

    /// Determines the order of rows, the sizes of states, and the earlier rows that formulas use.
    pub(super) fn lay_out_series(&mut self, report: &mut Report) {
        self.series.lags = self.named_lags();
        let columns = [(self.series.order, "order"), (self.series.group, "group")];
        let mut is_known = true;
        for (column, what) in columns {
            let Some(column) = column else { continue };
            if let Some(row) = self.data.columns[column].iter().position(|x| x.is_nan()) {
                let number = self.data.number_of(row);
                let name = &self.data.names[column];
                let message = format!(
                    "`{name}`, the {what} of [series], is missing in row {number} of the data"
                );
                self.error_at_cell(row, column, message, None, report);
                is_known = false;
            }
        }
        let cells = |column: usize| &self.data.columns[column][..];
        let rows = self.data.len();
        match Walk::new(rows, self.series.order.map(cells), self.series.group.map(cells)) {
            Ok(walk) => self.series.walk = walk,
            Err(Tie(a, b)) => {
                if let (Some(column), true) = (self.series.order, is_known) {
                    let name = &self.data.names[column];
                    let [one, other] = [a, b].map(|row| self.data.number_of(row));
                    let message = format!(
                        "`{name}` is {} in rows {one} and {other} of the data, so their order is not \
                         defined",
                        self.data.columns[column][b]
                    );
                    let help = self.series.group.is_none().then(|| {
                        "if they belong to different series, set group = \"...\" to the column of series"
                            .to_owned()
                    });
                    self.error_at_cell(b, column, message, help, report);
                }
                self.series.walk = Walk::new(rows, None, None).unwrap_or_default();
            }
        }
        self.measure_states(report);
    }

    /// The size of each state.
    fn measure_states(&mut self, report: &mut Report) {
        let Some(series) = &self.file.series else { return };
        let (mut sizes, mut total) = (Vec::new(), 0);
        for state in &series.states {
            let size = state.size.as_ref().and_then(|size| {
                let value = self.plain_number(size, report)?;
                if value.fract() == 0.0 && (1.0..=MOST_CARRIED as f64).contains(&value) {
                    return Some(value as usize);
                }
                let message = format!(
                    "the size is {value}, but must be a whole number from 1 to {MOST_CARRIED}"
                );
                report.error(&self.source, size.span.clone(), message, None);
                None
            });
            sizes.push(size);
            total += size.unwrap_or(1);
        }
        if total > MOST_CARRIED {
            let message = format!("the states have more than {MOST_CARRIED} numbers");
            report.error(&self.source, series.span.clone(), message, None);
            sizes = vec![None; sizes.len()];
        }
        self.series.sizes = sizes;
    }

    /// The number of values in the states.
    pub(super) fn carried(&self) -> usize {
        self.series.sizes.iter().map(|size| size.unwrap_or(1)).sum()
    }

    /// Is a row measured, rather than skipped at the start of a series?
    pub(super) fn is_measured(&self, walk: &Walk, row: usize) -> bool {
        self.file.series.as_ref().is_none_or(|series| walk.age(row) >= series.skip)
    }

    /// The number of rows in which a column is measured.
    pub(super) fn count_measured(&self, column: usize) -> usize {
        let is_there = |row: &&u32| !self.data.columns[column][**row as usize].is_nan();
        self.measured_rows().iter().filter(is_there).count()
    }

    /// The lags in all formulas, each once.
    fn named_lags(&self) -> Vec<Lag> {
        let file = &self.file;
        let formulas = file.quantities.iter().chain(&file.likelihood).map(|(_, formula)| formula);
        let of_series = file.series.iter().flat_map(|series| series.formulas());
        let formulas = formulas.chain(&file.log_likelihood).chain(of_series);
        let mut lags = Vec::new();
        for formula in formulas {
            each_before(&formula.ast, &mut |call| {
                if let Some(Named { lag, .. }) = self.named(call)
                    && !lags.contains(&lag)
                {
                    lags.push(lag);
                }
            });
        }
        lags
    }

    /// The column and lag of a call of `before`; None if the call is invalid, which is reported when it
    /// is evaluated.
    fn named<'a>(&self, call: &'a Ast) -> Option<Named<'a>> {
        let Kind::Call { arguments, .. } = &call.kind else { return None };
        let Kind::Name(name) = &arguments.first()?.kind else { return None };
        let Some(Meaning::Column(column)) = self.names.find(name) else { return None };
        let back = match arguments.get(1) {
            None => 1.0,
            Some(back) => match self.constant(back, &mut Vec::new()) {
                Plain::Number(back) => back,
                _ => return None,
            },
        };
        let is_whole = back.fract() == 0.0 && (1.0..=1e9).contains(&back);
        let lag = Lag { column, back: back as usize };
        is_whole.then_some(Named { lag, has_otherwise: arguments.len() > 2, call })
    }

    /// The value of a lag at a row; None if there is no such row or its cell is empty.
    pub(super) fn lagged(
        &self,
        walk: &Walk,
        lag: Lag,
        row: usize,
        cell: &dyn Fn(usize, usize) -> f64,
    ) -> Option<f64> {
        let value = cell(walk.back(row, lag.back)?, lag.column);
        (!value.is_nan()).then_some(value)
    }

    /// Sets the columns at earlier rows to their values for a row.
    pub(super) fn enter_lags(
        &self,
        scope: &mut Scope<'_>,
        walk: &Walk,
        row: usize,
        cell: &dyn Fn(usize, usize) -> f64,
    ) {
        scope.lags.clear();
        for &lag in &self.series.lags {
            let value = self.lagged(walk, lag, row, cell);
            let is_there = if value.is_some() { 1.0 } else { 0.0 };
            let value = value.unwrap_or(0.0).into();
            scope.lags.push(Lagged { lag, value, is_there: is_there.into() });
        }
    }

    /// Two columns for each lag: its values, 0 where there is none, and 1 where there is one.
    pub(super) fn lag_columns(&self) -> Vec<Vec<f64>> {
        let cell = |row: usize, column: usize| self.data.columns[column][row];
        let mut columns = Vec::new();
        for &lag in &self.series.lags {
            let lagged = |row: usize| self.lagged(&self.series.walk, lag, row, &cell);
            let values: Vec<Option<f64>> = (0..self.data.len()).map(lagged).collect();
            columns.push(values.iter().map(|value| value.unwrap_or(0.0)).collect());
            columns.push(values.iter().map(|value| f64::from(value.is_some())).collect());
        }
        columns
    }

    /// Reports, for each call, the first row whose earlier row or cell is missing.
    pub(super) fn check_lags(&self, formula: &Formula, rows: &[u32], report: &mut Report) {
        let mut calls = Vec::new();
        self.each_formula(&formula.ast, &mut |ast| {
            each_before(ast, &mut |call| calls.extend(self.named(call)));
        });
        calls.retain(|named| !named.has_otherwise);
        for Named { lag, call, .. } in calls {
            let cell = |row: usize, column: usize| self.data.columns[column][row];
            let walk = &self.series.walk;
            let is_missing = |row: &&u32| self.lagged(walk, lag, **row as usize, &cell).is_none();
            let Some(&row) = rows.iter().find(is_missing) else { continue };
            self.no_such_row(lag, row as usize, call.span.clone(), report);
        }
    }

    fn no_such_row(&self, lag: Lag, row: usize, span: Span, report: &mut Report) {
        let (name, number) = (&self.data.names[lag.column], self.data.number_of(row));
        let walk = &self.series.walk;
        let (message, help) = match walk.back(row, lag.back) {
            Some(before) => (
                format!(
                    "`{name}` is not a number in row {} of the data, which row {number} refers back to",
                    self.data.number_of(before)
                ),
                format!("before({name}, {}, otherwise) gives a value to use instead", lag.back),
            ),
            None => (
                format!(
                    "row {number} of the data has {} before it, but `before` goes back {}",
                    rows_in_words(walk.age(row)),
                    rows_in_words(lag.back)
                ),
                format!(
                    "skip = {} in [series] leaves such rows out of the likelihood; \
                     before({name}, {}, otherwise) gives a value to use instead",
                    lag.back, lag.back
                ),
            ),
        };
        report.error(&self.source, span, message, Some(help));
    }

    /// Reports missing cells that states need.
    pub(super) fn check_series(&self, report: &mut Report) {
        let Some(series) = &self.file.series else { return };
        let walk = &self.series.walk;
        let rows = |wanted: &dyn Fn(usize) -> bool| -> Vec<u32> {
            walk.order.iter().filter(|row| wanted(**row)).map(|row| *row as u32).collect()
        };
        let first = rows(&|row| walk.begins(row));
        let (later, last) = (rows(&|row| !walk.begins(row)), rows(&|row| walk.ends(row)));
        let of_states = series.states.iter();
        let formulas = of_states.flat_map(|state| [(&state.start, &first), (&state.next, &later)]);
        for (formula, rows) in formulas.chain(series.last.iter().map(|formula| (formula, &last))) {
            self.check_present(&self.columns_of(&formula.ast), rows, None, report);
            self.check_lags(formula, rows, report);
        }
    }

    /// Does a formula depend on the states of a series?
    pub(super) fn sees_series(&self, ast: &Ast) -> bool {
        let mut sees = false;
        self.each_meaning(ast, &mut |meaning| sees |= matches!(meaning, Meaning::Carried(_)));
        sees
    }

    /// The columns that states depend on at the same row.
    pub(super) fn columns_of_states(&self) -> Vec<usize> {
        let states = self.file.series.iter().flat_map(|series| &series.states);
        let formulas = states.flat_map(|state| [&state.start, &state.next]);
        formulas.flat_map(|formula| self.columns_of(&formula.ast)).collect()
    }
}

impl Outline {
    /// The other columns needed to walk through rows: order, group, and those that states and lags use.
    pub(super) fn columns_of_series(&self) -> Vec<usize> {
        let mut columns = self.columns_of_states();
        columns.extend(self.series.order.iter().chain(&self.series.group));
        columns.extend(self.series.lags.iter().map(|lag| lag.column));
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

fn rows_in_words(count: usize) -> String {
    match count {
        0 => "no row".to_owned(),
        1 => "one row".to_owned(),
        count => format!("{count} rows"),
    }
}
