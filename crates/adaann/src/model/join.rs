//! Joins tables: looks up the columns of another file by a key that both files have.
//!
//! Tables are joined as text, so cells remain unchanged, and a run keeps its data in one file.

use super::asked::{Asked, Shown};
use super::cells::{cell_text, cells, delimiter, rows};
use super::diagnostic::{Place, Report, Source};
use super::evaluate::nearest;
use super::file::Name;
use std::collections::HashMap;

/// Maximum number of missing keys that are reported one by one.
const MOST_MISSING: usize = 5;

/// A file as rows of cells.
struct Sheet<'s> {
    source: &'s Source,
    delimiter: u8,
    /// Each with its offset; the first row has the names.
    rows: Vec<(usize, &'s str)>,
    shown: Shown,
}

impl<'s> Sheet<'s> {
    fn new(source: &'s Source, asked: &Asked<'_>) -> Self {
        let rows: Vec<_> = rows(&source.text).collect();
        let delimiter = rows.first().map_or(b',', |(_, header)| delimiter(header));
        let mut sheet = Self { source, delimiter, rows, shown: Shown::default() };
        if let [_, (_, first), ..] = sheet.rows[..] {
            let row = cells(first, delimiter).map(|cell| &first[cell]);
            sheet.shown = asked.shown(&sheet.cells(0), row);
        }
        sheet
    }

    fn cells(&self, row: usize) -> Vec<String> {
        let line = self.rows[row].1;
        cells(line, self.delimiter).map(|cell| cell_text(&line[cell])).collect()
    }

    /// The column of a key; reports a missing column.
    fn column(&self, model: &Source, by: &Name, report: &mut Report) -> Option<usize> {
        let names = if self.rows.is_empty() { Vec::new() } else { self.cells(0) };
        let found = names.iter().position(|name| *name == by.text);
        if found.is_none() {
            let message = format!("{} has no column `{}`", self.source.name, by.text);
            let help = nearest(&by.text, names.iter().map(String::as_str))
                .unwrap_or_else(|| format!("its columns are {}", names.join(", ")));
            report.error(model, by.span.clone(), message, self.shown.names.then_some(help));
        }
        found
    }

    /// Reports a mistake in a key; `what` completes the message.
    fn error(&self, (row, column): (usize, usize), key: &str, what: &str, report: &mut Report) {
        let (start, line) = self.rows[row];
        let cell = cells(line, self.delimiter).nth(column).unwrap_or(0..line.len());
        let span = start + cell.start..start + cell.end;
        let place = Place::of(&self.source.text, span.clone());
        let (found, place) = match self.shown.rows {
            true => (self.cells(row).get(column).cloned().unwrap_or_default(), place),
            false => ("a key".to_owned(), place.unseen()),
        };
        let message = format!("`{key}` is {found} in row {row}{what}");
        report.error_at(self.source, (span.start, place), message, None);
    }
}

/// A key in the form in which it is compared: 1, 1.0 and 01 are equal.
fn key(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => (number + 0.0).to_string(),
        _ => cell.to_owned(),
    }
}

/// The rows of `main`, each with the columns of `other` for its key; None if there is a mistake.
pub(super) fn join(
    asked: &Asked<'_>,
    model: &Source,
    [main, other]: [&Source; 2],
    by: &Name,
    report: &mut Report,
) -> Option<String> {
    let (left, right) = (Sheet::new(main, asked), Sheet::new(other, asked));
    let places = (left.column(model, by, report), right.column(model, by, report));
    let (Some(left_key), Some(right_key)) = places else { return None };
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut is_fine = true;
    for row in 1..right.rows.len() {
        let cell = right.cells(row).get(right_key).cloned().unwrap_or_default();
        if let Some(first) = known.insert(key(&cell), row) {
            let what = format!(", the same as in row {first}");
            right.error((row, right_key), &by.text, &what, report);
            is_fine = false;
            break;
        }
    }
    let kept = |cells: Vec<String>| -> Vec<String> {
        let others = cells.into_iter().enumerate().filter(|(i, _)| *i != right_key);
        others.map(|(_, cell)| cell).collect()
    };
    let names = left.cells(0);
    if let Some(twice) = kept(right.cells(0)).into_iter().find(|name| names.contains(name)) {
        let twice =
            if asked.names(&twice) { format!("`{twice}`") } else { "of the same name".to_owned() };
        let message = format!("{} and {} both have a column {twice}", main.name, other.name);
        let help = "rename it in one of the files".to_owned();
        report.error(model, by.span.clone(), message, Some(help));
        return None;
    }
    let separator = left.delimiter as char;
    let mut text = String::with_capacity(main.text.len() + other.text.len());
    let mut missing = 0;
    for (row, (_, line)) in left.rows.iter().enumerate() {
        let found = match row {
            0 => Some(0),
            _ => {
                let cell = left.cells(row).get(left_key).cloned().unwrap_or_default();
                let found = known.get(&key(&cell)).copied();
                if found.is_none() {
                    missing += 1;
                    if missing <= MOST_MISSING {
                        let what = format!(", which {} does not have", other.name);
                        left.error((row, left_key), &by.text, &what, report);
                    }
                }
                found
            }
        };
        let Some(found) = found else { continue };
        text.push_str(line);
        for cell in kept(right.cells(found)) {
            text.push(separator);
            text.push_str(&quoted(cell, separator));
        }
        text.push('\n');
    }
    if missing > MOST_MISSING {
        let message =
            format!("{} more rows have keys that do not occur there", missing - MOST_MISSING);
        report.error(model, by.span.clone(), message, None);
    }
    (is_fine && missing == 0).then_some(text)
}

/// Quotes a cell if it contains the delimiter.
fn quoted(cell: String, separator: char) -> String {
    if cell.contains([separator, '"']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(main: &str, other: &str) -> (Option<String>, String) {
        let model = Source::new("m.toml", "by = \"id\"");
        let (main, other) = (Source::new("visits.csv", main), Source::new("people.csv", other));
        let mut report = Report::default();
        let by = Name { text: "id".to_owned(), span: 5..9 };
        let asked = Asked::by_the_user();
        let text = join(&asked, &model, [&main, &other], &by, &mut report);
        (text, report.into_result().err().map_or(String::new(), |faults| faults.to_string()))
    }

    #[test]
    fn columns_are_looked_up() {
        let (text, said) =
            joined("id,y\n2,0.5\n1,0.7\n2.0,0.9\n", "age;id;town\n30;1;\"A, B\"\n40;02;C\n");
        let expected = "id,y,age,town\n2,0.5,40,C\n1,0.7,30,\"A, B\"\n2.0,0.9,40,C\n";
        assert_eq!(text.as_deref(), Some(expected), "{said}");
    }

    #[test]
    fn keys_that_are_missing_or_double_are_named() {
        for (main, other, words) in [
            ("id,y\n7,1\n", "id,age\n1,2\n", "`id` is 7 in row 1, which people.csv does not have"),
            ("id,y\n1,1\n", "id,age\n1,2\n1,3\n", "`id` is 1 in row 2, the same as in row 1"),
            ("no,y\n1,1\n", "id,age\n1,2\n", "visits.csv has no column `id`"),
            ("id,y\n1,1\n", "", "people.csv has no column `id`"),
            ("id,y\n1,1\n", "id,y\n1,2\n", "both have a column `y`"),
        ] {
            let (text, said) = joined(main, other);
            assert!(text.is_none() && said.contains(words), "{main:?} {other:?}: {said}");
        }
    }
}
