//! Escaping of text for HTML, SVG and attributes.

/// Escapes all characters that a browser could treat as markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // XML does not allow these characters, even as numeric references.
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
