//! Draws marks, with their values for the readout on the page.

use crate::{
    contour::Heights,
    ink::{Fill, Group, Ink, Point, Rect, Stroke},
    mark::{Mark, Shape},
    scale::Scale,
    svg::value,
};

/// The maximal number of points of a series in the readout. Longer series are thinned.
const MOST_READ: usize = 600;

/// The number of layers of dots. Overlapping dots of different layers are darker.
const LAYERS: usize = 5;

/// Opacity that each contour adds.
const CONTOUR: f64 = 0.17;

/// Points whose bounding box contains the shape.
pub(crate) fn extent(shape: &Shape) -> Vec<Point> {
    match shape {
        Shape::Line { points, .. }
        | Shape::Markers { points, .. }
        | Shape::LineMarkers { points, .. } => points.clone(),
        Shape::Band { points, .. } => {
            points.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]).collect()
        }
        Shape::Contours { x, y, .. } => match (&x[..], &y[..]) {
            ([left, .., right], [bottom, .., top]) => vec![(*left, *bottom), (*right, *top)],
            _ => Vec::new(),
        },
        Shape::VerticalRule { .. } | Shape::HorizontalRule { .. } => Vec::new(),
    }
}

/// Draws a mark.
pub(crate) fn draw(mark: &Mark, x: &Scale, y: &Scale, area: Rect) -> Ink {
    let at = |(px, py): Point| Some((x.at(px)?, y.at(py)?));
    let color = mark.color.hex();
    let line = |points: &[Point], stroke| Ink::Path {
        lines: runs(points.iter().map(|&point| at(point))),
        closed: false,
        fill: None,
        stroke: Some(stroke),
    };
    let dots = |points: &[Point], radius, opacity: f64| {
        let places: Vec<Point> = points.iter().filter_map(|&point| at(point)).collect();
        layered(&places, radius, Fill { color, opacity })
    };
    let inks = match &mark.shape {
        Shape::Line { points, dashed, width } => {
            vec![line(points, Stroke { color, width: *width, dashed: *dashed })]
        }
        Shape::Markers { points, size, opacity } => dots(points, *size, *opacity),
        Shape::LineMarkers { points, dashed } => {
            let mut inks = vec![line(points, Stroke { color, width: 1.6, dashed: *dashed })];
            inks.extend(dots(points, 3.2, 1.0));
            if *dashed {
                let white = Fill { color: "#ffffff", opacity: 1.0 };
                let places: Vec<Point> = points.iter().filter_map(|&point| at(point)).collect();
                inks.extend(layered(&places, 1.8, white));
            }
            inks
        }
        Shape::Band { points, opacity } => vec![band(points, x, y, color, *opacity)],
        Shape::Contours { x: xs, y: ys, z, levels } => {
            let heights = Heights { x: xs, y: ys, z };
            let levels = if heights.is_whole() { &levels[..] } else { &[] };
            let contour = |level: &f64| Ink::Path {
                lines: heights
                    .above(*level)
                    .iter()
                    .map(|line| line.iter().filter_map(|&point| at(point)).collect())
                    .collect(),
                closed: true,
                fill: Some(Fill { color, opacity: CONTOUR }),
                stroke: Some(Stroke { color, width: 0.6, dashed: false }),
            };
            levels.iter().map(contour).collect()
        }
        Shape::VerticalRule { x: place } => {
            let ends = |px: f64| vec![(px, area.top), (px, area.bottom())];
            x.at(*place).map(|px| Ink::line(ends(px), rule(color))).into_iter().collect()
        }
        Shape::HorizontalRule { y: place } => {
            let ends = |py: f64| vec![(area.left, py), (area.right(), py)];
            y.at(*place).map(|py| Ink::line(ends(py), rule(color))).into_iter().collect()
        }
    };
    Ink::Group(Group { class: "mark", data: data(mark, x, y), window: None, inks })
}

fn rule(color: &'static str) -> Stroke {
    Stroke { color, width: 1.3, dashed: true }
}

/// Splits a line at the points that have no position.
fn runs(points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut runs = vec![Vec::new()];
    for point in points {
        match point {
            Some(point) => runs.last_mut().expect("never empty").push(point),
            None => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// Splits dots into layers that darken each other, unless they are opaque.
pub(crate) fn layered(points: &[Point], radius: f64, fill: Fill) -> Vec<Ink> {
    let layers = if fill.opacity < 1.0 { LAYERS } else { 1 };
    (0..layers)
        .map(|layer| points.iter().skip(layer).step_by(layers).copied().collect::<Vec<_>>())
        .filter(|points| !points.is_empty())
        .map(|points| Ink::Dots { points, radius, fill })
        .collect()
}

fn band(
    points: &[(f64, f64, f64)],
    x: &Scale,
    y: &Scale,
    color: &'static str,
    opacity: f64,
) -> Ink {
    // A value that is not positive lies at the lower end of a logarithmic axis.
    let low = |value: f64| y.at(value).or((y.log && value <= 0.0).then_some(y.from));
    let pairs = points.iter().map(|&(px, bottom, top)| {
        let (px, bottom, top) = (x.at(px)?, low(bottom)?, low(top)?);
        Some((px, bottom, top))
    });
    let mut lines: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new()];
    for pair in pairs {
        match pair {
            Some(pair) => lines.last_mut().expect("never empty").push(pair),
            None => lines.push(Vec::new()),
        }
    }
    let outline = |run: Vec<(f64, f64, f64)>| -> Vec<Point> {
        let above = run.iter().map(|&(x, _, top)| (x, top));
        let flat = run.iter().all(|&(_, bottom, _)| bottom == run[0].1);
        let ends = [run[run.len() - 1], run[0]];
        let below: Vec<Point> = if flat {
            ends.iter().map(|&(x, bottom, _)| (x, bottom)).collect()
        } else {
            run.iter().rev().map(|&(x, bottom, _)| (x, bottom)).collect()
        };
        above.chain(below).collect()
    };
    let lines = lines.into_iter().filter(|run| run.len() > 1).map(outline).collect();
    Ink::Path { lines, closed: true, fill: Some(Fill { color, opacity }), stroke: None }
}

/// The data of the mark for the readout.
fn data(mark: &Mark, x: &Scale, y: &Scale) -> Vec<(&'static str, String)> {
    let mut data = vec![("color", mark.color.hex().to_owned())];
    if let Some(label) = &mark.label {
        data.push(("label", label.clone()));
    }
    let shown = |&(px, py): &Point| x.at(px).is_some() && y.at(py).is_some();
    let pairs = |points: &[Point]| {
        let points: Vec<Point> = points.iter().copied().filter(shown).collect();
        let numbers = thinned(&points).flat_map(|&(x, y)| [x, y]);
        numbers.map(value).collect::<Vec<_>>().join(" ")
    };
    match &mark.shape {
        Shape::Line { points, .. } | Shape::LineMarkers { points, .. } => {
            data.push(("line", pairs(points)));
        }
        Shape::Markers { points, .. } => data.push(("dots", pairs(points))),
        Shape::Band { points, .. } => {
            let points: Vec<_> = read_band(points)
                .into_iter()
                .filter(|p| p.0.is_finite() && p.1.is_finite() && p.2.is_finite())
                .collect();
            let numbers = thinned(&points).flat_map(|&(x, low, high)| [x, low, high]);
            data.push(("band", numbers.map(value).collect::<Vec<_>>().join(" ")));
        }
        Shape::VerticalRule { x } => data.push(("rule", format!("x {}", value(*x)))),
        Shape::HorizontalRule { y } => data.push(("rule", format!("y {}", value(*y)))),
        Shape::Contours { .. } => {}
    }
    data
}

/// Points for the readout of a band. For columns these are the middles, because two columns share each edge.
fn read_band(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
    let sides = match points {
        [_, sides @ .., _] => sides,
        _ => &[],
    };
    let is_column = |pair: &[(f64, f64, f64)]| matches!(pair, [left, right] if left.1 == 0.0 && left.2 == right.2 && left.0 < right.0);
    if sides.is_empty() || !sides.chunks(2).all(is_column) {
        return points.to_vec();
    }
    let middle = |pair: &[(f64, f64, f64)]| ((pair[0].0 + pair[1].0) / 2.0, 0.0, pair[0].2);
    sides.chunks(2).map(middle).collect()
}

/// Thins the points to at most about `MOST_READ`, and keeps the last one.
fn thinned<T>(points: &[T]) -> impl Iterator<Item = &T> {
    let every = points.len().div_ceil(MOST_READ).max(1);
    let last = points.len().saturating_sub(1);
    points.iter().enumerate().filter(move |(i, _)| i % every == 0 || *i == last).map(|(_, p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;

    #[test]
    fn thinning_keeps_the_last_point() {
        let points: Vec<u32> = (0..1801).collect();
        let kept: Vec<_> = thinned(&points).copied().collect();
        assert!(kept.len() <= MOST_READ + 1);
        assert_eq!((kept[0], kept.last()), (0, Some(&1800)));
    }

    #[test]
    fn columns_are_read_in_their_middle() {
        let outline = crate::bins::histogram(&[0.1, 0.2, 0.7, 0.8], [0.0, 1.0], 2);
        let Shape::Band { points, .. } = Mark::columns(outline, Color::Blue).shape else {
            panic!("a band");
        };
        assert_eq!(read_band(&points), [(0.25, 0.0, 1.0), (0.75, 0.0, 1.0)]);
        let band = [(0.0, 1.0, 2.0), (1.0, 1.0, 3.0), (2.0, 1.0, 3.0), (3.0, 0.0, 1.0)];
        assert_eq!(read_band(&band), band);
    }

    #[test]
    fn lines_break_where_they_have_no_place() {
        let scale = Scale { low: 0.0, high: 1.0, log: false, from: 0.0, to: 10.0 };
        let points = [(0.0, 0.0), (0.1, 0.1), (0.2, f64::NAN), (0.3, 0.3), (0.4, 0.4)];
        let area = Rect { left: 0.0, top: 0.0, width: 10.0, height: 10.0 };
        let Ink::Group(group) = draw(&Mark::line(points, Color::Blue), &scale, &scale, area) else {
            panic!("a group");
        };
        let Ink::Path { lines, .. } = &group.inks[0] else { panic!("a path") };
        assert_eq!(lines.len(), 2);
        assert_eq!(group.data[1], ("line", "0 0 0.1 0.1 0.3 0.3 0.4 0.4".to_owned()));
    }
}
