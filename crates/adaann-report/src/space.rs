//! Points and trajectories in three dimensions, in an orthographic projection.

use crate::{
    Color,
    figure::{Cell, Drawing},
    grid::WIDTH,
    ink::{Anchor, Fill, Group, Ink, Point, Stroke, Text},
    legend::{self, Entry, Look},
    panel::DARK,
    scale::{Scale, fit},
    series::layered,
    svg::value,
    text, ticks,
};

/// A chart with three axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// The title above it.
    pub title: Option<String>,
    /// The labels of the axes.
    pub labels: [String; 3],
    /// The marks, with the last on top.
    pub marks: Vec<SpaceMark>,
}

/// Points or a line in three dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceMark {
    /// The points.
    pub points: Vec<[f64; 3]>,
    /// Are they drawn as a line instead of dots?
    pub line: bool,
    /// Their colour.
    pub color: Color,
    /// The label in the legend.
    pub label: Option<String>,
    /// Radius of the dots, or width of the line.
    pub size: f64,
    /// The opacity of dots, from 0 to 1.
    pub opacity: f64,
}

/// The initial view: turn and tilt, in radians.
const VIEW: [f64; 2] = [-0.62, 0.42];

/// The maximal number of points of a mark, which keeps pages small.
const MOST: usize = 2_000;

const EDGES: [[usize; 2]; 12] = [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7], // along the first axis
    [0, 2],
    [1, 3],
    [4, 6],
    [5, 7], // along the second
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7], // along the third
];

/// Projects a point of the cube from −1 to 1 to the plane: turned about the third axis, then tilted.
///
/// The script of the page has the same code.
pub(crate) fn project([x, y, z]: [f64; 3], [turn, tilt]: [f64; 2]) -> [f64; 2] {
    let across = x * turn.cos() - y * turn.sin();
    let away = x * turn.sin() + y * turn.cos();
    [across, -z * tilt.cos() - away * tilt.sin()]
}

/// Corner `i` of the cube. Bit d determines the end of axis d.
fn corner(i: usize) -> [f64; 3] {
    [0, 1, 2].map(|d| if i >> d & 1 == 1 { 1.0 } else { -1.0 })
}

/// The spaces side by side.
pub(crate) fn draw(spaces: &[Space]) -> Drawing {
    let columns = if spaces.len() == 4 { 2 } else { spaces.len().clamp(1, 3) };
    let width = WIDTH / columns as f64;
    let height = if columns == 1 { 520.0 } else { 0.9 * width + 10.0 };
    let cells = spaces.iter().map(|space| Cell {
        size: [width, height],
        title: space.title.clone(),
        inks: vec![cell(space, [width, height])],
    });
    let entries = spaces.iter().flat_map(|space| space.marks.iter().map(entry));
    Drawing { legend: legend::entries(entries), columns, cells: cells.collect() }
}

fn entry(mark: &SpaceMark) -> Option<Entry> {
    let look = if mark.line { Look::Line { dashed: false } } else { Look::Dots };
    Some(Entry { label: mark.label.clone()?, color: mark.color, look })
}

fn cell(space: &Space, [width, height]: [f64; 2]) -> Ink {
    let top = if space.title.is_some() { 24.0 } else { 4.0 };
    // Leave space for numbers and a label on the left.
    let center = (width / 2.0 + 9.0, top + (height - top) / 2.0 - 4.0);
    // The projected cube is at most 2√2 wide and 2√3 high. Leave room for labels around it.
    let unit = ((width - 90.0) / 2.83).min((height - top - 60.0) / 3.1);
    let at = |point: [f64; 3]| -> Point {
        let [x, y] = project(point, VIEW);
        (center.0 + unit * x, center.1 + unit * y)
    };
    let ranges = [0, 1, 2].map(|d| {
        let values = space.marks.iter().flat_map(|mark| mark.points.iter().map(|p| p[d]));
        fit(None, false, values, 0.03, false)
    });
    let scales = ranges.map(|[low, high]| Scale { low, high, log: false, from: -1.0, to: 1.0 });
    let mut inks: Vec<Ink> = EDGES
        .iter()
        .map(|edge| {
            let stroke = Stroke { color: "#d0d0d0", width: 0.8, dashed: false };
            let ends = edge.map(corner);
            let data = vec![("cube", numbers(&ends))];
            let line = Ink::line(ends.map(at).to_vec(), stroke);
            Ink::Group(Group { class: "solid", data, window: None, inks: vec![line] })
        })
        .collect();
    inks.extend(axis_words(space, &scales, unit, &at));
    inks.extend(space.marks.iter().map(|mark| solid(mark, &scales, &at)));
    if let Some(title) = &space.title {
        inks.push(Ink::Text(words(&text::cut(title, 12.5, width), (width / 2.0, 16.0), 12.5)));
    }
    let data = vec![
        ("space", [center.0, center.1, unit, VIEW[0], VIEW[1]].map(value).join(" ")),
        ("ranges", ranges.map(|[low, high]| format!("{} {}", value(low), value(high))).join(" ")),
        ("labels", space.labels.join("\n")),
    ];
    Ink::Group(Group { class: "space", data, window: None, inks })
}

fn words(text: &str, at: Point, size: f64) -> Text {
    let (power, anchor) = (String::new(), Anchor::Middle);
    Text { at, words: text.to_owned(), power, size, anchor, color: DARK, upright: false }
}

/// Numbers and labels along the three edges that are visible in every view.
fn axis_words(
    space: &Space,
    scales: &[Scale; 3],
    unit: f64,
    at: &dyn Fn([f64; 3]) -> Point,
) -> Vec<Ink> {
    let mut inks = Vec::new();
    for d in 0..3 {
        // Beside the edge, away from the cube.
        let place = |along: f64, out: f64| match d {
            0 => [along, -1.0 - out, -1.0],
            1 => [1.0 + out, along, -1.0],
            _ => [-1.0 - out, -1.0, along],
        };
        let mut put = |point: [f64; 3], text: Text| {
            let data = vec![("cube", numbers(&[point]))];
            let text = Ink::Text(text);
            inks.push(Ink::Group(Group { class: "solid", data, window: None, inks: vec![text] }));
        };
        for tick in ticks::ticks(&scales[d], 4) {
            // Where two edges meet, their numbers would overlap.
            let along = scales[d].at(tick.value).filter(|along| along.abs() < 0.93);
            let Some(along) = along else { continue };
            let point = place(along, 0.16);
            let at = at(point);
            let number = Text { power: tick.power, ..words(&tick.words, (at.0, at.1 + 4.0), 10.0) };
            put(point, number);
        }
        // Outside the numbers, for any size of the cube.
        let point = place(0.0, 0.16 + if d == 2 { 31.0 } else { 38.0 } / unit);
        let at = at(point);
        put(point, words(&space.labels[d], (at.0, at.1 + 4.0), 12.0));
    }
    inks
}

fn solid(mark: &SpaceMark, scales: &[Scale; 3], at: &dyn Fn([f64; 3]) -> Point) -> Ink {
    let every = mark.points.len().div_ceil(MOST).max(1);
    let cube: Vec<[f64; 3]> = mark
        .points
        .iter()
        .step_by(every)
        .filter_map(|p| Some([scales[0].at(p[0])?, scales[1].at(p[1])?, scales[2].at(p[2])?]))
        .collect();
    let places: Vec<Point> = cube.iter().map(|&point| at(point)).collect();
    let color = mark.color.hex();
    let inks = if mark.line {
        vec![Ink::line(places, Stroke { color, width: mark.size, dashed: false })]
    } else {
        layered(&places, mark.size, Fill { color, opacity: mark.opacity })
    };
    let mut data = vec![("cube", numbers(&cube)), ("color", color.to_owned())];
    data.extend(mark.label.iter().map(|label| ("label", label.clone())));
    Ink::Group(Group { class: "solid mark", data, window: None, inks })
}

/// Coordinates in the cube, rounded to the resolution of a screen.
fn numbers(points: &[[f64; 3]]) -> String {
    let short = |x: &f64| value((x * 1000.0).round() / 1000.0);
    points.iter().flatten().map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_axis_stays_upright_and_turns_keep_lengths() {
        let [x, y] = project([0.0, 0.0, 1.0], VIEW);
        assert!(x == 0.0 && y < 0.0, "upwards is up");
        let [x, y] = project([1.0, 0.0, 0.0], [std::f64::consts::FRAC_PI_2, 0.0]);
        assert!(x.abs() < 1e-12 && y.abs() < 1e-12, "an axis that points away has no length");
        // The view from above shows the plane undistorted.
        let [x, y] = project([0.3, 0.4, 0.9], [0.8, std::f64::consts::FRAC_PI_2]);
        assert!((x.hypot(y) - 0.5).abs() < 1e-12);
    }
}
