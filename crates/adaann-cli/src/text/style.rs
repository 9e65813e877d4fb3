//! How text looks on a terminal: colours, and lines that fit.

use std::io::IsTerminal;

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

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn blue(self, text: &str) -> String {
        self.paint("34", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }
}

/// Characters in a line.
const WIDTH: usize = 96;

/// A text in lines, the first after `first` and the others after as many blanks.
pub(crate) fn wrapped(first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let (mut lines, mut length) = (first.to_owned(), indent);
    for (i, word) in text.split_whitespace().enumerate() {
        let size = word.chars().count();
        if i > 0 && length + 1 + size > WIDTH {
            lines += &format!("\n{:indent$}", "");
            length = indent;
        } else if i > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += size;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_indented() {
        let text = wrapped("- ", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines[1].starts_with("  word") && lines[0].starts_with("- w"));
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{text}");
        assert!(lines[0].len() > WIDTH - 6, "{text}");
        // A word that fits nowhere has a line of its own.
        let long = "x".repeat(2 * WIDTH);
        assert_eq!(wrapped("", &format!("a {long} b")), format!("a\n{long}\nb\n"));
    }
}
