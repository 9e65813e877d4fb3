//! Where the kink of Example 5's schedule comes from: what changes there, looked at step by step.

use super::view::View;
use crate::{
    experiments::Run,
    stats::{median, short},
    watch::Look,
};
use adaann_report::{Axis, Block, Color, Figure, Mark, Panel, Table};
use anyhow::Result;

/// Standard deviation of log p under p^t, times t, for a Gaussian in three dimensions: √(d/2).
const OF_GAUSSIAN: f64 = 1.224_744_871_391_589;

pub(super) fn section(view: &View) -> Result<Vec<Block>> {
    let runs = view.case("ex5", "kink");
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let mut looks = Vec::new();
    for run in &runs {
        looks.push((*run, view.kept(run, &run.points[0], 1)?.way));
    }
    let colors = [Color::Blue, Color::Vermillion, Color::Green];
    let lines = |of: &dyn Fn(&Look) -> f64| -> Vec<Mark> {
        let mark = |((run, way), color): (&(&Run, crate::kept::Way), Color)| {
            let points: Vec<_> = smooth(&way.looks, of);
            Mark::line(points, color).label(run.label.clone())
        };
        looks.iter().zip(colors).map(mark).collect()
    };
    let mut excess = lines(&|look| look.std_log_p * look.t / OF_GAUSSIAN);
    excess.push(Mark::horizontal(1.0, Color::Grey));
    let mut near = lines(&|look| look.std_log_p_near * look.t / OF_GAUSSIAN);
    near.push(Mark::horizontal(1.0, Color::Grey));
    let mut width = lines(&|look| look.width);
    width.push(Mark::horizontal(1.0, Color::Grey));
    let panel = |title: &str, label: &str, marks| Panel {
        title: Some(title.to_owned()),
        x: Axis::new("t").log(),
        y: Axis::new(label).log(),
        marks,
    };
    let way = &looks[0].1;
    let steps: Vec<_> =
        way.steps.iter().enumerate().map(|(k, step)| (k as f64 + 1.0, step.0)).collect();
    let schedule = Figure::grid(
        "ex5-schedule",
        "AdaAnn's schedule with the paper's settings, and its last part: steps grow, until they do not.",
        2,
        vec![
            Panel {
                title: Some("the whole schedule".into()),
                x: Axis::new("step"),
                y: Axis::new("t").log(),
                marks: vec![Mark::line(steps.clone(), Color::Blue)],
            },
            Panel {
                title: Some("from t = 0.1 on".into()),
                x: Axis::new("step"),
                y: Axis::new("t").between(0.0, 1.02),
                marks: vec![Mark::line(
                    steps.into_iter().filter(|(_, t)| *t >= 0.1).collect::<Vec<_>>(),
                    Color::Blue,
                )],
            },
        ],
    );
    let figure = Figure::grid(
        "ex5-kink",
        "What changes at the kink. Above: the standard deviation of log p under the flow over that of \
         p^t, of all draws and of those near a mode. Below: how much wider than p^t the flow is near a \
         mode (mean square), and the share of draws between the modes.",
        2,
        vec![
            panel("standard deviation of log p over the exact one", "ratio", excess),
            panel("the same, draws near a mode", "ratio", near),
            panel("width near a mode", "mean square over that of p^t", width),
            panel("draws between the modes", "share", lines(&|look| look.between.max(1e-4))),
        ],
    );
    Ok(vec![
        Block::Heading { id: "kink".into(), text: "The kink of the schedule".into(), level: 3 },
        Block::Figure(schedule),
        Block::Figure(figure),
        Block::Table(table(view, &runs)?),
        Block::Text(
            "The paper saw its steps shrink near the end and left open why. Near a mode p^t is a Gaussian, \
             the standard deviation of log p is 1.22/t, and steps should grow in proportion to t to the \
             end. They do while the flow follows. Its layers jitter by as much as the learning rate moves \
             them, a width that does not shrink with p^t: once p^t is about as narrow as that, the flow \
             stays wider than p^t, the variance of log p stops falling as 1/t², and steps stop growing. \
             **So the kink is a property of the training, not of the density**: with a quarter of the \
             learning rate and four times the updates at each t the same density has its kink later or not \
             at all, as the table shows."
                .into(),
        ),
    ])
}

/// Means over neighbouring looks: one has 2,000 draws, and rare ones far away count much.
fn smooth(looks: &[Look], of: &dyn Fn(&Look) -> f64) -> Vec<(f64, f64)> {
    looks
        .chunks(5)
        .map(|chunk| {
            let values: Vec<f64> = chunk.iter().map(of).collect();
            (chunk[chunk.len() / 2].t, median(&values))
        })
        .filter(|(_, y)| *y > 0.0)
        .collect()
}

/// The excess at some values of t, over all trials.
fn table(view: &View, runs: &[&Run]) -> Result<Table> {
    let edges = [(0.01, 0.03), (0.03, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.0)];
    let mut rows = Vec::new();
    for run in runs {
        let point = &run.points[0];
        let mut looks = Vec::new();
        for trial in view.trials(run, point).iter().filter(|trial| trial.outcome.is_ok()) {
            looks.extend(view.kept(run, point, trial.number)?.way.looks);
        }
        for (name, of) in [
            (
                "standard deviation of log p over exact",
                &(|look: &Look| look.std_log_p * look.t / OF_GAUSSIAN) as &dyn Fn(&Look) -> f64,
            ),
            ("width near a mode", &|look: &Look| look.width),
        ] {
            let mut row = vec![format!("{}: {name}", run.label)];
            row.extend(edges.iter().map(|(low, high)| {
                let inside = looks.iter().filter(|look| (*low..*high).contains(&look.t));
                short(median(&inside.map(of).collect::<Vec<_>>()))
            }));
            rows.push(row);
        }
    }
    let header = std::iter::once("t from, to".to_owned())
        .chain(edges.iter().map(|(low, high)| format!("{low} to {high}")));
    Ok(Table {
        caption: "How far the flow lags behind p^t".into(),
        header: header.collect(),
        rows,
        note: Some("Medians over all looks of all trials; 1 for a flow that has followed.".into()),
    })
}
