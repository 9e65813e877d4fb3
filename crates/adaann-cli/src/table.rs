//! The closing table: the same rows for the terminal and for the report.

use crate::summary::{Lost, ModeWeight, Parameter, Seed, SplitShare, Summary};
use adaann_report::Table;
use std::{fmt::Write, io::IsTerminal, path::Path};

/// Parameters, modes or seeds shown; the rest is in `summary.json`.
const MOST_ROWS: usize = 16;

/// Everything the summary says, as tables.
pub(crate) fn tables(summary: &Summary) -> Vec<Table> {
    let mut tables = vec![facts(summary), parameters("parameter", &summary.parameters)];
    if !summary.quantities.is_empty() {
        tables.push(parameters("quantity", &summary.quantities));
    }
    if !summary.modes.is_empty() {
        tables.push(modes(summary));
    }
    if !summary.splits.is_empty() {
        tables.push(splits(summary));
    }
    if !summary.seeds.is_empty() {
        tables.push(seeds(summary));
    }
    tables
}

fn facts(summary: &Summary) -> Table {
    let mut rows = vec![
        vec!["steps".to_owned(), thousands(summary.steps)],
        vec!["updates".to_owned(), thousands(summary.updates)],
        vec!["target evaluations".to_owned(), thousands(summary.target_evaluations)],
        vec!["seconds".to_owned(), format!("{:.2}", summary.seconds)],
        vec![
            "neg-ELBO".to_owned(),
            format!("{} ± {}", nats(summary.neg_elbo), nats(summary.neg_elbo_standard_error)),
        ],
    ];
    if let (Some(kl), Some(log_z)) = (summary.kl, summary.log_z) {
        rows.push(vec![
            "KL(q||p)".to_owned(),
            format!("{} ± {}", nats(kl), nats(summary.neg_elbo_standard_error)),
        ]);
        rows.push(vec!["log Z (known)".to_owned(), format!("{log_z:.4}")]);
    }
    let Lost { before_1, at_1, draws } = summary.lost;
    if before_1 + at_1 + draws > 0.0 {
        let shares = [before_1, at_1, draws].map(|share| format!("{:.2}%", 100.0 * share));
        rows.push(vec!["lost before t = 1, at it, of draws".to_owned(), shares.join(", ")]);
    }
    let note = (!summary.notes.is_empty()).then(|| summary.notes.join("; "));
    Table { rows, note, ..Table::default() }
}

fn parameters(kind: &str, parameters: &[Parameter]) -> Table {
    let exact = parameters.iter().any(|p| p.true_mean.is_some() || p.true_sd.is_some());
    let row = |p: &Parameter| {
        let decimals = decimals(p.sd);
        let number = |x: f64| format!("{x:.decimals$}");
        let or_blank = |x: Option<f64>| x.map_or(String::new(), number);
        let mut row = vec![p.name.clone(), number(p.mean), number(p.sd)];
        if exact {
            row.extend([or_blank(p.true_mean), or_blank(p.true_sd)]);
        }
        row
    };
    let header = [kind, "mean", "sd", "true mean", "true sd"];
    let header = if exact { &header[..] } else { &header[..3] };
    shortened(header, parameters.iter().map(row).collect())
}

/// A divergence or a bound: plain, unless a flow that went astray made it enormous.
fn nats(value: f64) -> String {
    if value.abs() < 1e7 { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// Digits behind the point that show three of a standard deviation, and at least four.
fn decimals(sd: f64) -> usize {
    if sd > 0.0 && sd.is_finite() {
        (2.0 - sd.log10().floor()).clamp(4.0, 12.0) as usize
    } else {
        4
    }
}

fn modes(summary: &Summary) -> Table {
    let row = |mode: &ModeWeight| {
        vec![mode.label.clone(), format!("{:.4}", mode.weight), format!("{:.4}", mode.true_weight)]
    };
    shortened(&["mode at", "weight", "truth"], summary.modes.iter().map(row).collect())
}

fn splits(summary: &Summary) -> Table {
    let row = |split: &SplitShare| {
        vec![
            format!("{} > {}", split.parameter, split.at),
            format!("{:.4}", split.above),
            format!("{:.4}", split.true_above),
        ]
    };
    shortened(&["side", "share", "truth"], summary.splits.iter().map(row).collect())
}

fn seeds(summary: &Summary) -> Table {
    // The weights of more modes than this do not fit a line.
    let shown = if summary.modes.len() <= 4 { summary.modes.len() } else { 0 };
    let mut header = vec!["seed".to_owned(), "neg-ELBO".to_owned(), "steps".to_owned()];
    header.extend(summary.modes.iter().take(shown).map(|mode| mode.label.clone()));
    let row = |run: &Seed| {
        let mut row = vec![run.seed.to_string(), nats(run.neg_elbo), thousands(run.steps)];
        row.extend(run.mode_weights.iter().take(shown).map(|weight| format!("{weight:.4}")));
        row
    };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = shortened(&header, summary.seeds.iter().map(row).collect());
    if let [best, .., worst] = &summary.seeds[..] {
        let spread = format!(
            "best seed {} kept; neg-ELBO from {} to {}",
            best.seed,
            nats(best.neg_elbo),
            nats(worst.neg_elbo)
        );
        table.note = Some(table.note.map_or(spread.clone(), |note| format!("{spread}; {note}")));
    }
    table
}

fn shortened(header: &[&str], mut rows: Vec<Vec<String>>) -> Table {
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    Table {
        header: header.iter().map(|&name| name.to_owned()).collect(),
        rows,
        note: (more > 0).then(|| format!("{more} more in summary.json")),
        ..Table::default()
    }
}

/// The tables for a terminal, with warnings, the folder and what to do next.
pub(crate) fn closing(title: &str, summary: &Summary, folder: &Path, style: Style) -> String {
    let mut text = format!("{}\n", style.bold(title));
    for table in tables(summary) {
        text.push('\n');
        text += &aligned(&table, style);
    }
    if !summary.warnings.is_empty() {
        text.push('\n');
    }
    for warning in &summary.warnings {
        writeln!(text, "{} {warning}", style.yellow("warning:")).expect("strings grow");
    }
    let folder = folder.display();
    write!(
        text,
        "\nwritten to {folder}\n  figures and tables   {folder}/report.html\n  \
         your own points      adaann density {folder} points.csv\n"
    )
    .expect("strings grow");
    text
}

/// Columns of equal width: labels to the left, numbers to the right.
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

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// Colours if standard output is a terminal and the user has not asked for none.
    pub(crate) fn detect() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { coloured: wanted && std::io::stdout().is_terminal() }
    }

    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { coloured: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }
}

/// A count with separators.
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
