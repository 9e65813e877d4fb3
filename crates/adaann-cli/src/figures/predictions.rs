//! Predictions of a fitted model beside the data: bands along one input, or against the measurements.

use crate::predict::Predicted;
use adaann_report::{Axis, Color, Figure, Mark, Panel};

/// Absent if there is nothing to show.
pub(crate) fn draw(predicted: &Predicted) -> Option<Figure> {
    if predicted.rows == 0 {
        return None;
    }
    let lines = 0..predicted.names.len();
    let axes: Vec<Option<&str>> = lines.clone().map(|line| along(predicted, line)).collect();
    let panels: Vec<Panel> = lines
        .map(|line| match axes[line] {
            Some(x) => bands(predicted, line, x),
            None => against(predicted, line),
        })
        .collect();
    let mut caption = format!("What {} draws predict.", predicted.draws);
    if axes.iter().any(Option::is_some) {
        caption += " Bands hold 90 per cent of the predicted measurements, and lines are their \
                    medians.";
    }
    if axes.iter().any(Option::is_none) {
        caption += " Where measurements depend on several inputs, the median of what is predicted \
                    is shown against what was measured; the dashed line is where they agree.";
    }
    let columns = panels.len().min(2);
    Some(Figure::grid("predictions", caption, columns, panels))
}

/// The input that a line is drawn along: time, or the only column that it depends on.
fn along(predicted: &Predicted, line: usize) -> Option<&str> {
    match (&predicted.time, &predicted.inputs[line][..]) {
        (Some(time), _) => Some(time),
        (None, [one]) => Some(one),
        _ => None,
    }
}

fn bands(predicted: &Predicted, line: usize, x: &str) -> Panel {
    let mut rows: Vec<usize> = (0..predicted.rows).collect();
    rows.sort_by(|&a, &b| predicted.cell(a, x).total_cmp(&predicted.cell(b, x)));
    let (mut band, mut middle, mut data) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let at = predicted.cell(row, x);
        let quantile = |share| predicted.quantile(line, row, share);
        let (low, median, high) = (quantile(0.05), quantile(0.5), quantile(0.95));
        if median.is_finite() && band.last().is_none_or(|&(last, _, _)| last < at) {
            band.push((at, low, high));
            middle.push((at, median));
        }
        let measured = predicted.cell(row, &predicted.names[line]);
        if measured.is_finite() {
            data.push((at, measured));
        }
    }
    let mut marks = vec![
        Mark::band(band, Color::Sky).label("5 to 95 per cent"),
        Mark::line(middle, Color::Blue).label("median"),
    ];
    if !data.is_empty() {
        marks.push(Mark::dots(data, Color::Black).label("data"));
    }
    let name = predicted.names[line].clone();
    Panel { title: None, x: Axis::new(x), y: Axis::new(name), marks }
}

fn against(predicted: &Predicted, line: usize) -> Panel {
    let name = &predicted.names[line];
    let point = |row: usize| (predicted.cell(row, name), predicted.quantile(line, row, 0.5));
    let points: Vec<(f64, f64)> =
        (0..predicted.rows).map(point).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let all = points.iter().flat_map(|&(x, y)| [x, y]);
    let low = all.clone().fold(f64::INFINITY, f64::min);
    let high = all.fold(f64::NEG_INFINITY, f64::max);
    let marks = if points.is_empty() {
        // New inputs have no measurements: the row is all there is.
        let rows = (0..predicted.rows).map(|row| (row as f64 + 1.0, point(row).1));
        vec![Mark::dots(rows.filter(|(_, y)| y.is_finite()).collect::<Vec<_>>(), Color::Blue)]
    } else {
        let agreement = Mark::dashed(vec![(low, low), (high, high)], Color::Vermillion);
        vec![Mark::dots(points, Color::Blue), agreement]
    };
    Panel {
        title: None,
        x: Axis::new(format!("{name} measured")),
        y: Axis::new(format!("{name} predicted")),
        marks,
    }
}
