//! Constants that are tables of numbers in separate files.

use super::cells::{cells, delimiter, number, rows};
use super::diagnostic::{Place as At, Report, Source};
use super::expression::Span;
use super::file::{Constant, File};
use super::load::{Place, text_of};
use super::value::Plain;
use std::path::Path;
use std::sync::Arc;

/// Maximum size of a table: formulas of all draws and rows contain all of its numbers.
const MOST: usize = 100_000;

/// A table that was read.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The index of the constant.
    pub(super) constant: usize,
    /// The text of the file.
    pub(super) text: Arc<str>,
    pub(super) numbers: Plain,
}

impl Table {
    /// Loads the constants that are in separate files, relative to `folder` or copied beside the data.
    pub(super) fn load_all(
        file: &File,
        source: &Source,
        place: Place<'_>,
        folder: &Path,
        report: &mut Report,
    ) -> Vec<Self> {
        let mut tables = Vec::new();
        for (constant, (name, value)) in file.constants.iter().enumerate() {
            let Constant::File(file) = value else { continue };
            let path = place.input(folder, name, file);
            let Some(text) = text_of(&path, file, place, source, report) else { continue };
            let own = Source::new(file.text.clone(), text);
            if let Some(numbers) = read(&own, report) {
                tables.push(Self { constant, text: own.text, numbers });
            }
        }
        tables
    }
}

/// A vector if all rows have one number, otherwise a matrix. A first row that is not all numbers is a header.
fn read(source: &Source, report: &mut Report) -> Option<Plain> {
    let mut lines = rows(&source.text).peekable();
    let Some(&(_, first)) = lines.peek() else {
        report.error(source, 0..0, "the file is empty", None);
        return None;
    };
    let delimiter = delimiter(first);
    let given = |cell: &str| number(cell).filter(|x| !x.is_nan());
    if !cells(first, delimiter).all(|cell| given(&first[cell]).is_some()) {
        lines.next();
    }
    let mut table: Vec<Vec<f64>> = Vec::new();
    for (start, line) in lines {
        let mut row = Vec::new();
        for cell in cells(line, delimiter) {
            let Some(x) = given(&line[cell.clone()]) else {
                let span = start + cell.start..start + cell.end;
                error_at(source, span, "expected a number", report);
                return None;
            };
            row.push(x);
        }
        let width = table.first().map_or(row.len(), Vec::len);
        if row.len() != width {
            let message = format!("{} numbers in a row, but {width} in the first", row.len());
            error_at(source, start..start + line.len(), &message, report);
            return None;
        }
        table.push(row);
        if table.len() * width > MOST {
            report.error(source, 0..0, format!("the file has more than {MOST} numbers"), None);
            return None;
        }
    }
    if table.is_empty() {
        report.error(source, 0..0, "the file has names, but no rows of numbers", None);
        return None;
    }
    let is_vector = table[0].len() == 1;
    Some(if is_vector { Plain::Vector(table.concat()) } else { Plain::Matrix(table) })
}

/// Reports a mistake at a place, without the text there: the model names no columns of the table, so it may be
/// any file.
fn error_at(source: &Source, span: Span, message: &str, report: &mut Report) {
    let start = span.start;
    let place = At::of(&source.text, span).unseen();
    report.error_at(source, (start, place), message, None);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Result<Plain, String> {
        let mut report = Report::default();
        let found = read(&Source::new("d.csv", text), &mut report);
        found.ok_or_else(|| report.into_result().expect_err("what is wrong").to_string())
    }

    #[test]
    fn vectors_and_matrices_with_and_without_names() {
        let matrix = Plain::Matrix(vec![vec![0.0, 1.5], vec![-2.0, 3e4]]);
        for text in ["0,1.5\n-2,3e4\n", "a,b\n0,1.5\n-2,3e4", "0;1.5\r\n\r\n-2;3e4\r\n"] {
            assert_eq!(said(text), Ok(matrix.clone()), "{text}");
        }
        assert_eq!(said("x\n1\n2\n"), Ok(Plain::Vector(vec![1.0, 2.0])));
        assert_eq!(said("7\n"), Ok(Plain::Vector(vec![7.0])));
    }

    #[test]
    fn what_is_no_table_of_numbers_is_said() {
        for (text, message) in [
            ("", "the file is empty"),
            ("a,b\n", "names, but no rows of numbers"),
            ("1,2\n3\n", "1 numbers in a row, but 2 in the first"),
            ("1,2\n3,x\n", "expected a number"),
            ("1,2\n3,\n", "expected a number"),
        ] {
            let said = said(text).expect_err("it is no table");
            assert!(said.contains(message), "{text:?}: {said}");
        }
        let long = "1\n".repeat(MOST + 1);
        assert!(said(&long).expect_err("it is too long").contains("more than 100000 numbers"));
    }
}
