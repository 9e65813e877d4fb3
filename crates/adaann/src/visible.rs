//! Makes untrusted text safe to print: control characters become visible symbols.

/// A character as it is shown. Characters that move the cursor, change colours or turn the writing
/// direction are replaced.
pub(crate) fn character(c: char) -> char {
    match c {
        // Unicode has the control pictures in the order of the control characters.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        // Characters that turn the writing direction could make a line look different from what it
        // is.
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => c,
    }
}

/// Text of several lines, with its line breaks kept.
pub fn lines(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { character(c) }).collect()
}

/// Text on one line.
pub fn line(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { ' ' } else { character(c) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_obey() {
        let text = "a\u{1b}[31mb\r\n\tµ\u{202e}\u{9b}2J\u{7f}日";
        assert_eq!(lines(text), "a\u{241b}[31mb\u{240d}\n\u{2409}µ\u{fffd}\u{fffd}2J\u{2421}日");
        assert_eq!(line("a\nb\u{7}"), "a b\u{2407}");
    }
}
