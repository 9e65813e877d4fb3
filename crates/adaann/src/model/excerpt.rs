//! One line of a file as shown in a terminal, with the cells that a span covers.

use super::expression::Span;
use crate::visible;

/// Maximum number of cells shown of a line.
const WIDTH: usize = 100;
/// Maximum number of cells shown before the span in a long line.
const BEFORE: usize = 40;
/// Maximum length of a message in characters; it may quote a name of any length.
const LONGEST: usize = 400;
/// Width of a tab in cells.
const TAB: usize = 4;

/// The first line of a span, cut to fit.
#[derive(Debug, PartialEq)]
pub(super) struct Excerpt {
    /// From 1.
    pub(super) line: usize,
    /// From 1, in characters.
    pub(super) column: usize,
    pub(super) text: String,
    /// Cells of `text`, from 0; at least one.
    pub(super) carets: std::ops::Range<usize>,
}

impl Excerpt {
    /// Accepts any span; a span outside the text marks its end.
    pub(super) fn new(text: &str, span: Span) -> Self {
        let floor = |offset: usize| {
            let offset = offset.min(text.len());
            (0..=offset).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
        };
        let (mut start, mut end) = (floor(span.start), floor(span.end));
        let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let stop = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let content = text[begin..stop].strip_suffix('\r').unwrap_or(&text[begin..stop]);
        start = start.min(begin + content.len());
        end = end.clamp(start, begin + content.len());
        let line = 1 + text[..begin].matches('\n').count();
        let column = 1 + text[begin..start].chars().count();

        let (head, span, tail) = (&text[begin..start], &text[start..end], &content[end - begin..]);
        let fits = cells(content) <= WIDTH;
        let (head, cut) = if fits { (shown(head), false) } else { ending(head) };
        let mut text = if cut { "… ".to_owned() } else { String::new() };
        text.push_str(&head);
        let first = cells(&text);
        let room = if fits { usize::MAX } else { WIDTH.saturating_sub(first) };
        let (span, span_cut) = beginning(span, room);
        text.push_str(&span);
        let last = cells(&text).max(first + 1);
        let (tail, tail_cut) =
            beginning(tail, if span_cut { 0 } else { room.saturating_sub(cells(&span)) });
        text.push_str(&tail);
        if span_cut || tail_cut {
            text.push_str(" …");
        }
        Self { line, column, text, carets: first..last }
    }
}

/// A message on one line, without control characters and with limited length.
pub(super) fn clean(text: &str) -> String {
    let mut message: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c == '\n' { ' ' } else { visible::character(c) })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        message.push('…');
    }
    message
}

fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' {
            shown.extend([' '; TAB]);
        } else {
            shown.push(visible::character(c));
        }
    }
    shown
}

/// As much of the end of a text as fits before a span, and whether it was cut.
fn ending(text: &str) -> (String, bool) {
    let mut room = BEFORE;
    let fits = |c: &char| {
        let left = room.checked_sub(cells_of(*c));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let bytes: usize = text.chars().rev().take_while(fits).map(char::len_utf8).sum();
    (shown(&text[text.len() - bytes..]), bytes < text.len())
}

/// As much of the beginning of a text as fits, and whether it was cut.
fn beginning(text: &str, mut room: usize) -> (String, bool) {
    let fits = |c: &char| {
        let left = room.checked_sub(cells_of(*c));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let bytes: usize = text.chars().take_while(fits).map(char::len_utf8).sum();
    (shown(&text[..bytes]), bytes < text.len())
}

fn cells(text: &str) -> usize {
    text.chars().map(cells_of).sum()
}

/// The width of a character in cells, roughly: 0 for combining marks, 2 for East Asian characters
/// and emoji.
fn cells_of(c: char) -> usize {
    match c {
        '\t' => TAB,
        '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{200b}'..='\u{200f}' | '\u{feff}' => 0,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' => 2,
        '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' => 2,
        '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' => 2,
        '\u{1f300}'..='\u{1f64f}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text above the carets; every character here is one cell wide.
    fn pointed(excerpt: &Excerpt) -> String {
        let Excerpt { text, carets, .. } = excerpt;
        text.chars().skip(carets.start).take(carets.len()).collect()
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        for (before, after) in [(0, 3_000), (60, 0), (1_000, 1_000), (3_000, 2), (90, 6)] {
            let text = format!("{}sgma{}", "é".repeat(before), "z".repeat(after));
            let excerpt = Excerpt::new(&text, 2 * before..2 * before + 4);
            assert_eq!(pointed(&excerpt), "sgma", "{before} {after}");
            assert!(cells(&excerpt.text) <= WIDTH + 4, "{before} {after}");
            assert_eq!(excerpt.column, before + 1);
            let whole = before + 4 + after <= WIDTH;
            assert_eq!(excerpt.text == text, whole, "{before} {after}");
        }
    }

    #[test]
    fn spans_of_many_lines_show_the_first() {
        let text = "a\nbc = [\n1,\n2]\n";
        let excerpt = Excerpt::new(text, 7..14);
        assert_eq!((excerpt.line, excerpt.column), (2, 6));
        assert_eq!(pointed(&excerpt), "[");
        let long = format!("x = {}", "[1, ".repeat(100));
        let excerpt = Excerpt::new(&long, 4..long.len());
        assert!(excerpt.text.ends_with(" …") && excerpt.carets.end <= WIDTH, "{excerpt:?}");
    }

    #[test]
    fn no_span_is_refused() {
        for text in ["", "\n", "a", "é\r\n日本", "\r\n\r\n", "\t"] {
            for start in 0..12 {
                for end in 0..12 {
                    let excerpt = Excerpt::new(text, start..end);
                    assert!(excerpt.line >= 1 && excerpt.column >= 1 && !excerpt.carets.is_empty());
                }
            }
        }
    }
}
