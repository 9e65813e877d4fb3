//! The pieces of a laid-out figure: lines, areas, dots and texts on a plane.

/// A point on the plane, with y downwards.
pub(crate) type Point = (f64, f64);

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn corners(&self) -> Vec<Point> {
        let (left, right, top, bottom) = (self.left, self.right(), self.top, self.bottom());
        vec![(left, top), (right, top), (right, bottom), (left, bottom)]
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: &'static str,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub(crate) color: &'static str,
    pub(crate) opacity: f64,
}

/// Which part of a text lies at its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) words: String,
    /// An exponent after the text, small and raised.
    pub(crate) power: String,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) color: &'static str,
    /// Is the text rotated to read upwards?
    pub(crate) upright: bool,
}

/// A piece of a drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ink {
    /// Lines, or polygons if they are closed.
    Path { lines: Vec<Vec<Point>>, closed: bool, fill: Option<Fill>, stroke: Option<Stroke> },
    /// Round dots. Overlapping dots of one piece do not darken each other.
    Dots { points: Vec<Point>, radius: f64, fill: Fill },
    /// A text.
    Text(Text),
    /// A group of pieces, possibly clipped to a window.
    Group(Group),
}

/// A group of pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Group {
    /// Its kind, for the script of the page.
    pub(crate) class: &'static str,
    /// Its data attributes, for the script of the page.
    pub(crate) data: Vec<(&'static str, String)>,
    /// The window to which it is clipped.
    pub(crate) window: Option<Rect>,
    pub(crate) inks: Vec<Ink>,
}

impl Ink {
    /// One line.
    pub(crate) fn line(points: Vec<Point>, stroke: Stroke) -> Self {
        Self::Path { lines: vec![points], closed: false, fill: None, stroke: Some(stroke) }
    }

    /// Moves the piece.
    pub(crate) fn moved(self, dx: f64, dy: f64) -> Self {
        let shift = |(x, y): Point| (x + dx, y + dy);
        let all = |points: Vec<Point>| points.into_iter().map(shift).collect();
        match self {
            Self::Path { lines, closed, fill, stroke } => {
                Self::Path { lines: lines.into_iter().map(all).collect(), closed, fill, stroke }
            }
            Self::Dots { points, radius, fill } => Self::Dots { points: all(points), radius, fill },
            Self::Text(text) => Self::Text(Text { at: shift(text.at), ..text }),
            Self::Group(group) => Self::Group(Group {
                window: group.window.map(|w| Rect { left: w.left + dx, top: w.top + dy, ..w }),
                inks: group.inks.into_iter().map(|ink| ink.moved(dx, dy)).collect(),
                ..group
            }),
        }
    }
}
