//! The figure for dynamical systems: the data, and the solutions at the draws.

use crate::folder::finished::Finished;
use adaann::registry::{Dynamics, Table};
use adaann_report::{Axis, Color, Figure, Mark, Panel, bins::midpoints};
use anyhow::Result;

/// Number of draws whose solutions are shown.
const DRAWS: usize = 200;
/// Number of times at which they are evaluated.
const TIMES: usize = 120;

/// `None` if the target has no dynamical system, or no draw has a finite solution.
pub(super) fn draw(finished: &Finished) -> Result<Option<Figure>> {
    let (Some(dynamics), Some(data)) =
        (&finished.subject.problem.dynamics, &finished.subject.problem.data)
    else {
        return Ok(None);
    };
    let Some(times) = times(dynamics, data) else { return Ok(None) };
    let count = finished.chosen.x.len();
    let every = count.div_ceil(DRAWS).max(1);
    // Trajectories of draws far out may diverge, so that these have no solution.
    let solutions: Vec<Vec<Vec<f64>>> = (0..count)
        .step_by(every)
        .map(|i| finished.chosen.x.point(i))
        .filter_map(|parameters| dynamics.solve(&parameters, &times).ok())
        .collect();
    if solutions.is_empty() {
        return Ok(None);
    }
    let truth = finished.truth().map(|truth| dynamics.solve(truth, &times)).transpose()?;
    let panel = |(state, name): (usize, &String)| {
        let mut marks = bands(&solutions, state, &times);
        if let Some(truth) = &truth {
            let line: Vec<_> = times.iter().copied().zip(truth[state].iter().copied()).collect();
            marks.push(Mark::dashed(line, Color::Vermillion).label("truth"));
        }
        if dynamics.observed().contains(name) {
            marks.push(Mark::dots(measured(data, name), Color::Black).label("data"));
        }
        Panel {
            title: None,
            x: Axis::new("t").between(dynamics.start(), times[TIMES - 1]),
            y: Axis::new(name.clone()),
            marks,
        }
    };
    let panels: Vec<Panel> = dynamics.states().iter().enumerate().map(panel).collect();
    let caption = format!(
        "Solutions at {} {}: their median and the central 90 per cent at each time, with the data.",
        solutions.len(),
        finished.whose.draws()
    );
    let columns = panels.len().min(3);
    Ok(Some(Figure::grid("trajectories", caption, columns, panels)))
}

/// From the start to the last measurement.
fn times(dynamics: &Dynamics, data: &Table) -> Option<Vec<f64>> {
    let column = data.names.iter().position(|name| name == "t")?;
    let last = data.rows.iter().map(|row| row[column]).fold(f64::NEG_INFINITY, f64::max);
    let start = dynamics.start();
    let mut times = midpoints([start, last], TIMES - 2);
    times.insert(0, start);
    times.push(last);
    (last > start).then_some(times)
}

fn measured(data: &Table, name: &str) -> Vec<(f64, f64)> {
    let place = |name: &str| data.names.iter().position(|column| column == name);
    let Some((t, value)) = place("t").zip(place(name)) else { return Vec::new() };
    data.rows.iter().map(|row| (row[t], row[value])).filter(|(_, x)| !x.is_nan()).collect()
}

/// The median of the solutions, and the band of the central 90 per cent.
fn bands(solutions: &[Vec<Vec<f64>>], state: usize, times: &[f64]) -> Vec<Mark> {
    let (mut band, mut middle) = (Vec::new(), Vec::new());
    for (k, &t) in times.iter().enumerate() {
        let mut values: Vec<f64> = solutions.iter().map(|solution| solution[state][k]).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        band.push((t, at(0.05), at(0.95)));
        middle.push((t, at(0.5)));
    }
    vec![
        Mark::band(band, Color::Sky).label("5 to 95 per cent"),
        Mark::line(middle, Color::Blue).label("median"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann_report::Shape;

    #[test]
    fn bands_are_quantiles_of_the_solutions() {
        let solutions: Vec<_> = (0..=100).map(|i| vec![vec![f64::from(i)]]).collect();
        let marks = bands(&solutions, 0, &[0.5]);
        let Shape::Band { points, .. } = &marks[0].shape else { panic!("a band") };
        assert_eq!(points, &[(0.5, 5.0, 95.0)]);
        let Shape::Line { points, .. } = &marks[1].shape else { panic!("a line") };
        assert_eq!(points, &[(0.5, 50.0)]);
    }

    #[test]
    fn missing_measurements_are_left_out() {
        let data = Table {
            names: vec!["x".into(), "t".into()],
            rows: vec![vec![1.0, 0.1], vec![f64::NAN, 0.2]],
        };
        assert_eq!(measured(&data, "x"), [(0.1, 1.0)]);
        assert_eq!(measured(&data, "y"), []);
    }
}
