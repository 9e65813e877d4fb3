//! Rates at which both modes are captured, over the distance between them, and the masses of the modes.

use super::view::View;
use crate::{
    experiments::{Kind, Point, Run},
    stats::quantile,
    trial::CAPTURED,
};
use adaann_report::{Axis, Color, Mark, Panel, Shape, Table};

fn header(runs: &[&Run]) -> Vec<String> {
    let values = runs.first().map(|run| run.points.iter().filter_map(|point| point.value));
    let values = values.into_iter().flatten().map(|value| value.to_string());
    std::iter::once("mu =".to_owned()).chain(values).collect()
}

/// The published rate at a value of mu, if any.
type Published = (&'static str, fn(f64) -> Option<f64>);

/// With annealing, all trials of the paper capture both modes.
pub(super) const ANNEALED: Published = ("paper, linear and AdaAnn", |_| Some(100.0));

/// Its asymmetric case without annealing: always at 1, never from 3 on.
pub(super) const ASYMMETRIC: Published = ("paper, no annealing", |mu| match mu {
    1.0 => Some(100.0),
    3.0.. => Some(0.0),
    _ => None,
});

/// The percentage of trials that capture both modes, for each run and value, below the published ones.
pub(super) fn table(view: &View, runs: &[&Run], published: &[Published], caption: &str) -> Table {
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
        let label = format!("{}, trials: {trials}", run.title());
        std::iter::once(label).chain(run.points.iter().map(|point| cell(run, point))).collect()
    };
    let theirs = |(label, rate): &Published| -> Vec<String> {
        let values = runs.first().into_iter().flat_map(|run| &run.points);
        let rates = values.filter_map(|point| point.value).map(rate);
        let cells = rates.map(|rate| rate.map_or("–".into(), |rate| format!("{rate:.0}")));
        std::iter::once((*label).to_owned()).chain(cells).collect()
    };
    let of_run = |run: &&Run| run.points.iter().map(|point| view.failed(run, point)).sum::<usize>();
    let failed: usize = runs.iter().map(of_run).sum();
    let failures = match failed {
        0 => String::new(),
        _ => format!(" {failed} trials failed or were given up, and count as not captured."),
    };
    Table {
        caption: caption.to_owned(),
        header: header(runs),
        rows: published.iter().map(theirs).chain(runs.iter().map(row)).collect(),
        note: Some(format!(
            "Per cent of the trials with at least {:.0} per cent of the draws near each mode; in \
             brackets, where they differ, with at least 1 and at least 20 per cent.{failures}",
            100.0 * CAPTURED
        )),
    }
}

/// The mass of the lighter mode: its median and minimum over the trials.
pub(super) fn masses(view: &View, runs: &[&Run], caption: &str) -> Table {
    let cell = |run: &Run, point: &Point| {
        let lighter = view.values(run, point, |found| found.at_end.lightest_mass());
        match lighter.is_empty() {
            true => "–".into(),
            false => format!("{:.2} ({:.2})", quantile(&lighter, 0.5), quantile(&lighter, 0.0)),
        }
    };
    let row = |run: &&Run| {
        let cells = run.points.iter().map(|point| cell(run, point));
        std::iter::once(run.title()).chain(cells).collect()
    };
    Table {
        caption: caption.to_owned(),
        header: header(runs),
        rows: runs.iter().map(row).collect(),
        note: Some("Median over the trials and, in brackets, the least.".into()),
    }
}

/// Colours of runs without annealing. Each schedule has the same colour in all figures.
const PLAIN: [Color; 6] =
    [Color::Green, Color::Orange, Color::Purple, Color::Sky, Color::Black, Color::Grey];

/// Rates over the parameter.
pub(super) fn panel(view: &View, runs: &[&Run], title: &str) -> Panel {
    let marks = runs.iter().enumerate().map(|(i, run)| {
        let rate = |point| {
            let trials = view.trials(run, point).len() as f64;
            100.0 * view.captured(run, point, CAPTURED) as f64 / trials
        };
        let points = run.points.iter().filter_map(|p| Some((p.value?, rate(p)))).collect();
        // Adjacent panels share a legend, even if their numbers of layers differ.
        let (label, color) = match run.kind {
            Kind::None => (run.label.clone(), PLAIN[i % PLAIN.len()]),
            Kind::Linear => ("linear".into(), Color::Vermillion),
            Kind::AdaAnn => ("AdaAnn".into(), Color::Blue),
        };
        let shape = Shape::LineMarkers { points, dashed: run.kind == Kind::Linear };
        Mark { shape, color, label: Some(label) }
    });
    Panel {
        title: Some(title.to_owned()),
        x: Axis::new("mu"),
        y: Axis::new("both modes captured, per cent").between(-3.0, 103.0),
        marks: marks.collect(),
    }
}
