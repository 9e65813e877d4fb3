//! Panels, their axes, and marks in data coordinates.

use crate::Color;

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The label of the axis.
    pub label: String,
    /// Is it logarithmic?
    pub log: bool,
    /// The range to show. `None` shows all marks.
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis that shows all marks.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: false, range: None }
    }

    /// The axis with a logarithmic scale, which omits values that are not positive.
    pub fn log(self) -> Self {
        Self { log: true, ..self }
    }

    /// The axis from `low` to `high`.
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { range: Some([low, high]), ..self }
    }
}

/// A shape in data coordinates. Lines break at non-finite points.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line.
    Line {
        /// Its points.
        points: Vec<(f64, f64)>,
        /// With dashes?
        dashed: bool,
        /// Its width.
        width: f64,
    },
    /// Dots.
    Markers {
        /// Their positions.
        points: Vec<(f64, f64)>,
        /// Their radius.
        size: f64,
        /// From 0 to 1. Overlapping dots are darker.
        opacity: f64,
    },
    /// A line with dots at its points.
    LineMarkers {
        /// Its points.
        points: Vec<(f64, f64)>,
        /// With dashes, and hollow dots?
        dashed: bool,
    },
    /// The area between two lines.
    Band {
        /// x, lower and upper value.
        points: Vec<(f64, f64, f64)>,
        /// From 0 to 1.
        opacity: f64,
    },
    /// Contours over a grid, darker inside.
    Contours {
        /// The x of the columns of the grid, increasing.
        x: Vec<f64>,
        /// The y of the rows of the grid, increasing.
        y: Vec<f64>,
        /// Heights, row by row.
        z: Vec<f64>,
        /// Heights of the lines.
        levels: Vec<f64>,
    },
    /// A dashed vertical line across the panel.
    VerticalRule {
        /// Its position.
        x: f64,
    },
    /// A dashed horizontal line across the panel.
    HorizontalRule {
        /// Its position.
        y: f64,
    },
}

/// A shape in a panel, with its colour and label.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The shape.
    pub shape: Shape,
    /// Its colour.
    pub color: Color,
    /// Its label in the legend.
    pub label: Option<String>,
}

impl Mark {
    fn new(shape: Shape, color: Color) -> Self {
        Self { shape, color, label: None }
    }

    /// A line.
    pub fn line(points: impl Into<Vec<(f64, f64)>>, color: Color) -> Self {
        Self::new(Shape::Line { points: points.into(), dashed: false, width: 1.8 }, color)
    }

    /// A dashed line.
    pub fn dashed(points: impl Into<Vec<(f64, f64)>>, color: Color) -> Self {
        Self::new(Shape::Line { points: points.into(), dashed: true, width: 1.8 }, color)
    }

    /// Dots.
    pub fn dots(points: impl Into<Vec<(f64, f64)>>, color: Color) -> Self {
        Self::new(Shape::Markers { points: points.into(), size: 2.6, opacity: 0.85 }, color)
    }

    /// The area between two lines, from x, lower and upper value.
    pub fn band(points: impl Into<Vec<(f64, f64, f64)>>, color: Color) -> Self {
        Self::new(Shape::Band { points: points.into(), opacity: 0.25 }, color)
    }

    /// The columns of a histogram, from the outline that [`crate::bins::histogram`] returns.
    pub fn columns(outline: impl Into<Vec<(f64, f64)>>, color: Color) -> Self {
        let points = outline.into().into_iter().map(|(x, y)| (x, 0.0, y)).collect();
        Self::new(Shape::Band { points, opacity: 0.4 }, color)
    }

    /// Contours over a grid, with heights row by row.
    pub fn contours(
        x: impl Into<Vec<f64>>,
        y: impl Into<Vec<f64>>,
        z: impl Into<Vec<f64>>,
        levels: impl Into<Vec<f64>>,
        color: Color,
    ) -> Self {
        let (x, y, z, levels) = (x.into(), y.into(), z.into(), levels.into());
        Self::new(Shape::Contours { x, y, z, levels }, color)
    }

    /// A dashed vertical line across the panel.
    pub fn vertical(x: f64, color: Color) -> Self {
        Self::new(Shape::VerticalRule { x }, color)
    }

    /// A dashed horizontal line across the panel.
    pub fn horizontal(y: f64, color: Color) -> Self {
        Self::new(Shape::HorizontalRule { y }, color)
    }

    /// The mark with a label in the legend.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }
}

/// A chart with two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The title above it.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The marks, with the last on top.
    pub marks: Vec<Mark>,
}
