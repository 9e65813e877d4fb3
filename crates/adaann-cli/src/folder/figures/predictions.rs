//! Predictions of a fitted model beside the data: bands along one input, or against the measurements.

use crate::folder::predicted::Predicted;
use adaann_report::{Axis, Color, Figure, Mark, Panel, bins};

/// Panels up to which every subject has its own; of more, measurements are shown against predictions.
const MOST_SUBJECTS: usize = 12;

/// Absent if there is nothing to show.
pub(crate) fn draw(predicted: &Predicted) -> Option<Figure> {
    if predicted.rows == 0 {
        return None;
    }
    let lines = 0..predicted.names.len();
    let axes: Vec<Option<&str>> = lines.clone().map(|line| along(predicted, line)).collect();
    let panels: Vec<Panel> = lines
        .flat_map(|line| match (axes[line], subjects(predicted)) {
            (Some(x), Some((group, subjects))) => {
                let own = |&subject: &f64| of_subject(predicted, line, x, (group, subject));
                subjects.iter().map(own).collect()
            }
            (Some(x), None) => vec![bands(predicted, line, x, (0..predicted.rows).collect())],
            (None, _) if predicted.inputs[line].is_empty() => vec![histograms(predicted, line)],
            (None, _) => vec![against(predicted, line)],
        })
        .collect();
    let mut caption = format!("What {} {} predict.", predicted.draws, predicted.whose.draws());
    if axes.iter().any(Option::is_some) {
        caption += " Bands hold 90 per cent of the predicted measurements, and lines are their \
                    medians.";
    }
    let is_without =
        |(axis, inputs): (&Option<&str>, &Vec<String>)| axis.is_none() && inputs.is_empty();
    if axes.iter().zip(&predicted.inputs).any(is_without) {
        caption += " Columns are the data, and the line is the density of predicted measurements.";
    }
    let is_against =
        |(axis, inputs): (&Option<&str>, &Vec<String>)| axis.is_none() && !inputs.is_empty();
    if axes.iter().zip(&predicted.inputs).any(is_against) {
        caption += " Where measurements depend on several inputs, the mean of what is predicted is \
                    shown against what was measured; the dashed line is where they agree.";
    }
    let columns = panels.len().min(2);
    Some(Figure::grid("predictions", caption, columns, panels))
}

/// The input that a line is drawn along: time, or the only column that it depends on.
fn along(predicted: &Predicted, line: usize) -> Option<&str> {
    match (&predicted.time, &predicted.inputs[line][..]) {
        (Some(_), _) if subjects(predicted).is_some_and(|(_, own)| own.len() > MOST_SUBJECTS) => {
            None
        }
        (Some(time), _) => Some(time),
        (None, [one]) => Some(one),
        _ => None,
    }
}

/// The column of subjects, and who they are.
fn subjects(predicted: &Predicted) -> Option<(&str, Vec<f64>)> {
    let group = predicted.group.as_deref()?;
    let mut all: Vec<f64> = (0..predicted.rows).map(|row| predicted.cell(row, group)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    Some((group, all))
}

/// The bands of one subject.
fn of_subject(predicted: &Predicted, line: usize, x: &str, (group, subject): (&str, f64)) -> Panel {
    let mut rows: Vec<usize> = (0..predicted.rows).collect();
    rows.retain(|&row| predicted.cell(row, group) == subject);
    let title = Some(format!("{group} {subject}"));
    Panel { title, ..bands(predicted, line, x, rows) }
}

fn bands(predicted: &Predicted, line: usize, x: &str, mut rows: Vec<usize>) -> Panel {
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

/// Measurements that depend on no input: their histogram, and the density of all predictions.
fn histograms(predicted: &Predicted, line: usize) -> Panel {
    const BINS: usize = 40;
    let name = &predicted.names[line];
    let measured: Vec<f64> = (0..predicted.rows).map(|row| predicted.cell(row, name)).collect();
    let simulated = predicted.simulated[line].concat();
    let all: Vec<f64> =
        measured.iter().chain(&simulated).copied().filter(|x| x.is_finite()).collect();
    let range = bins::range(&all, &[], [f64::NEG_INFINITY, f64::INFINITY]);
    let heights = bins::histogram(&simulated, range, BINS);
    let data = bins::histogram(&measured, range, BINS);
    Panel {
        title: None,
        x: Axis::new(name.clone()).between(range[0], range[1]),
        y: Axis::new("density"),
        marks: vec![
            Mark::columns(data, Color::Sky).label("data"),
            Mark::line(heights, Color::Blue).label("predicted"),
        ],
    }
}

fn against(predicted: &Predicted, line: usize) -> Panel {
    let name = &predicted.names[line];
    let point = |row: usize| {
        let expected = predicted.expected[line][row];
        let middle = predicted.quantile(line, row, 0.5);
        (predicted.cell(row, name), if expected.is_finite() { expected } else { middle })
    };
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
