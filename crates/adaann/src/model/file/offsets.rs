//! Finds the place in the file of each character of a TOML string.

use crate::model::expression::Span;

/// Maps offsets in a string's text to offsets in the file.
pub(super) struct Offsets {
    /// (offset in the text, offset in the file): from each pair on, both advance in step.
    breaks: Vec<(usize, usize)>,
}

impl Offsets {
    /// For the string with the given text at a span of the file, including its quotes.
    pub(super) fn new(file: &str, span: &Span, text: &str) -> Self {
        let traced = file.get(span.clone()).and_then(|raw| trace(raw, span.start, text));
        // If the string cannot be traced, mark it as a whole.
        let breaks = traced.unwrap_or_else(|| vec![(0, span.start), (1, span.end)]);
        Self { breaks }
    }

    pub(super) fn at(&self, offset: usize) -> usize {
        let next = self.breaks.partition_point(|&(text, _)| text <= offset);
        let (text, file) = self.breaks[next.saturating_sub(1)];
        file + (offset - text.min(offset))
    }
}

fn trace(raw: &str, start: usize, text: &str) -> Option<Vec<(usize, usize)>> {
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let quote = quotes.into_iter().find(|quote| raw.starts_with(quote))?;
    let escapes = quote.starts_with('"');
    let body = raw.get(quote.len()..raw.len().checked_sub(quote.len())?)?;
    let mut from = 0;
    if quote.len() == 3 {
        // A newline directly after the opening quotes is not part of the text.
        from = ["\r\n", "\n"].into_iter().find(|n| body.starts_with(n)).map_or(0, str::len);
    }
    let origin = start + quote.len();
    let mut to = 0;
    let mut breaks = vec![(0, origin + from)];
    while from < body.len() {
        let c = body.get(from..)?.chars().next()?;
        let decoded = text[to..].chars().next();
        if c == '\\' && escapes {
            let (length, is_character) = escape(&body[from..]);
            from += length;
            if is_character {
                to += decoded?.len_utf8();
            }
            breaks.push((to, origin + from));
        } else if c == '\r' && decoded == Some('\n') {
            from += 1;
            breaks.push((to, origin + from));
        } else if decoded == Some(c) {
            from += c.len_utf8();
            to += c.len_utf8();
        } else {
            return None;
        }
    }
    (to == text.len()).then_some(breaks)
}

/// The length of the escape sequence at the start of a text, and whether it stands for a character.
fn escape(text: &str) -> (usize, bool) {
    match text[1..].chars().next() {
        Some('x') => (4.min(text.len()), true),
        Some('u') => (6.min(text.len()), true),
        Some('U') => (10.min(text.len()), true),
        // A backslash at the end of a line removes it and all whitespace that follows.
        Some(c) if c.is_whitespace() => {
            let rest = text[1..].trim_start_matches([' ', '\t', '\r', '\n']);
            (text.len() - rest.len(), false)
        }
        Some(c) => (1 + c.len_utf8(), true),
        None => (1, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeTable;

    #[test]
    fn every_character_is_found_where_it_stands() {
        for string in [
            r#""a + Z*b""#,
            r#"'a + Z\n'"#,
            r#""\u00b7 \t\x41 \"q\" Z \U0001F600""#,
            "\"\"\"\n  a +\n  b \\\n     + Z\"\"\"",
            "\"\"\"\r\n  a +\r\n  \\\r\n\r\n Z\"\"\"",
            "'''\n\\ é Z'''",
            "\"\"\"a \"\" Z\"\"\"",
        ] {
            let file = format!("# é\nkey = {string}\n");
            let table = DeTable::parse(&file).unwrap().into_inner();
            let value = table.get("key").unwrap();
            let text = value.get_ref().as_str().unwrap();
            let offsets = Offsets::new(&file, &value.span(), text);
            assert_eq!(offsets.at(text.find('Z').unwrap()), file.find('Z').unwrap(), "{string}");
            let plain = text.char_indices().filter(|(_, c)| c.is_ascii_lowercase() && *c != 'x');
            for (offset, c) in plain {
                assert_eq!(file[offsets.at(offset)..].chars().next(), Some(c), "{string}");
            }
        }
    }

    #[test]
    fn a_string_that_is_not_understood_is_pointed_at_as_a_whole() {
        let offsets = Offsets::new("k = \"abc\"", &(4..9), "another");
        assert_eq!((offsets.at(0), offsets.at(1)), (4, 9));
    }
}
