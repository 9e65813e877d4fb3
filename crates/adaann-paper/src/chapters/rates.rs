//! How often both modes are captured: rates over the distance between them, and the masses behind.

use super::view::View;
use crate::{
    experiments::{Kind, Point, Run},
    stats::{quantile, short},
    trial::CAPTURED,
};
use adaann_report::{Axis, Color, Mark, Panel, Shape, Table};

fn header(runs: &[&Run], first: &str) -> Vec<String> {
    let values = runs.first().map(|run| run.points.iter().map(|point| point.value));
    let values = values.into_iter().flatten().map(|v| v.map_or(String::new(), |v| v.to_string()));
    std::iter::once(first.to_owned()).chain(values).collect()
}

/// Per cent of the trials that capture both modes, for each run and value.
pub(super) fn table(view: &View, runs: &[&Run], caption: &str) -> Table {
    let cell = |run: &Run, point: &Point| {
        let trials = view.trials(run, point).len();
        let rate = |share| {
            format!("{:.0}", 100.0 * view.captured(run, point, share) as f64 / trials as f64)
        };
        let [low, at, high] = [0.01, CAPTURED, 0.2].map(rate);
        if low == at && high == at { at } else { format!("{at} ({low}, {high})") }
    };
    let row = |run: &&Run| {
        let trials = view.trials(run, &run.points[0]).len();
        let label = format!("{}, {trials} trials", run.label);
        std::iter::once(label).chain(run.points.iter().map(|point| cell(run, point))).collect()
    };
    Table {
        caption: caption.to_owned(),
        header: header(runs, "mu ="),
        rows: runs.iter().map(row).collect(),
        note: Some(
            "Per cent of the trials with at least 5 per cent of the draws near each mode; in \
             brackets, where they differ, with at least 1 and at least 20 per cent."
                .into(),
        ),
    }
}

/// The mass of the lighter mode: its median and its least over the trials.
pub(super) fn masses(view: &View, runs: &[&Run], caption: &str) -> Table {
    let cell = |run: &Run, point: &Point| {
        let lighter = view.values(run, point, |found| {
            found.at_end.masses.iter().copied().fold(f64::INFINITY, f64::min)
        });
        format!("{} ({})", mass(quantile(&lighter, 0.5)), mass(quantile(&lighter, 0.0)))
    };
    let row = |run: &&Run| {
        let cells = run.points.iter().map(|point| cell(run, point));
        std::iter::once(run.label.clone()).chain(cells).collect()
    };
    Table {
        caption: caption.to_owned(),
        header: header(runs, "mu ="),
        rows: runs.iter().map(row).collect(),
        note: Some("Median over the trials and, in brackets, the least.".into()),
    }
}

fn mass(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { short(value) }
}

/// Rates over the parameter.
pub(super) fn panel(view: &View, runs: &[&Run], title: &str) -> Panel {
    let marks = runs.iter().enumerate().map(|(i, run)| {
        let rate = |point| {
            let trials = view.trials(run, point).len() as f64;
            100.0 * view.captured(run, point, CAPTURED) as f64 / trials
        };
        let points = run.points.iter().filter_map(|p| Some((p.value?, rate(p)))).collect();
        let shape = Shape::LineMarkers { points, dashed: run.kind == Kind::Linear };
        // Panels beside each other share a legend, also where their layers differ.
        let label = match run.kind {
            Kind::None => run.label.clone(),
            Kind::Linear => "linear".into(),
            Kind::AdaAnn => "AdaAnn".into(),
        };
        Mark { shape, color: Color::CYCLE[i % Color::CYCLE.len()], label: Some(label) }
    });
    Panel {
        title: Some(title.to_owned()),
        x: Axis::new("mu"),
        y: Axis::new("both modes captured, per cent").between(-3.0, 103.0),
        marks: marks.collect(),
    }
}
