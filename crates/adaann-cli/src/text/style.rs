//! Text on a terminal: colours and line wrapping.

use std::io::IsTerminal;

/// Whether to use colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// Uses colours if standard output is a terminal and `NO_COLOR` is not set.
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

/// Characters per line.
const WIDTH: usize = 96;

/// Wraps a text; the first line begins with `first`, the others are indented by its width.
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
        // A word longer than the width gets its own line.
        let long = "x".repeat(2 * WIDTH);
        assert_eq!(wrapped("", &format!("a {long} b")), format!("a\n{long}\nb\n"));
    }
}
