//! Splits the text of a table into rows and cells, and parses the numbers in cells.

use super::expression::Span;

/// The rows that are not empty, each with the offset of its beginning.
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

/// The delimiter: a comma, or a semicolon or tab if the header contains one and no comma.
pub(super) fn delimiter(header: &str) -> u8 {
    if header.contains(',') {
        b','
    } else {
        [b';', b'\t'].into_iter().find(|&d| header.as_bytes().contains(&d)).unwrap_or(b',')
    }
}

/// The cells of a row; a delimiter between quotes belongs to the cell.
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

/// The text of a cell without surrounding space and quotes.
pub(super) fn cell_text(cell: &str) -> String {
    let cell = cell.trim();
    match cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
        Some(inside) => inside.replace("\"\"", "\""),
        None => cell.to_owned(),
    }
}

/// The number in a cell: NaN if it is missing, None if the cell contains something else.
pub(super) fn number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    // A number contains no quotes.
    let inside = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell);
    match inside.trim() {
        "" | "NA" | "NaN" | "nan" | "." => Some(f64::NAN),
        text => text.parse().ok().filter(|x: &f64| x.is_finite()),
    }
}
