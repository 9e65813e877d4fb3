//! The data of a model: columns of numbers, from a CSV file or written in the model file.

use super::diagnostic::{Report, Source};
use super::expression::Span;

/// Ragged rows that are listed one by one.
const MOST_RAGGED: usize = 5;

/// Named columns of equal length; NaN where a number is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct Data {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Vec<f64>>,
    /// Of each column, the first cell that is neither a number nor empty.
    strange: Vec<Option<usize>>,
    /// The number of each row where it was given, from 1.
    numbers: Vec<usize>,
    /// The file that it was read from.
    file: Option<Csv>,
}

#[derive(Debug, Clone)]
struct Csv {
    source: Source,
    delimiter: u8,
    /// Where each row begins.
    starts: Vec<usize>,
}

impl Data {
    /// Columns that are given as they are.
    pub(super) fn new(names: Vec<String>, columns: Vec<Vec<f64>>) -> Self {
        let strange = vec![None; names.len()];
        let numbers = (1..=columns.first().map_or(0, Vec::len)).collect();
        Self { names, columns, strange, numbers, file: None }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The column of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Reads a CSV file: a row of names, then numbers. Cells that are empty, NA or NaN are missing.
    /// A column of words is no error until it is used.
    pub(super) fn read(source: &Source, report: &mut Report) -> Option<Self> {
        let text = &source.text[..];
        let mut lines = rows(text);
        let Some((start, header)) = lines.next() else {
            report.error(source, 0..0, "the file is empty", Some(NEEDED.to_owned()));
            return None;
        };
        let delimiter = delimiter(header);
        let names: Vec<String> =
            cells(header, delimiter).map(|cell| cell_text(&header[cell])).collect();
        if names.iter().all(|name| name.parse::<f64>().is_ok()) {
            let message = "the first row must name the columns";
            report.error(source, start..start + header.len(), message, Some(NEEDED.to_owned()));
            return None;
        }
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                let cell = cells(header, delimiter).nth(i).unwrap_or(0..0);
                let span = start + cell.start..start + cell.end;
                report.error(source, span, format!("two columns are called `{name}`"), None);
            }
        }
        let mut columns = vec![Vec::new(); names.len()];
        let mut strange = vec![None; names.len()];
        let (mut starts, mut ragged) = (Vec::new(), 0);
        for (start, line) in lines {
            let found = cells(line, delimiter).count();
            if found != names.len() {
                ragged += 1;
                if ragged <= MOST_RAGGED {
                    let expected = names.len();
                    let message = format!("{found} cells in a row, but {expected} columns");
                    report.error(source, start..start + line.len(), message, None);
                }
                continue;
            }
            for (column, cell) in cells(line, delimiter).enumerate() {
                let number = number(&line[cell]);
                if number.is_none() && strange[column].is_none() {
                    strange[column] = Some(starts.len());
                }
                columns[column].push(number.unwrap_or(f64::NAN));
            }
            starts.push(start);
        }
        if ragged > MOST_RAGGED {
            let message =
                format!("{} more rows have too few or too many cells", ragged - MOST_RAGGED);
            report.error(source, 0..0, message, None);
        }
        if starts.is_empty() && ragged == 0 {
            let message = "the file has names of columns, but no rows";
            report.error(source, start..start + header.len(), message, Some(NEEDED.to_owned()));
        }
        let numbers = (1..=starts.len()).collect();
        let file = Some(Csv { source: source.clone(), delimiter, starts });
        (ragged == 0).then_some(Self { names, columns, strange, numbers, file })
    }

    /// One more column; that of a row of a file has no cell there.
    pub(super) fn add(&mut self, name: String, values: Vec<f64>) {
        self.names.push(name);
        self.columns.push(values);
        self.strange.push(None);
    }

    /// The number of a row where it was given, from 1.
    pub(super) fn number_of(&self, row: usize) -> usize {
        self.numbers[row]
    }

    /// Where a cell is written, if it is in a file.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<(&Source, Span)> {
        let file = self.file.as_ref()?;
        let start = *file.starts.get(row)?;
        let (_, line) = rows(&file.source.text[start..]).next()?;
        let cell = cells(line, file.delimiter).nth(column)?;
        Some((&file.source, start + cell.start..start + cell.end))
    }

    /// The text of the file, if it is from one.
    pub(super) fn text(&self) -> Option<&str> {
        self.file.as_ref().map(|file| &file.source.text[..])
    }

    /// The first cell of a column that is neither a number nor empty.
    pub(super) fn strange(&self, column: usize) -> Option<usize> {
        self.strange[column]
    }

    /// The same rows in the order of a column.
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
            file: self.file.as_ref().map(|file| Csv {
                starts: order.iter().map(|&row| file.starts[row]).collect(),
                ..file.clone()
            }),
        }
    }
}

const NEEDED: &str = "a data file has a row with the names of the columns, then rows of numbers";

/// Rows that are not empty, with the place where they begin.
pub(super) fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let from = start;
        start += line.len();
        let mark =
            if from == 0 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let row = line[mark..].trim_end_matches(['\n', '\r']);
        (!row.trim().is_empty()).then_some((from + mark, row))
    })
}

/// A comma; or a semicolon or tab if the names are separated by one and by no comma.
pub(super) fn delimiter(header: &str) -> u8 {
    if header.contains(',') {
        b','
    } else {
        [b';', b'\t'].into_iter().find(|&d| header.as_bytes().contains(&d)).unwrap_or(b',')
    }
}

/// The cells of a row; a delimiter between quotes belongs to its cell.
pub(super) fn cells(row: &str, delimiter: u8) -> impl Iterator<Item = Span> {
    let (bytes, mut from) = (row.as_bytes(), Some(0));
    std::iter::from_fn(move || {
        let start = from?;
        let mut is_quoted = false;
        let end = (start..bytes.len()).find(|&at| {
            is_quoted ^= bytes[at] == b'"';
            bytes[at] == delimiter && !is_quoted
        });
        from = end.map(|end| end + 1);
        Some(start..end.unwrap_or(bytes.len()))
    })
}

/// A cell without space and quotes around it.
pub(super) fn cell_text(cell: &str) -> String {
    let cell = cell.trim();
    match cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
        Some(inside) => inside.replace("\"\"", "\""),
        None => cell.to_owned(),
    }
}

/// The number in a cell; NaN if it is missing, none if it is something else.
pub(super) fn number(cell: &str) -> Option<f64> {
    match cell_text(cell).trim() {
        "" | "NA" | "NaN" | "nan" | "." => Some(f64::NAN),
        text => text.parse().ok().filter(|x: &f64| x.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "f.csv".into(), text: text.into() }
    }

    fn read(text: &str) -> (Option<Data>, String) {
        let mut report = Report::default();
        let data = Data::read(&source(text), &mut report);
        (data, report.into_result().err().map_or(String::new(), |faults| faults.to_string()))
    }

    #[test]
    fn columns_come_back() {
        for text in
            ["x,y\n1,2\n3,\n", "\u{feff}x; y\r\n1;2\r\n\r\n3;NA\r\n", "x\t\"y\"\n1\t\"2\"\n3\t."]
        {
            let (data, faults) = read(text);
            let data = data.unwrap_or_else(|| panic!("{faults}"));
            assert_eq!(data.names, ["x", "y"]);
            assert_eq!(data.columns[0], [1.0, 3.0]);
            assert!(data.columns[1][0] == 2.0 && data.columns[1][1].is_nan());
        }
    }

    #[test]
    fn words_are_found_again_where_they_stand() {
        let (data, _) = read("name,x\n\"a, b\",1\nc,two\n");
        let data = data.expect("a table");
        assert_eq!((data.strange(0), data.strange(1)), (Some(0), Some(1)));
        let (source, span) = data.cell(1, 1).expect("a cell of a file");
        assert_eq!(&source.text[span], "two");
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
            let (_, said) = read(text);
            assert!(said.contains(message), "{text:?}: {said}");
        }
    }
}
