//! Numbers and tables formatted for people.

use crate::text::style::Style;
use adaann_report::Table;
use std::fmt::Write;

/// A share in per cent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A divergence or a bound: in decimals, or with an exponent if a failed fit made it enormous.
pub(crate) fn nats(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e7 {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}

/// A table of the first `most` rows, with a note on the number of others.
pub(crate) fn shortened(header: &[&str], mut rows: Vec<Vec<String>>, most: usize) -> Table {
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    Table {
        header: header.iter().map(|&name| name.to_owned()).collect(),
        rows,
        note: (more > 0).then(|| format!("{more} more in summary.json")),
        ..Table::default()
    }
}

/// Aligns columns: labels to the left, numbers to the right.
pub(crate) fn aligned(table: &Table, style: Style) -> String {
    let all = || table.rows.iter().chain(std::iter::once(&table.header));
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| all().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    let line = |row: &[String]| {
        let mut line = String::from(" ");
        for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match c {
                0 => write!(line, " {cell:<width$}"),
                _ => write!(line, "   {cell:>width$}"),
            }
            .expect("strings grow");
        }
        line.trim_end().to_owned()
    };
    let mut text = String::new();
    if !table.header.is_empty() {
        text += &style.dim(&line(&table.header));
        text.push('\n');
    }
    for row in &table.rows {
        text += &line(row);
        text.push('\n');
    }
    if let Some(note) = &table.note {
        text += &style.dim(&format!("  {note}"));
        text.push('\n');
    }
    text
}

/// A count with separators of thousands.
pub(crate) fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_separated_by_thousands() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1.5".into()], vec!["long".into(), "-10.5".into()]];
        let table = Table { header: vec!["name".into(), "x".into()], rows, ..Table::default() };
        let expected = "  name       x\n  a        1.5\n  long   -10.5\n";
        assert_eq!(aligned(&table, Style::plain()), expected);
    }
}
