//! Legends of figures.

use crate::{
    Color,
    ink::{Anchor, Fill, Ink, Rect, Stroke, Text},
    mark::{Mark, Shape},
    panel::DARK,
    text,
};

const SIZE: f64 = 12.0;
/// Size of a sample of a series.
pub(crate) const SAMPLE: [f64; 2] = [26.0, 14.0];
const GAP: f64 = 22.0;
const LINE: f64 = 20.0;

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Look {
    Line { dashed: bool },
    Dots,
    LineDots { dashed: bool },
    Area { opacity: f64 },
}

/// A series with its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) color: Color,
    pub(crate) look: Look,
}

impl Entry {
    /// The entry of a mark, if it has a label.
    pub(crate) fn of(mark: &Mark) -> Option<Self> {
        let look = match mark.shape {
            Shape::Line { dashed, .. } => Look::Line { dashed },
            Shape::Markers { .. } => Look::Dots,
            Shape::LineMarkers { dashed, .. } => Look::LineDots { dashed },
            Shape::Band { opacity, .. } => Look::Area { opacity },
            Shape::Contours { .. } => Look::Area { opacity: 0.5 },
            Shape::VerticalRule { .. } | Shape::HorizontalRule { .. } => {
                Look::Line { dashed: true }
            }
        };
        Some(Self { label: mark.label.clone()?, color: mark.color, look })
    }

    /// Draws a sample of the series.
    pub(crate) fn sample(&self) -> Vec<Ink> {
        let [width, height] = SAMPLE;
        let (color, middle) = (self.color.hex(), height / 2.0);
        let line = |dashed| {
            Ink::line(
                vec![(1.0, middle), (width - 1.0, middle)],
                Stroke { color, width: 2.0, dashed },
            )
        };
        let dot = |radius, color| Ink::Dots {
            points: vec![(width / 2.0, middle)],
            radius,
            fill: Fill { color, opacity: 1.0 },
        };
        match self.look {
            Look::Line { dashed } => vec![line(dashed)],
            Look::Dots => vec![dot(3.2, color)],
            Look::LineDots { dashed: false } => vec![line(false), dot(3.4, color)],
            Look::LineDots { dashed: true } => {
                vec![line(true), dot(3.4, color), dot(1.9, "#ffffff")]
            }
            Look::Area { opacity } => {
                let area = Rect { left: 2.0, top: 2.0, width: width - 4.0, height: height - 4.0 };
                vec![Ink::Path {
                    lines: vec![area.corners()],
                    closed: true,
                    fill: Some(Fill { color, opacity: opacity.max(0.2) }),
                    stroke: None,
                }]
            }
        }
    }

    fn width(&self) -> f64 {
        SAMPLE[0] + 6.0 + text::width(&self.label, SIZE)
    }
}

/// The entries with distinct labels, in order.
pub(crate) fn entries(marks: impl Iterator<Item = Option<Entry>>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in marks.flatten() {
        if !entries.iter().any(|known| known.label == entry.label) {
            entries.push(entry);
        }
    }
    entries
}

/// The legend in rows that fit the width, and its height.
pub(crate) fn draw(entries: &[Entry], width: f64) -> (Vec<Ink>, f64) {
    let mut rows: Vec<Vec<&Entry>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        if used + entry.width() > width {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += entry.width() + GAP;
        rows.last_mut().expect("one was just begun").push(entry);
    }
    let mut inks = Vec::new();
    for (row, entries) in rows.iter().enumerate() {
        let all = entries.iter().map(|entry| entry.width() + GAP).sum::<f64>() - GAP;
        let mut left = ((width - all) / 2.0).max(0.0);
        let top = 4.0 + row as f64 * LINE;
        for entry in entries {
            inks.extend(entry.sample().into_iter().map(|ink| ink.moved(left, top)));
            let start = SAMPLE[0] + 6.0;
            inks.push(Ink::Text(Text {
                at: (left + start, top + SAMPLE[1] / 2.0 + 0.36 * SIZE),
                words: text::cut(&entry.label, SIZE, width - start),
                power: String::new(),
                size: SIZE,
                anchor: Anchor::Start,
                color: DARK,
                upright: false,
            }));
            left += entry.width() + GAP;
        }
    }
    let height = if rows.is_empty() { 0.0 } else { 6.0 + rows.len() as f64 * LINE };
    (inks, height)
}
