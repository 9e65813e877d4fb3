//! The figure of predictions and data: bands along one input, or predictions against measurements.

use crate::folder::predicted::Predicted;
use adaann_report::{Axis, Color, Figure, Mark, Panel, bins};

/// Maximum number of subjects with a panel each; for more, predictions are shown against measurements.
const MOST_SUBJECTS: usize = 12;

/// `None` if no rows were predicted.
pub(crate) fn draw(predicted: &Predicted) -> Option<Figure> {
    if predicted.rows == 0 {
        return None;
    }
    let lines = 0..predicted.names.len();
    let axes: Vec<Option<&str>> = lines.clone().map(|line| along(predicted, line)).collect();
    let mut caption = format!("Predictions of {} {}.", predicted.draws, predicted.whose.draws());
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
        caption += " Where measurements depend on several inputs, the predicted mean is \
                    shown against the measurement; they agree on the dashed line.";
    }
    let all: Option<Vec<&str>> = axes.iter().copied().collect();
    if let (Some((group, subjects)), Some(axes)) = (subjects(predicted), all) {
        let of_line = |(line, &x): (usize, &&str)| {
            let own = |&subject: &f64| of_subject(predicted, line, x, (group, subject));
            subjects.iter().map(own).collect()
        };
        let columns = (subjects.len() as f64).sqrt().ceil() as usize;
        let panels = axes.iter().enumerate().map(of_line).collect();
        return Some(Figure::multiples("predictions", caption, columns, panels));
    }
    let panels: Vec<Panel> = lines
        .map(|line| match axes[line] {
            Some(x) => bands(predicted, line, x, (0..predicted.rows).collect()),
            None if predicted.inputs[line].is_empty() => histograms(predicted, line),
            None => against(predicted, line),
        })
        .collect();
    let columns = panels.len().min(2);
    Some(Figure::grid("predictions", caption, columns, panels))
}

/// The horizontal axis of a line: time, or the only column that it depends on.
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

/// The column of subjects, and its distinct values.
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

/// An input has a logarithmic axis if the ratio of its largest to its smallest value reaches this number.
const DECADES: f64 = 1e3;

/// The axis of an input.
fn axis(predicted: &Predicted, x: &str) -> Axis {
    let all = (0..predicted.rows).map(|row| predicted.cell(row, x)).filter(|x| !x.is_nan());
    let least = all.clone().fold(f64::INFINITY, f64::min);
    let most = all.fold(f64::NEG_INFINITY, f64::max);
    if least > 0.0 && most > DECADES * least { Axis::new(x).log() } else { Axis::new(x) }
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
    Panel { title: None, x: axis(predicted, x), y: Axis::new(name), marks }
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
        // New inputs have no measurements, so show predictions by row.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::drawn::Whose;
    use adaann::registry::Table;

    /// Measurements of two subjects at these times.
    fn predicted(times: &[f64]) -> Predicted {
        let rows: Vec<Vec<f64>> =
            times.iter().enumerate().map(|(row, t)| vec![*t, 1.0, (row % 2) as f64]).collect();
        let count = rows.len();
        Predicted {
            names: vec!["y".into()],
            inputs: vec![vec!["id".into()]],
            time: Some("t".into()),
            group: Some("id".into()),
            rows: count,
            draws: 2,
            whose: Whose::Target,
            simulated: vec![vec![vec![0.5, 1.5]; count]],
            expected: vec![vec![1.0; count]],
            table: Table { names: ["t", "y", "id"].map(str::to_owned).to_vec(), rows },
        }
    }

    #[test]
    fn decades_of_time_have_a_logarithmic_axis() {
        let is_log = |times: &[f64]| axis(&predicted(times), "t").log;
        assert!(is_log(&[0.03, 1.0, f64::NAN, 1e4]));
        assert!(!is_log(&[0.0, 1.0, 1e4]));
        assert!(!is_log(&[20.0, 1.0, 900.0]));
        assert!(!is_log(&[]));
    }

    #[test]
    fn subjects_stand_side_by_side_with_one_name_upwards() {
        let svg = draw(&predicted(&[1.0, 2.0, 3.0, 4.0])).expect("there are rows").svg();
        assert!(svg.contains(">id 0<") && svg.contains(">id 1<"), "{svg}");
        assert_eq!((svg.matches(">y<").count(), svg.matches(">t<").count()), (1, 2));
    }
}
