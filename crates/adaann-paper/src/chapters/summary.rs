//! The summary: schedules side by side, hyperparameters, and AdaAnn compared with linear annealing.

use super::{compare, view::View};
use crate::Result;
use crate::stats::count;
use adaann::schedule::{AdaAnn, Schedule};
use adaann_report::{Axis, Block, Color, Figure, Mark, Panel, Table};

pub(super) fn chapter(view: &View) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    blocks.extend(schedules(view)?.map(Block::Figure));
    blocks.extend(compare::table(view).map(Block::Table));
    blocks.push(Block::Table(hyperparameters(view)));
    blocks.extend(failures(view).map(Block::Table));
    let runs = view.runs();
    let trials: usize = runs
        .iter()
        .map(|run| run.points.iter().map(|point| view.trials(run, point).len()).sum::<usize>())
        .sum();
    blocks.push(Block::Text(format!(
        "In all {} experiments, {} trials, {:.0} minutes of processor time.",
        runs.len(),
        count(trials as f64),
        view.total_seconds() / 60.0
    )));
    Ok(blocks)
}

/// The schedules of Examples 1, 4 and 5.
fn schedules(view: &View) -> Result<Option<Figure>> {
    let shown = [
        ("ex1-bimodal-tau-0.01", "Example 1, bimodal", Color::Blue),
        ("ex4-low-adaann", "Example 4, noise 0.001", Color::Vermillion),
        ("ex4-high-adaann", "Example 4, noise 0.2", Color::Green),
        ("ex5-hiv-adaann", "Example 5, HIV", Color::Purple),
    ];
    let mut marks = Vec::new();
    for (id, label, color) in shown {
        let Some(run) = view.run(id) else { continue };
        let Some(kept) = view.shown(run, &run.points[0])? else { continue };
        marks.push(Mark::line(kept.way.schedule(), color).label(label));
    }
    if marks.len() < 2 {
        return Ok(None);
    }
    let panel = |title: &str, x: Axis, y: Axis| Panel {
        title: Some(title.to_owned()),
        x,
        y,
        marks: marks.clone(),
    };
    Ok(Some(Figure::grid(
        "schedules",
        "AdaAnn's schedules side by side, the paper's settings: on linear axes as in the paper, and with a \
         logarithmic one for t, where a Gaussian is a straight line.",
        2,
        vec![
            panel("linear axes", Axis::new("step"), Axis::new("t").between(0.0, 1.02)),
            panel("t on a logarithmic axis", Axis::new("step"), Axis::new("t").log()),
        ],
    )))
}

/// The hyperparameters as run, with those of the paper below. A test ensures that they are equal.
fn hyperparameters(view: &View) -> Table {
    let mut rows = Vec::new();
    for example in view.examples() {
        let name = if example.id == "ex1" { "tau-0.01" } else { "adaann" };
        let Some(run) = example.runs.iter().find(|run| run.name == name) else { continue };
        let settings = &run.points[0].settings;
        let Schedule::AdaAnn(AdaAnn { t0, tau }) = settings.schedule else { continue };
        let work = &settings.work;
        let refined = work.refine > work.anneal;
        let dash = |value: usize| if refined { count(value as f64) } else { "–".into() };
        rows.push(vec![
            example.title.clone(),
            tau.to_string(),
            t0.to_string(),
            count(work.warmup as f64),
            count(work.anneal as f64),
            dash(work.refine),
            count(settings.samples as f64),
            dash(settings.refine_samples),
            count(settings.variance_samples as f64),
        ]);
        if let Some(published) = view.published.hyperparameters.get(&example.id) {
            let cell = |(i, value): (usize, &f64)| match (i, *value) {
                (_, 0.0) => "–".into(),
                (0 | 1, value) => value.to_string(),
                (_, value) => count(value),
            };
            let cells = published.iter().enumerate().map(cell);
            rows.push(std::iter::once("paper".to_owned()).chain(cells).collect());
        }
    }
    let header = ["example", "tau", "t_0", "T_0", "T", "T_1", "N", "N_1", "M"];
    Table {
        caption: "Hyperparameters of AdaAnn, as run and as published".into(),
        header: header.map(String::from).to_vec(),
        rows,
        note: Some("A dash: t = 1 is trained like the values of t before it.".into()),
    }
}

/// Trials that failed, with their reasons.
fn failures(view: &View) -> Option<Table> {
    let mut rows = Vec::new();
    for run in view.runs() {
        for point in &run.points {
            let failed = view.trials(run, point).into_iter();
            let mut reasons = failed.filter_map(|trial| trial.outcome.as_ref().err()).peekable();
            if let Some(first) = reasons.peek() {
                let (first, value) = ((*first).clone(), point.value);
                let value = value.map_or("–".into(), |value| value.to_string());
                rows.push(vec![run.id.clone(), value, reasons.count().to_string(), first]);
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        caption: "Trials that failed or were given up".into(),
        header: ["run", "value", "trials", "the first one's reason"].map(String::from).to_vec(),
        rows,
        note: None,
    })
}
