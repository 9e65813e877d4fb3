//! The font of figures: text widths and the outlines of letters.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("../assets/roboto.ttf"), 0).expect("the font in the binary is whole")
});

/// The size of an exponent, relative to its text.
pub(crate) const POWER_SIZE: f64 = 0.72;
/// The rise of an exponent, relative to the size of its text.
pub(crate) const POWER_RISE: f64 = 0.38;

/// The glyph of a character and its advance. Characters that the font lacks are shown as boxes.
pub(crate) fn glyph(character: char) -> (GlyphId, f64) {
    let glyph =
        FACE.glyph_index(character).or_else(|| FACE.glyph_index('\u{fffd}')).unwrap_or(GlyphId(0));
    (glyph, f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(1000)))
}

/// The font itself.
pub(crate) fn face() -> &'static Face<'static> {
    &FACE
}

/// Font units per em.
pub(crate) fn units() -> f64 {
    f64::from(FACE.units_per_em())
}

/// Width of a text.
pub(crate) fn width(words: &str, size: f64) -> f64 {
    words.chars().map(|character| glyph(character).1).sum::<f64>() / units() * size
}

/// The text, truncated with an ellipsis if it is wider than the room.
pub(crate) fn cut(words: &str, size: f64, room: f64) -> String {
    if width(words, size) <= room {
        return words.to_owned();
    }
    let mut kept = String::new();
    for character in words.chars() {
        if width(&kept, size) + width(&format!("{character}…"), size) > room {
            break;
        }
        kept.push(character);
    }
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_wider_and_long_texts_are_cut() {
        assert!(width("WWW", 12.0) > 2.0 * width("iii", 12.0));
        assert!((width("ab", 24.0) - 2.0 * width("ab", 12.0)).abs() < 1e-9);
        assert!(width("\u{10ffff}", 12.0) > 0.0, "unknown letters have a width");
        assert_eq!(cut("short", 12.0, 100.0), "short");
        let cut = cut("a rather long title", 12.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 60.0, "{cut}");
    }
}
