//! Mistakes in files, shown with their line.

use super::excerpt::{Excerpt, clean};
use super::expression::{Fault, Span};
use std::fmt;
use std::sync::Arc;

/// A text and its name.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of the file, as shown in messages.
    pub name: String,
    /// The whole text of the file.
    pub text: Arc<str>,
}

impl Source {
    /// A source from any text.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// One mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The file's name.
    pub file: String,
    /// Where in the file; None if the mistake concerns the whole file.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

/// A place in a file, with the text there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The line as shown: with tabs as spaces, and cut around the carets if it is long. Empty if the line may not
    /// be shown, because the file is not known to be the model's table.
    pub excerpt: String,
    /// The columns of `excerpt` that the carets mark, from 0, in terminal cells.
    pub carets: std::ops::Range<usize>,
}

impl Place {
    /// Where a span of a text is.
    pub(super) fn of(text: &str, span: Span) -> Self {
        let Excerpt { line, column, text, carets } = Excerpt::new(text, span);
        Self { line, column, excerpt: text, carets }
    }

    /// The same place without its text.
    pub(super) fn unseen(self) -> Self {
        Self { excerpt: String::new(), carets: 0..0, ..self }
    }
}

/// All mistakes in the files of a model, in the order of their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    shown: Vec<Diagnostic>,
    more: usize,
}

/// Maximum number of diagnostics shown for one model.
const MOST_SHOWN: usize = 50;
/// Maximum number of mistakes kept, from which the first are shown.
const MOST_KEPT: usize = 1_000;
/// Help text that would extend beyond this column is shown on a line of its own.
const WIDTH: usize = 110;

impl Diagnostics {
    /// The first fifty.
    pub fn shown(&self) -> &[Diagnostic] {
        &self.shown
    }

    /// The total number of mistakes.
    pub fn count(&self) -> usize {
        self.shown.len() + self.more
    }
}

impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.shown.iter().enumerate() {
            let gap = if index > 0 { "\n\n" } else { "" };
            write!(f, "{gap}{diagnostic}")?;
        }
        match self.more {
            0 => Ok(()),
            1 => write!(f, "\n\nand one more error"),
            more => write!(f, "\n\nand {more} more errors"),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, message, help } = self;
        write!(f, "error: {message}")?;
        let Some(Place { line, column, excerpt, carets }) = place else {
            write!(f, "\n  --> {file}")?;
            return help.iter().try_for_each(|help| write!(f, "\n   = help: {help}"));
        };
        let margin = " ".repeat(line.to_string().len().max(2));
        write!(f, "\n{margin}--> {file}:{line}:{column}")?;
        if carets.is_empty() {
            return help.iter().try_for_each(|help| write!(f, "\n{margin} = help: {help}"));
        }
        write!(f, "\n{margin} |")?;
        write!(f, "\n{line:>width$} | {excerpt}", width = margin.len())?;
        let indent = " ".repeat(carets.start);
        write!(f, "\n{margin} | {indent}{}", "^".repeat(carets.len().max(1)))?;
        match help {
            Some(help) if carets.end + help.chars().count() < WIDTH => write!(f, " {help}"),
            Some(help) => write!(f, "\n{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// A mistake whose place may not have been looked up yet.
#[derive(Debug)]
struct Entry {
    /// Index into the sources.
    source: usize,
    span: Option<Span>,
    /// The place, if it is already known; the text of a long file is not kept.
    place: Option<Place>,
    message: String,
    help: Option<String>,
}

/// Collects mistakes, in any order.
#[derive(Debug, Default)]
pub(crate) struct Report {
    sources: Vec<Source>,
    entries: Vec<Entry>,
    /// Number of mistakes that were dropped.
    dropped: usize,
}

impl Report {
    /// Reports a mistake at a place.
    pub(crate) fn error(
        &mut self,
        source: &Source,
        span: Span,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.push(source, (Some(span), None), message.into(), help);
    }

    /// Reports a mistake that concerns a whole file.
    pub(crate) fn error_of_file(
        &mut self,
        source: &Source,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.push(source, (None, None), message.into(), help);
    }

    /// Reports a mistake at a known place; `start` is its offset, used for sorting.
    pub(super) fn error_at(
        &mut self,
        source: &Source,
        (start, place): (usize, Place),
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.push(source, (Some(start..start), Some(place)), message.into(), help);
    }

    /// Reports the mistakes of a formula.
    pub(crate) fn faults(&mut self, source: &Source, faults: Vec<Fault>) {
        for Fault { span, message, help } in faults {
            self.error(source, span, message, help);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All reported mistakes, sorted and without duplicates; Ok if there are none.
    pub(crate) fn into_result(mut self) -> Result<(), Diagnostics> {
        if self.is_empty() {
            return Ok(());
        }
        // Mistakes that concern a whole file come after those with a place in it.
        let key = |entry: &Entry| match &entry.span {
            Some(span) => (entry.source, false, span.start, span.end),
            None => (entry.source, true, 0, 0),
        };
        self.entries.sort_by_key(key);
        self.entries.dedup_by(|b, a| key(a) == key(b) && a.message == b.message);
        let more = self.entries.len().saturating_sub(MOST_SHOWN) + self.dropped;
        let entries = self.entries.into_iter().take(MOST_SHOWN);
        let shown = entries.map(|entry| {
            let source = &self.sources[entry.source];
            let looked_up = |span| Place::of(&source.text, span);
            let place = entry.place.or_else(|| entry.span.map(looked_up));
            Diagnostic {
                file: clean(&source.name),
                place,
                message: clean(&entry.message),
                help: entry.help.as_deref().map(clean),
            }
        });
        Err(Diagnostics { shown: shown.collect(), more })
    }

    fn push(
        &mut self,
        source: &Source,
        (span, place): (Option<Span>, Option<Place>),
        message: String,
        help: Option<String>,
    ) {
        if self.entries.len() >= MOST_KEPT {
            self.dropped += 1;
            return;
        }
        let known = self.sources.iter().position(|known| known.name == source.name);
        let source = known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        self.entries.push(Entry { source, span, place, message, help });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, needle: &str, message: &str, help: Option<&str>) -> String {
        let source = Source::new("line.toml", text);
        let start = text.find(needle).unwrap();
        let mut report = Report::default();
        report.error(&source, start..start + needle.len(), message, help.map(str::to_owned));
        report.into_result().unwrap_err().to_string()
    }

    #[test]
    fn a_mistake_is_shown_at_its_place() {
        let text = "title = \"a\"\n\n[likelihood]\ny = \"normal(a + b*x, sgma)\"\n";
        let found = shown(text, "sgma", "unknown name `sgma`", Some("did you mean `sigma`?"));
        let expected = r#"error: unknown name `sgma`
  --> line.toml:4:22
   |
 4 | y = "normal(a + b*x, sgma)"
   |                      ^^^^ did you mean `sigma`?"#;
        assert_eq!(found, expected);
    }

    #[test]
    fn columns_are_characters_and_carets_are_cells() {
        let found = shown("\tμ = \"日本 + sgma\"\r\n", "sgma", "unknown", None);
        let expected = "error: unknown\n  --> line.toml:1:12\n   |\n 1 |     μ = \"日本 + sgma\"\n   |                 ^^^^";
        assert_eq!(found, expected);
    }

    #[test]
    fn long_help_has_its_own_line_and_control_characters_are_shown() {
        let help = "word ".repeat(30);
        let found = shown("a\u{1b}[31m = 1", "a", "no \u{1b}", Some(&help));
        assert!(found.starts_with("error: no \u{241b}\n"), "{found}");
        assert!(found.contains("a\u{241b}[31m = 1\n"), "{found}");
        assert!(found.contains("\n   = help: word"), "{found}");
        let endless = shown("a", "a", &"x".repeat(1_000_000), None);
        assert!(endless.len() < 1_000, "{}", endless.len());
    }

    #[test]
    fn mistakes_are_sorted_counted_and_said_once() {
        let text = "x = 1\n".repeat(200);
        let model = Source::new("model.toml", text.as_str());
        let data = Source::new("data.csv", "a,b\n1,oops\n");
        let mut report = Report::default();
        report.error_of_file(&model, "nothing to fit", Some("add a likelihood".to_owned()));
        report.error(&model, 6..7, "second", None);
        report.error(&data, 6..10, "not a number", None);
        report.error(&model, 0..1, "first", None);
        report.error(&model, 6..7, "second", None);
        let all = report.into_result().unwrap_err();
        let messages: Vec<&str> = all.shown().iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, ["first", "second", "nothing to fit", "not a number"]);
        let last = "error: nothing to fit\n  --> model.toml\n   = help: add a likelihood";
        assert!(all.to_string().contains(last), "{all}");

        let mut report = Report::default();
        (0..200).rev().for_each(|line| report.error(&model, line * 6..line * 6 + 1, "x", None));
        let all = report.into_result().unwrap_err();
        assert_eq!((all.shown().len(), all.count()), (50, 200));
        assert_eq!(all.shown()[49].place.as_ref().unwrap().line, 50);
        assert!(all.to_string().ends_with("\n\nand 150 more errors"));
        assert!(Report::default().into_result().is_ok());
    }
}
