//! Reads a data file row by row, and keeps only what its model needs.

use super::asked::{Asked, Shown, names_of};
use super::cells::{cells, delimiter, number};
use super::data::{Csv, Data};
use super::diagnostic::{Place, Report, Source};
use super::expression::Span;
use std::io::{self, BufRead, Error, ErrorKind, Read};
use std::sync::Arc;

const NEEDED: &str = "a data file needs a row of column names, then rows of numbers";

/// Maximum number of rows of the wrong length that are reported one by one.
const MOST_RAGGED: usize = 5;

/// Maximum length of a line in bytes, so that a file without line ends is not read completely.
const LONGEST_LINE: u64 = 1 << 26;

/// The kept part of a file while it is read.
struct Scan<'a, 'm> {
    source: Source,
    asked: &'a Asked<'m>,
    delimiter: u8,
    /// All names in the header.
    names: Vec<String>,
    /// The columns to keep.
    kept: Vec<usize>,
    shown: Shown,
    /// The lines of the file, each with the cells of these columns; the whole text if all columns are kept.
    text: String,
    columns: Vec<Vec<f64>>,
    strange: Vec<Option<usize>>,
    starts: Vec<usize>,
    /// For each cell, its position in the line of the file, in characters from 1; empty if the text is the whole
    /// file.
    places: Vec<u32>,
    rows: usize,
    ragged: usize,
}

/// A line of the file that is not blank.
struct Line<'l> {
    /// From 1.
    number: usize,
    /// Its offset in the file.
    start: usize,
    row: &'l str,
}

/// Reads a table from a text in memory.
pub(super) fn read(source: &Source, asked: &Asked<'_>, report: &mut Report) -> Option<Data> {
    let read = scan(&source.name, source.text.as_bytes(), u64::MAX, asked, report);
    read.unwrap_or_else(|error| {
        report.error_of_file(source, error.to_string(), None);
        None
    })
}

/// Reads a table: a row of names, then numbers. Cells that are empty, NA or NaN are missing. A column of words is
/// an error only if it is used.
///
/// # Errors If the file cannot be read completely, is longer than `most` bytes, or is not text.
pub(super) fn scan(
    name: &str,
    mut file: impl BufRead,
    most: u64,
    asked: &Asked<'_>,
    report: &mut Report,
) -> io::Result<Option<Data>> {
    let mut scan = Scan {
        source: Source::new(name, ""),
        asked,
        delimiter: b',',
        names: Vec::new(),
        kept: Vec::new(),
        shown: Shown::default(),
        text: String::new(),
        columns: Vec::new(),
        strange: Vec::new(),
        starts: Vec::new(),
        places: Vec::new(),
        rows: 0,
        ragged: 0,
    };
    let (mut bytes, mut start, mut header) = (Vec::new(), 0, None);
    for number in 1.. {
        bytes.clear();
        let len = file.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes)?;
        if len == 0 {
            break;
        }
        if len as u64 > LONGEST_LINE {
            let most = LONGEST_LINE >> 20;
            return Err(Error::other(format!("its line {number} has more than {most} MiB")));
        }
        if (start + len) as u64 > most {
            return Err(Error::other(format!("it has more than {} MiB", most >> 20)));
        }
        let text = str::from_utf8(&bytes).map_err(|_| Error::from(ErrorKind::InvalidData))?;
        let mark =
            if start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let row = text[mark..].trim_end_matches(['\n', '\r']);
        let line = Line { number, start: start + mark, row };
        start += len;
        if row.trim().is_empty() {
            scan.keep_empty(text);
        } else if header.is_none() {
            if !scan.header(&line, report) {
                return Ok(None);
            }
            header = Some((line.number, line.start));
            scan.keep_row(text, row);
        } else {
            scan.row(&line, text, report);
        }
    }
    let Some(header) = header else {
        let line = Line { number: 1, start: 0, row: "" };
        scan.error(&line, 0..0, "the file is empty", Some(NEEDED), report);
        return Ok(None);
    };
    Ok(scan.end(header, report))
}

impl Scan<'_, '_> {
    /// Reads the names and selects the columns; returns false if these are not valid names.
    fn header(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let row = line.row;
        self.delimiter = delimiter(row);
        let spans: Vec<Span> = cells(row, self.delimiter).collect();
        self.names = names_of(spans.iter().map(|cell| &row[cell.clone()]));
        if self.names.iter().all(|name| name.parse::<f64>().is_ok()) {
            let message = "the first row must name the columns";
            self.error(line, 0..row.len(), message, Some(NEEDED), report);
            return false;
        }
        for (i, name) in self.names.iter().enumerate() {
            if self.names[..i].contains(name) {
                let message = match self.asked.names(name) {
                    true => format!("two columns are called `{name}`"),
                    false => "two columns have the same name".to_owned(),
                };
                self.error(line, spans[i].clone(), &message, None, report);
            }
        }
        self.kept = (0..self.names.len()).filter(|&i| self.asked.keeps(&self.names[i])).collect();
        // If no column is needed, there are still rows; and a single column would not show its delimiter.
        let fewest = if self.delimiter == b',' { 1 } else { 2 };
        for i in 0..self.names.len() {
            if self.kept.len() < fewest && !self.kept.contains(&i) {
                self.kept.push(i);
            }
        }
        self.kept.sort_unstable();
        self.columns = vec![Vec::new(); self.kept.len()];
        self.strange = vec![None; self.kept.len()];
        true
    }

    fn row(&mut self, line: &Line<'_>, text: &str, report: &mut Report) {
        let (row, width) = (line.row, self.names.len());
        if self.rows + self.ragged == 0 {
            let cells = cells(row, self.delimiter).map(|cell| &row[cell]);
            self.shown = self.asked.shown(&self.names, cells);
        }
        let found = cells(row, self.delimiter).count();
        if found != width {
            self.ragged += 1;
            if self.ragged <= MOST_RAGGED {
                let message = format!("{found} cells in a row, but {width} columns");
                self.error(line, 0..row.len(), &message, None, report);
            }
            self.keep_empty(text);
            return;
        }
        self.starts.push(self.text.len());
        let mut kept = self.kept.iter().copied().enumerate().peekable();
        for (i, cell) in cells(row, self.delimiter).enumerate() {
            let Some((column, _)) = kept.next_if(|(_, kept)| *kept == i) else { continue };
            let number = number(&row[cell.clone()]);
            if number.is_none() && self.strange[column].is_none() {
                self.strange[column] = Some(self.rows);
            }
            self.columns[column].push(number.unwrap_or(f64::NAN));
            if self.kept.len() < width {
                self.places.push(1 + row[..cell.start].chars().count() as u32);
            }
        }
        self.rows += 1;
        self.keep_row(text, row);
    }

    /// Keeps the selected cells of a line.
    fn keep_row(&mut self, text: &str, row: &str) {
        if self.kept.len() == self.names.len() {
            return self.text.push_str(text);
        }
        let (mut kept, start) = (self.kept.iter().copied().peekable(), self.text.len());
        for (i, cell) in cells(row, self.delimiter).enumerate() {
            if kept.next_if_eq(&i).is_some() {
                self.text.push_str(&row[cell]);
                let is_last = kept.peek().is_none();
                self.text.push(if is_last { '\n' } else { char::from(self.delimiter) });
            }
        }
        // A blank line would not count as a row, but a row of missing cells does.
        if self.text[start..].trim().is_empty() {
            self.text.insert_str(start, "NA");
        }
    }

    /// Keeps an empty line for a line without numbers, so that all lines keep their positions.
    fn keep_empty(&mut self, text: &str) {
        let is_whole = self.kept.len() == self.names.len();
        self.text.push_str(if is_whole { text } else { "\n" });
    }

    /// Reports a mistake at a span of a line.
    fn error(
        &self,
        line: &Line<'_>,
        span: Span,
        message: &str,
        help: Option<&str>,
        report: &mut Report,
    ) {
        let start = line.start + span.start;
        let place = Place { line: line.number, ..Place::of(line.row, span) };
        let place = if self.shown.rows { place } else { place.unseen() };
        report.error_at(&self.source, (start, place), message, help.map(str::to_owned));
    }

    fn end(self, header: (usize, usize), report: &mut Report) -> Option<Data> {
        if self.ragged > MOST_RAGGED {
            let message =
                format!("{} more rows have too few or too many cells", self.ragged - MOST_RAGGED);
            report.error_of_file(&self.source, message, None);
        }
        if self.rows + self.ragged == 0 {
            let line = Line { number: header.0, start: header.1, row: "" };
            let message = "the file has column names, but no rows";
            self.error(&line, 0..0, message, Some(NEEDED), report);
        }
        let is_kept = |i: &usize| self.kept.contains(i);
        let names = self.kept.iter().map(|&i| self.names[i].clone()).collect();
        let others = (0..self.names.len()).filter(|i| !is_kept(i) && self.shown.names);
        let csv = Csv {
            source: Source::new(self.source.name, self.text),
            delimiter: self.delimiter,
            starts: self.starts,
            places: self.places,
            others: others.map(|i| self.names[i].clone()).collect(),
            shown: self.shown,
        };
        let found = Data::of_file(names, self.columns, self.strange, Arc::new(csv));
        (self.ragged == 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::File;

    /// What a model with this text keeps of a table, and the messages.
    fn read(model: &str, table: &str) -> (Option<Data>, String) {
        let model = Source::new("m.toml", model);
        let (mut report, file) = (Report::default(), File::default());
        let asked = Asked::of(&model, &file);
        let data = scan("d.csv", table.as_bytes(), 1 << 20, &asked, &mut report).unwrap();
        (data, report.into_result().err().map_or(String::new(), |said| said.to_string()))
    }

    #[test]
    fn what_nobody_names_is_not_kept() {
        let table = "\u{feff}a,x,\"b, c\",y\r\n\r\nq,1,2,3\r\nr,4,5,six\r\n";
        let (data, said) = read("y = \"normal(x, 1)\"", table);
        let data = data.unwrap_or_else(|| panic!("{said}"));
        assert_eq!(data.names, ["x", "y"]);
        assert_eq!(data.columns[0], [1.0, 4.0]);
        assert_eq!(data.text().unwrap().as_ref(), "x,y\n\n1,3\n4,six\n");
        assert_eq!(data.others(), ["a", "b, c"]);
        // The position in the file, not in the kept text.
        let mut report = Report::default();
        assert!(data.error_at((1, 1), "no number", None, &mut report));
        let said = report.into_result().unwrap_err().to_string();
        assert!(said.contains("d.csv:4:7") && said.contains("| 4,six"), "{said}");
        // Read it again from the kept text, as from a run folder.
        let (again, _) = read("y = \"normal(x, 1)\"", data.text().unwrap());
        let again = again.unwrap();
        assert_eq!((again.text(), &again.names), (data.text(), &data.names));
    }

    #[test]
    fn a_file_without_unnamed_columns_stays_as_it_is() {
        for table in ["x;y\n1;2\n\n3;4", "\u{feff}y,x\r\n1,2\r\n", "\n\nx\ty\n1\t2\n"] {
            let (data, said) = read("y = x", table);
            assert_eq!(data.expect(&said).text().unwrap().as_ref(), table);
        }
        // An escape sequence may name any column, and a single column would show no delimiter.
        for (model, table) in [("\"\\u0061\"", "a,b\n1,2\n"), ("x", "x;z\n1;2\n")] {
            let (data, said) = read(model, table);
            assert_eq!(data.expect(&said).names.len(), 2);
        }
    }

    #[test]
    fn what_is_not_known_to_be_a_table_is_not_shown() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\na:x:1:1:b,c:/:/bin/sh\n";
        let (data, said) = read("root = \"normal(0, 1)\"", passwd);
        assert!(data.is_none(), "{said}");
        let place = "error: 2 cells in a row, but 1 columns\n  --> d.csv:2:1";
        assert_eq!(said, place);
        let (_, said) = read("y = x", "x,y\n1,2\nragged\n");
        assert!(said.contains("| ragged"), "{said}");
    }

    #[test]
    fn what_never_ends_is_not_read_to_the_end() {
        let model = Source::new("m.toml", "y");
        let (asked, mut report) = (Asked::of(&model, &File::default()), Report::default());
        let mut said = |file: &mut dyn BufRead, most| {
            scan("d.csv", file, most, &asked, &mut report).unwrap_err().to_string()
        };
        let endless = || io::BufReader::with_capacity(1 << 20, io::repeat(b'1'));
        assert_eq!(said(&mut endless(), u64::MAX), "its line 1 has more than 64 MiB");
        let lines = "1\n".repeat(1 << 20);
        let mut lines = io::Cursor::new(format!("y\n{lines}"));
        assert_eq!(said(&mut lines, 1 << 20), "it has more than 1 MiB");
    }

    fn source(text: &str) -> Source {
        Source { name: "f.csv".into(), text: text.into() }
    }

    fn read_all(text: &str) -> (Option<Data>, String) {
        let mut report = Report::default();
        let data = super::read(&source(text), &Asked::by_the_user(), &mut report);
        (data, report.into_result().err().map_or(String::new(), |faults| faults.to_string()))
    }

    #[test]
    fn columns_come_back() {
        for text in
            ["x,y\n1,2\n3,\n", "\u{feff}x; y\r\n1;2\r\n\r\n3;NA\r\n", "x\t\"y\"\n1\t\"2\"\n3\t."]
        {
            let (data, faults) = read_all(text);
            let data = data.unwrap_or_else(|| panic!("{faults}"));
            assert_eq!(data.names, ["x", "y"]);
            assert_eq!(data.columns[0], [1.0, 3.0]);
            assert!(data.columns[1][0] == 2.0 && data.columns[1][1].is_nan());
        }
    }

    #[test]
    fn words_are_found_again_where_they_stand() {
        let (data, _) = read_all("name,x\n\"a, b\",1\nc,two\n");
        let data = data.expect("a table");
        assert_eq!((data.strange(0), data.strange(1)), (Some(0), Some(1)));
        let (file, _, span) = data.cell(1, 1).expect("a cell of a file");
        assert_eq!(&file.source.text[span], "two");
        let sorted = data.sorted_by(1);
        assert_eq!(sorted.names, data.names);
    }

    #[test]
    fn what_is_no_table_is_said() {
        for (text, message) in [
            ("", "the file is empty"),
            ("\n \n", "the file is empty"),
            ("1,2\n3,4\n", "the first row must name the columns"),
            ("x,y\n", "no rows"),
            ("x,y\n1,2\n1\n", "1 cells in a row, but 2 columns"),
            ("x,x\n1,2\n", "two columns are called `x`"),
        ] {
            let (_, said) = read_all(text);
            assert!(said.contains(message), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_row_of_missing_numbers_stays_one() {
        for table in ["y,x\n1,2\n,4\n3,5\n", "z\ty\tx\n\t1\t2\n\t\t4\n\t3\t5\n"] {
            let (data, said) = read("y = z", table);
            let data = data.expect(&said);
            let (again, said) = read("y = z", data.text().unwrap());
            let y = |data: &Data| data.columns[data.find("y").unwrap()].clone();
            let (first, again) = (y(&data), y(&again.expect(&said)));
            assert!(first.len() == 3 && first[1].is_nan() && first[2] == 3.0, "{first:?}");
            assert!(again.len() == 3 && again[1].is_nan() && again[2] == 3.0, "{again:?}");
        }
    }
}
