//! The data of a model: columns of numbers, from a CSV file or written in the model file.

use super::asked::Shown;
use super::cells::{cells, rows};
use super::diagnostic::{Place, Report, Source};
use super::expression::Span;
use std::sync::Arc;

/// Named columns of equal length; NaN where a number is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct Data {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Vec<f64>>,
    /// For each column, the first cell that is neither a number nor empty.
    strange: Vec<Option<usize>>,
    /// The number of each row in its source, from 1.
    numbers: Vec<u32>,
    /// The file that the columns were read from, if any.
    file: Option<Arc<Csv>>,
}

/// The part of a file that is kept: the columns that the model needs, in the lines where they stood.
#[derive(Debug)]
pub(super) struct Csv {
    pub(super) source: Source,
    pub(super) delimiter: u8,
    /// Where each row begins in the text.
    pub(super) starts: Vec<usize>,
    /// For each row, where its cells begin in the line of the file, in characters from 1. Empty if the text is the
    /// whole file.
    pub(super) places: Vec<u32>,
    /// Names of the other columns, if messages may show them.
    pub(super) others: Vec<String>,
    pub(super) shown: Shown,
}

impl Data {
    /// Columns given by their numbers.
    pub(super) fn new(names: Vec<String>, columns: Vec<Vec<f64>>) -> Self {
        let strange = vec![None; names.len()];
        let numbers = numbers(columns.first().map_or(0, Vec::len));
        Self { names, columns, strange, numbers, file: None }
    }

    /// Columns read from a file.
    pub(super) fn of_file(
        names: Vec<String>,
        columns: Vec<Vec<f64>>,
        strange: Vec<Option<usize>>,
        csv: Arc<Csv>,
    ) -> Self {
        let numbers = numbers(csv.starts.len());
        Self { names, columns, strange, numbers, file: Some(csv) }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The column with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Adds a column, which has no cells in the file.
    pub(super) fn add(&mut self, name: String, values: Vec<f64>) {
        self.names.push(name);
        self.columns.push(values);
        self.strange.push(None);
    }

    /// The number of a row in its source, from 1.
    pub(super) fn number_of(&self, row: usize) -> usize {
        self.numbers[row] as usize
    }

    /// The names of columns that messages may show: all names of a file if it is known to be a table.
    pub(super) fn shown_names(&self) -> Vec<&str> {
        let is_shown = self.file.as_ref().is_none_or(|file| file.shown.names);
        let own = self.names.iter().filter(|_| is_shown);
        own.chain(self.others()).map(String::as_str).collect()
    }

    /// The columns of the file that are not kept, if messages may show them.
    pub(super) fn others(&self) -> &[String] {
        self.file.as_ref().map_or(&[], |file| &file.others)
    }

    /// A help text that lists the columns, if messages may show them.
    pub(super) fn columns_in_words(&self) -> Option<String> {
        let names = self.shown_names();
        (!names.is_empty()).then(|| format!("its columns are {}", names.join(", ")))
    }

    /// Reports a mistake at a cell of a file; returns false if the cell is not in a file.
    pub(super) fn error_at(
        &self,
        (row, column): (usize, usize),
        message: &str,
        help: Option<&str>,
        report: &mut Report,
    ) -> bool {
        let Some((file, line, span)) = self.cell(row, column) else { return false };
        let start = span.start;
        let mut place = Place::of(&file.source.text, span);
        if let Some(&column) = file.places.get(line * self.width() + column) {
            place.column = column as usize;
        }
        let place = if file.shown.rows { place } else { place.unseen() };
        report.error_at(&file.source, (start, place), message, help.map(str::to_owned));
        true
    }

    /// Where a cell is written, if it is in a file: its line in the kept text, and its span.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<(&Csv, usize, Span)> {
        let file = self.file.as_ref()?;
        let row = self.numbers.get(row)?.checked_sub(1)? as usize;
        let start = *file.starts.get(row)?;
        let (_, line) = rows(&file.source.text[start..]).next()?;
        let cell = cells(line, file.delimiter).nth(column)?;
        Some((file, row, start + cell.start..start + cell.end))
    }

    /// The number of columns that come from the file.
    fn width(&self) -> usize {
        let file = self.file.as_ref();
        file.map_or(0, |file| file.places.len() / file.starts.len().max(1))
    }

    /// The kept text of the file, if the data is from one.
    pub(super) fn text(&self) -> Option<&Arc<str>> {
        self.file.as_ref().map(|file| &file.source.text)
    }

    /// The first cell of a column that is neither a number nor empty.
    pub(super) fn strange(&self, column: usize) -> Option<usize> {
        self.strange[column]
    }

    /// The same rows, sorted by a column.
    pub(super) fn sorted_by(&self, column: usize) -> Self {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.columns[column][a].total_cmp(&self.columns[column][b]));
        let place = |row: usize| order.iter().position(|&old| old == row);
        Self {
            names: self.names.clone(),
            columns: self
                .columns
                .iter()
                .map(|values| order.iter().map(|&row| values[row]).collect())
                .collect(),
            strange: self.strange.iter().map(|row| row.and_then(place)).collect(),
            numbers: order.iter().map(|&row| self.numbers[row]).collect(),
            file: self.file.clone(),
        }
    }
}

/// The numbers 1, 2, ... of the rows.
fn numbers(rows: usize) -> Vec<u32> {
    (1..).take(rows).collect()
}
