//! Tables as HTML, Markdown and CSV.

use crate::{escape::escaped, words};

/// A table whose first column is a label.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The names of the columns, or empty.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// A note below the table.
    pub note: Option<String>,
}

impl Table {
    fn columns(&self) -> usize {
        self.rows.iter().chain([&self.header]).map(Vec::len).max().unwrap_or(0)
    }

    /// Is this a column of numbers, which is right-aligned?
    fn is_numeric(&self, column: usize) -> bool {
        let is_number = |cell: &&String| {
            cell.trim_start_matches(['-', '−', '+', '±', '<', '>', '≤', '≥', '~', ' '])
                .starts_with(|c: char| c.is_ascii_digit() || c == '.')
        };
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).peekable();
        let blank = |cell: &&String| matches!(cell.trim(), "" | "-" | "–" | "—" | "NaN" | "inf");
        column > 0 && cells.peek().is_some() && cells.all(|c| blank(&c) || is_number(&c))
    }

    /// The table as HTML, in a box that scrolls on narrow screens.
    pub fn html(&self) -> String {
        let mut html =
            String::from("<div class=\"table\"><div class=\"scroll\" tabindex=\"0\"><table>\n");
        if !self.caption.is_empty() {
            html += &format!("<caption>{}</caption>\n", words::html(&self.caption));
        }
        let numeric: Vec<bool> = (0..self.columns()).map(|c| self.is_numeric(c)).collect();
        let row = |cells: &[String], tag: &str| {
            let mut line = String::from("<tr>");
            for c in 0..self.columns() {
                let class = if numeric[c] { " class=\"number\"" } else { "" };
                let cell = cells.get(c).map_or(String::new(), |cell| escaped(cell));
                line += &format!("<{tag}{class}>{cell}</{tag}>");
            }
            line + "</tr>\n"
        };
        if !self.header.is_empty() {
            html += &format!("<thead>{}</thead>\n", row(&self.header, "th").trim_end());
        }
        html += "<tbody>\n";
        for cells in &self.rows {
            html += &row(cells, "td");
        }
        html += "</tbody></table></div>";
        if let Some(note) = &self.note {
            html += &format!("<p class=\"note\">{}</p>", words::html(note));
        }
        html + "</div>\n"
    }

    /// The table in Markdown, with its caption above and its note below.
    pub fn markdown(&self) -> String {
        let columns = self.columns();
        let cell = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', " ");
        let line = |cells: &[String]| {
            let cells = (0..columns).map(|c| cells.get(c).map_or(String::new(), |text| cell(text)));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut text = String::new();
        if !self.caption.is_empty() {
            text += &format!("{}\n\n", self.caption);
        }
        if columns > 0 {
            text += &line(&self.header);
            let rules = (0..columns).map(|c| if self.is_numeric(c) { "---:" } else { "---" });
            text += &format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
            text.extend(self.rows.iter().map(|row| line(row)));
        }
        if let Some(note) = &self.note {
            text += &format!("\n{note}\n");
        }
        text
    }

    /// Header and rows as CSV.
    pub fn csv(&self) -> String {
        let field = |text: &String| {
            if text.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.clone()
            }
        };
        let line = |cells: &[String]| cells.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
        let header = (!self.header.is_empty()).then(|| line(&self.header));
        header.into_iter().chain(self.rows.iter().map(|row| line(row))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        Table {
            caption: "Both **modes**".into(),
            header: row(["at", "weight", "a|b"]),
            rows: vec![row(["<b>", "0.5", "x, \"y\""]), row(["-1", "− 0.25 ± 0.1", ""])],
            note: Some("1 < 2".into()),
        }
    }

    #[test]
    fn html_is_escaped_and_numbers_stand_to_the_right() {
        let html = table().html();
        assert!(html.contains("<caption>Both <strong>modes</strong></caption>"), "{html}");
        assert!(html.contains("<td>&lt;b&gt;</td><td class=\"number\">0.5</td>"), "{html}");
        assert!(html.contains("<th class=\"number\">weight</th><th>a|b</th>"), "{html}");
        assert!(html.contains("1 &lt; 2"));
    }

    #[test]
    fn markdown_keeps_its_columns() {
        let expected = "Both **modes**\n\n| at | weight | a\\|b |\n| --- | ---: | --- |\n\
                        | <b> | 0.5 | x, \"y\" |\n| -1 | − 0.25 ± 0.1 |  |\n\n1 < 2\n";
        assert_eq!(table().markdown(), expected);
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let expected = "at,weight,a|b\n<b>,0.5,\"x, \"\"y\"\"\"\n-1,− 0.25 ± 0.1,\n";
        assert_eq!(table().csv(), expected);
    }
}
