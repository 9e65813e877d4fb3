//! Where the kink of Example 5's schedule comes from: what changes there, looked at step by step.

use super::view::View;
use crate::{
    experiments::Run,
    kept::Way,
    stats::{median, short},
    trial::CAPTURED,
    watch::Look,
};
use adaann_report::{Axis, Block, Color, Figure, Mark, Panel, Table};
use anyhow::Result;

/// Standard deviation of log p under p^t, times t, for a Gaussian in three dimensions: √(d/2).
const OF_GAUSSIAN: f64 = 1.224_744_871_391_589;

/// Looks are put together by t: this many bins to a factor of ten.
const BINS: f64 = 8.0;

/// A trial that was watched.
struct Watched<'a> {
    run: &'a Run,
    number: usize,
    keeps_both: bool,
    way: Way,
}

/// Something that is seen in a look.
type Quantity = fn(&Look) -> f64;

const OF_ALL: Quantity = |look| look.std_log_p * look.t / OF_GAUSSIAN;
const OF_NEAR: Quantity = |look| look.std_log_p_near * look.t / OF_GAUSSIAN;
const WIDTH: Quantity = |look| look.width;
const BETWEEN: Quantity = |look| look.between;

pub(super) fn section(view: &View) -> Result<Vec<Block>> {
    let mut trials = Vec::new();
    for run in view.case("ex5", "hiv").into_iter().filter(|run| run.watch) {
        let point = &run.points[0];
        for trial in view.trials(run, point) {
            let Ok(found) = &trial.outcome else { continue };
            let way = view.kept(run, point, trial.number)?.way;
            let keeps_both = found.at_end.captures(CAPTURED);
            trials.push(Watched { run, number: trial.number, keeps_both, way });
        }
    }
    let Some(shown) = trials.iter().find(|trial| trial.keeps_both).or(trials.first()) else {
        return Ok(Vec::new());
    };
    let heading = "The kink of the schedule".into();
    let mut blocks = vec![
        Block::Heading { id: "kink".into(), text: heading, level: 3 },
        Block::Figure(schedule(shown)),
        Block::Figure(causes(&trials)),
        Block::Table(table(&trials)),
    ];
    blocks.push(Block::Text(
        "The paper saw its steps shrink near the end and left open why. Near a mode p^t is a Gaussian, the \
         standard deviation of log p is 1.22/t, and steps should grow in proportion to t to the end. In \
         trials that have lost a mode they do. In trials that keep both, a planar flow cannot cut the thread \
         between the modes: a small share of the draws lies there, where log p is lower by thousands. Their \
         part of the variance does not fall as 1/t², so that it takes over once t is large, and the steps \
         stop growing. Without the draws between the modes the ratio stays where it is in trials with one \
         mode. **So the kink is the price of a thread of mass between the modes**, a property of the flow and \
         not of the density; it is also the sign that both modes are still there."
            .into(),
    ));
    Ok(blocks)
}

fn schedule(trial: &Watched) -> Figure {
    let steps: Vec<_> =
        trial.way.steps.iter().enumerate().map(|(k, step)| (k as f64 + 1.0, step.0)).collect();
    let late: Vec<_> = steps.iter().copied().filter(|(_, t)| *t >= 0.1).collect();
    let whole = Panel {
        title: Some("the whole schedule".into()),
        x: Axis::new("step"),
        y: Axis::new("t").log(),
        marks: vec![Mark::line(steps, Color::Blue)],
    };
    let end = Panel {
        title: Some("from t = 0.1 on".into()),
        x: Axis::new("step"),
        y: Axis::new("t").between(0.0, 1.02),
        marks: vec![Mark::line(late, Color::Blue)],
    };
    let caption = format!(
        "AdaAnn's schedule in a trial that {}: {}, trial {}.",
        if trial.keeps_both { "keeps both modes" } else { "has lost a mode" },
        trial.run.label,
        trial.number
    );
    Figure::grid("ex5-schedule", caption, 2, vec![whole, end])
}

fn causes(trials: &[Watched]) -> Figure {
    let lines = |of: Quantity| -> Vec<Mark> {
        let groups =
            [(true, "both modes kept", Color::Blue), (false, "a mode lost", Color::Orange)];
        let marks = groups.into_iter().filter_map(|(keeps_both, label, color)| {
            let points = over_t(trials, keeps_both, of);
            (!points.is_empty()).then(|| Mark::line(points, color).label(label))
        });
        marks.collect()
    };
    let panel = |title: &str, label: &str, of: Quantity, exact: bool| {
        let mut marks = lines(of);
        if exact {
            marks.push(Mark::horizontal(1.0, Color::Grey));
        }
        Panel {
            title: Some(title.to_owned()),
            x: Axis::new("t").log(),
            y: Axis::new(label).log(),
            marks,
        }
    };
    Figure::grid(
        "ex5-kink",
        "What changes at the kink, medians over all trials that were watched. Above: the standard deviation \
         of log p under the flow over that of p^t, of all draws and without those between the modes. Below: \
         the share of draws between the modes, and how much wider than p^t the flow is near a mode (mean \
         square).",
        2,
        vec![
            panel("standard deviation of log p, all draws", "over that of p^t", OF_ALL, true),
            panel("without the draws between the modes", "over that of p^t", OF_NEAR, true),
            panel("draws between the modes", "share", BETWEEN, false),
            panel("width near a mode", "over that of p^t", WIDTH, true),
        ],
    )
}

/// Medians of a quantity in bins of t, over all looks of a group.
fn over_t(trials: &[Watched], keeps_both: bool, of: Quantity) -> Vec<(f64, f64)> {
    let mut bins = std::collections::BTreeMap::<i64, Vec<&Look>>::new();
    for look in trials.iter().filter(|t| t.keeps_both == keeps_both).flat_map(|t| &t.way.looks) {
        bins.entry((look.t.log10() * BINS).floor() as i64).or_default().push(look);
    }
    let middle = |looks: &[&Look]| {
        let t = median(&looks.iter().map(|look| look.t).collect::<Vec<_>>());
        (t, median(&looks.iter().map(|look| of(look)).collect::<Vec<_>>()))
    };
    bins.values().map(|looks| middle(looks)).filter(|(_, value)| *value > 0.0).collect()
}

/// The same at some values of t.
fn table(trials: &[Watched]) -> Table {
    let edges = [(0.01, 0.03), (0.03, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.999)];
    let quantities: [(&str, Quantity); 4] = [
        ("standard deviation of log p over that of p^t", OF_ALL),
        ("the same without draws between the modes", OF_NEAR),
        ("share of draws between the modes", BETWEEN),
        ("mean square width near a mode over that of p^t", WIDTH),
    ];
    let mut rows = Vec::new();
    for (keeps_both, group) in [(true, "both kept"), (false, "one lost")] {
        let own: Vec<_> = trials.iter().filter(|trial| trial.keeps_both == keeps_both).collect();
        if own.is_empty() {
            continue;
        }
        for (name, of) in quantities {
            let mut row = vec![format!("{group} ({} trials): {name}", own.len())];
            row.extend(edges.iter().map(|(low, high)| {
                let looks = own.iter().flat_map(|trial| &trial.way.looks);
                let inside = looks.filter(|look| (*low..*high).contains(&look.t));
                short(median(&inside.map(of).collect::<Vec<_>>()))
            }));
            rows.push(row);
        }
    }
    let header = std::iter::once("t".to_owned()).chain(
        edges
            .iter()
            .map(|(low, high)| format!("{low} to {}", if *high > 0.9 { 1.0 } else { *high })),
    );
    Table {
        caption: "The flow of Example 5 on its way, with both modes and with one".into(),
        header: header.collect(),
        rows,
        note: Some("Medians over all looks; 1 for a flow that equals p^t near a mode.".into()),
    }
}
