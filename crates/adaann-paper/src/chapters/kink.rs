//! The cause of the kink in the schedule of Example 5, from measurements during annealing.

use super::view::View;
use crate::Result;
use crate::{
    experiments::Run,
    kept::Way,
    stats::{median, short},
    trial::CAPTURED,
    watch::Look,
};
use adaann_report::{Axis, Block, Color, Figure, Mark, Panel, Table};

/// Standard deviation of log p under p^t, times t, for a Gaussian in three dimensions: √(d/2).
const OF_GAUSSIAN: f64 = 1.224_744_871_391_589;

/// The number of bins of t per factor of ten.
const BINS: f64 = 8.0;

/// A trial with measurements.
struct Watched<'a> {
    run: &'a Run,
    number: usize,
    keeps_both: bool,
    way: Way,
}

/// A quantity of a measurement.
type Quantity = fn(&Look) -> f64;

const OF_ALL: Quantity = |look| look.std_log_p * look.t / OF_GAUSSIAN;
const OF_NEAR: Quantity = |look| look.std_log_p_near * look.t / OF_GAUSSIAN;
const BEYOND: Quantity = |look| look.beyond;
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
    blocks.extend(explanation(&trials).map(Block::Text));
    Ok(blocks)
}

/// Explains the numbers, if trials of both kinds exist.
fn explanation(trials: &[Watched]) -> Option<String> {
    let over = |keeps_both: bool, range: std::ops::Range<f64>, of: Quantity| {
        let own = trials.iter().filter(|trial| trial.keeps_both == keeps_both);
        let looks = own.flat_map(|trial| &trial.way.looks).filter(|look| range.contains(&look.t));
        median(&looks.map(of).collect::<Vec<_>>())
    };
    let (early, late) = (0.1..0.3, 0.6..1.0);
    let excess = |keeps_both: bool| {
        [early.clone(), late.clone()].map(|range| over(keeps_both, range, OF_ALL))
    };
    let (both, one) = (excess(true), excess(false));
    if both.iter().chain(&one).any(|value| value.is_nan()) {
        return None;
    }
    let near = over(true, late.clone(), OF_NEAR);
    let far = over(true, late.clone(), BETWEEN) + over(true, late.clone(), BEYOND);
    let mut text = format!(
        "The paper saw its steps shrink near the end and left open why. Near a mode p^t is a Gaussian, the \
         standard deviation of log p is 1.22/t, and steps should grow in proportion to t to the end. Under \
         the flow it is {} times that for t from 0.1 to 0.3 and {} times from 0.6 on in trials that keep both \
         modes, {} and {} times in trials that have lost one.",
        short(both[0]),
        short(both[1]),
        short(one[0]),
        short(one[1])
    );
    if both[1] > 1.2 * both[0] && one[1] < 1.1 * one[0] {
        text += &format!(
            " **So the kink belongs to trials that keep both modes**, and it is a sign that both are still \
             there. A planar flow cannot cut the thread between them, nor the tails that come with it: {} per \
             cent of the draws are far from both modes, where log p is very low, and make {:.0} per cent of the \
             variance. That part does not fall as 1/t², so that it takes over once t is large. The rest is a \
             flow that stays wider near each mode than p^t ({} times in mean square, {} with one mode): a \
             property of the flow, not of the density.",
            short(100.0 * far),
            100.0 * (1.0 - (near / both[1]).powi(2)),
            short(over(true, late.clone(), WIDTH)),
            short(over(false, late, WIDTH))
        );
    }
    Some(text)
}

fn schedule(trial: &Watched) -> Figure {
    let steps = trial.way.schedule();
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
         of log p under the flow over that of p^t, of all draws and without those far from both modes. Below: \
         the share of draws between the modes, and how much wider than p^t the flow is near a mode (mean \
         square).",
        2,
        vec![
            panel("standard deviation of log p, all draws", "over that of p^t", OF_ALL, true),
            panel("without the draws far from both modes", "over that of p^t", OF_NEAR, true),
            panel("draws between the modes", "share", BETWEEN, false),
            panel("width near a mode", "over that of p^t", WIDTH, true),
        ],
    )
}

/// Medians of a quantity in bins of t, over all measurements of a group.
fn over_t(trials: &[Watched], keeps_both: bool, of: Quantity) -> Vec<(f64, f64)> {
    let mut bins = std::collections::BTreeMap::<i64, Vec<&Look>>::new();
    let own = trials.iter().filter(|trial| trial.keeps_both == keeps_both);
    // The measurement at t = 1 comes after refinement.
    for look in own.flat_map(|trial| &trial.way.looks).filter(|look| look.t < 1.0) {
        bins.entry((look.t.log10() * BINS).floor() as i64).or_default().push(look);
    }
    let middle = |looks: &[&Look]| {
        let t = median(&looks.iter().map(|look| look.t).collect::<Vec<_>>());
        (t, median(&looks.iter().map(|look| of(look)).collect::<Vec<_>>()))
    };
    bins.values().map(|looks| middle(looks)).filter(|(_, value)| *value > 0.0).collect()
}

/// The same quantities in some ranges of t.
fn table(trials: &[Watched]) -> Table {
    let edges = [(0.01, 0.03), (0.03, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.999)];
    let quantities: [(&str, Quantity); 5] = [
        ("standard deviation of log p over that of p^t", OF_ALL),
        ("the same without draws far from both modes", OF_NEAR),
        ("share of draws between the modes", BETWEEN),
        ("share of draws far from both, elsewhere", BEYOND),
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
