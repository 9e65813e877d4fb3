//! Text as it stands in HTML, SVG and attributes.

/// Text with nothing left that a browser could take for markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // XML has no place for these, not even as numbers.
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            '\u{fffe}' | '\u{ffff}' => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_quotes_are_escaped() {
        assert_eq!(
            escaped("a < b & \"c\" > 'd'\0"),
            "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;"
        );
    }
}
