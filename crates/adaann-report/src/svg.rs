//! Writes a drawing as SVG, as a file or inside a page.

use crate::{
    escape::escaped,
    ink::{Anchor, Fill, Group, Ink, Point, Stroke, Text},
    text::{POWER_RISE, POWER_SIZE},
};
use std::fmt::Write;

/// Dashes and gaps.
pub(crate) const DASHES: [f64; 2] = [5.0, 3.5];

/// The fonts of a drawing. The layout uses the widths of the first.
const FONTS: &str = "Roboto, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

/// Is the drawing a file, or part of a page whose script needs its data?
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Alone,
    Page,
}

/// The drawing as SVG, with additional attributes of the root element.
pub(crate) fn svg(inks: &[Ink], [width, height]: [f64; 2], root: &str, place: Place) -> String {
    let mut text = format!("<svg viewBox=\"0 0 {} {}\" {root}", number(width), number(height));
    write!(text, " font-family=\"{FONTS}\">").expect("strings grow");
    if place == Place::Alone {
        text += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>";
    }
    for ink in inks {
        push(&mut text, ink, place);
    }
    text + "</svg>"
}

fn push(text: &mut String, ink: &Ink, place: Place) {
    match ink {
        Ink::Path { lines, closed, fill, stroke } => {
            *text += "<path d=\"";
            for line in lines {
                push_line(text, line);
                if *closed {
                    text.push('Z');
                }
            }
            text.push('"');
            push_fill(text, *fill);
            push_stroke(text, *stroke);
            *text += "/>";
        }
        Ink::Dots { points, radius, fill } => {
            // Zero-length lines with round ends take fewer bytes than circles.
            *text += "<path d=\"";
            for (x, y) in points {
                write!(text, "M{:.1} {:.1}h0", x, y).expect("strings grow");
            }
            write!(
                text,
                "\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"",
                fill.color,
                number(2.0 * radius)
            )
            .expect("strings grow");
            if fill.opacity < 1.0 {
                write!(text, " stroke-opacity=\"{}\"", number(fill.opacity)).expect("strings grow");
            }
            *text += "/>";
        }
        Ink::Text(words) => push_text(text, words),
        Ink::Group(group) => push_group(text, group, place),
    }
}

fn push_line(text: &mut String, line: &[Point]) {
    for (i, (x, y)) in line.iter().enumerate() {
        text.push(if i == 0 { 'M' } else { ' ' });
        write!(text, "{} {}", number(*x), number(*y)).expect("strings grow");
    }
}

fn push_fill(text: &mut String, fill: Option<Fill>) {
    match fill {
        None => *text += " fill=\"none\"",
        Some(Fill { color, opacity }) => {
            write!(text, " fill=\"{color}\"").expect("strings grow");
            if opacity < 1.0 {
                write!(text, " fill-opacity=\"{}\"", number(opacity)).expect("strings grow");
            }
        }
    }
}

fn push_stroke(text: &mut String, stroke: Option<Stroke>) {
    if let Some(Stroke { color, width, dashed }) = stroke {
        write!(text, " stroke=\"{color}\" stroke-width=\"{}\"", number(width))
            .expect("strings grow");
        if dashed {
            write!(text, " stroke-dasharray=\"{} {}\"", DASHES[0], DASHES[1])
                .expect("strings grow");
        }
        *text += " stroke-linejoin=\"round\"";
    }
}

fn push_text(text: &mut String, words: &Text) {
    let (x, y) = (number(words.at.0), number(words.at.1));
    write!(text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(words.size))
        .expect("strings grow");
    write!(text, " fill=\"{}\"", words.color).expect("strings grow");
    match words.anchor {
        Anchor::Start => {}
        Anchor::Middle => *text += " text-anchor=\"middle\"",
        Anchor::End => *text += " text-anchor=\"end\"",
    }
    if words.upright {
        write!(text, " transform=\"rotate(-90 {x} {y})\"").expect("strings grow");
    }
    write!(text, ">{}", escaped(&words.words)).expect("strings grow");
    if !words.power.is_empty() {
        write!(
            text,
            "<tspan dy=\"-{}\" font-size=\"{}\">{}</tspan>",
            number(POWER_RISE * words.size),
            number(POWER_SIZE * words.size),
            escaped(&words.power)
        )
        .expect("strings grow");
    }
    *text += "</text>";
}

fn push_group(text: &mut String, group: &Group, place: Place) {
    let mut attributes = String::new();
    if place == Place::Page {
        write!(attributes, " class=\"{}\"", group.class).expect("strings grow");
        for (name, value) in &group.data {
            write!(attributes, " data-{name}=\"{}\"", escaped(value)).expect("strings grow");
        }
    }
    // A nested `svg` element clips without the id that a clip path would need.
    let tag = match group.window {
        None => {
            write!(text, "<g{attributes}>").expect("strings grow");
            "g"
        }
        Some(window) => {
            let [x, y, w, h] = [window.left, window.top, window.width, window.height].map(number);
            write!(
                text,
                "<svg{attributes} x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
                 viewBox=\"{x} {y} {w} {h}\">"
            )
            .expect("strings grow");
            "svg"
        }
    };
    for ink in &group.inks {
        push(text, ink, place);
    }
    write!(text, "</{tag}>").expect("strings grow");
}

/// A number with at most two decimal places.
pub(crate) fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number of the data with five significant digits, in the shortest form.
pub(crate) fn value(x: f64) -> String {
    let rounded: f64 = format!("{x:.4e}").parse().expect("a number that was just written");
    let plain = format!("{rounded}");
    let scientific = format!("{rounded:e}");
    if plain.len() <= scientific.len() { plain } else { scientific }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.126, -0.001, 1200.5].map(number), ["1", "0.13", "0", "1200.5"]);
        assert_eq!(
            [0.123_456, 1e-9, 1.5e20, 120.0].map(value),
            ["0.12346", "1e-9", "1.5e20", "120"]
        );
    }

    #[test]
    fn words_cannot_leave_their_text() {
        let words = "</text><script>alert(\"1\")</script>";
        let text = Ink::Text(Text {
            at: (0.0, 0.0),
            words: words.into(),
            power: "<".into(),
            size: 10.0,
            anchor: Anchor::Start,
            color: "#000",
            upright: true,
        });
        let group =
            Group { data: vec![("label", words.into())], inks: vec![text], ..Group::default() };
        for place in [Place::Alone, Place::Page] {
            let drawn = svg(&[Ink::Group(group.clone())], [10.0, 10.0], "", place);
            assert!(!drawn.contains("<script"), "{drawn}");
            assert_eq!(drawn.contains("data-label"), place == Place::Page);
        }
    }
}
