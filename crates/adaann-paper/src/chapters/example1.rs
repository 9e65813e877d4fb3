//! Example 1 and the motivating example: densities, schedules, tolerances.

use super::view::{View, kl, kl_on_arrival};
use crate::Result;
use crate::{
    exact,
    experiments::{Kind, Run},
    stats::{count, median, quantile, ratio, short},
};
use adaann::{
    Batch,
    approximation::Approximation,
    flow::Flow,
    schedule::{AdaAnn, Schedule},
};
use adaann_report::{Axis, Block, Color, Figure, Mark, Panel, Table, bins::midpoints};

/// The range of the plots.
const SHOWN: [f64; 2] = [-5.0, 1.2];
const POINTS: usize = 310;

pub(super) fn chapter(view: &View) -> Result<Vec<Block>> {
    let runs = view.case("ex1", "bimodal");
    let run = |name: &str| runs.iter().copied().find(|run| run.name == name);
    let mut blocks = vec![Block::Table(counts(view, &runs))];
    blocks.extend(finding(view, &runs).map(Block::Text));
    if let (Some(none), Some(linear), Some(adaann)) = (run("none"), run("linear"), run("tau-0.01"))
    {
        let mut panels = Vec::new();
        for (run, title) in
            [(none, "no annealing"), (linear, "linear"), (adaann, "AdaAnn, tau 0.01")]
        {
            if let Some(kept) = view.shown(run, &run.points[0])? {
                panels.push(panel(run, title, &[("approximation", &kept.flow)])?);
            }
        }
        let caption = "The bimodal density and its approximations without annealing, with linear \
                       annealing and with AdaAnn. First trial of each.";
        blocks.push(Block::Figure(Figure::grid("ex1-densities", caption, 3, panels)));
        blocks.push(Block::Figure(schedules(view, linear, adaann)?));
    }
    let tolerances: Vec<_> = runs.iter().filter(|run| run.name.starts_with("tau")).collect();
    let mut panels = Vec::new();
    for run in tolerances {
        let Some(kept) = view.shown(run, &run.points[0])? else { continue };
        let flows = [("on arrival at t = 1", &kept.flow_at_1), ("after refinement", &kept.flow)];
        panels.push(panel(run, run.label.trim_start_matches("AdaAnn, "), &flows)?);
    }
    if !panels.is_empty() {
        blocks.push(Block::Figure(Figure::grid(
            "ex1-tolerances",
            "What the tolerance does: the flow on arrival at t = 1, as in the paper's figure, and \
             after 8,000 more updates there. First trial of each.",
            2,
            panels,
        )));
    }
    Ok(blocks)
}

/// Steps, updates and quality of every run.
fn counts(view: &View, runs: &[&Run]) -> Table {
    let published = &view.published.ex1;
    let of_steps = |run: &Run| match &run.points[0].settings.schedule {
        Schedule::AdaAnn(AdaAnn { t0, tau }) => {
            let is_papers = |pair: &&[f64; 2]| pair[0] == *tau && *t0 == 0.01;
            let pair = published.tolerances.iter().find(is_papers);
            (pair.map(|pair| pair[1]), Some(exact::bimodal(*t0, *tau)))
        }
        Schedule::Linear(_) => (Some(published.linear.steps), None),
        _ => (None, None),
    };
    let dash = || "–".to_owned();
    let row = |run: &&Run| {
        let point = &run.points[0];
        let (theirs, exact) = of_steps(run);
        let whole = match run.name.as_str() {
            "linear" => Some(&published.linear),
            "tau-0.01" => Some(&published.adaann),
            _ => None,
        };
        // The paper has two counts for the tolerance of its main run.
        let steps_of_paper = match (whole, theirs) {
            (Some(whole), Some(other)) if whole.steps != other => {
                format!("{}, {}", count(whole.steps), count(other))
            }
            (_, theirs) => theirs.map_or_else(dash, count),
        };
        let annealed = run.kind != Kind::None;
        let steps = view.values(run, point, |found| found.steps as f64);
        let updates = view.median(run, point, |found| found.updates as f64);
        let seconds = median(&view.seconds(run, point));
        let arrival = if annealed { short(view.median(run, point, kl_on_arrival)) } else { dash() };
        vec![
            run.title(),
            steps_of_paper,
            range(&steps),
            theirs.map_or_else(dash, |theirs| ratio(median(&steps), theirs)),
            exact.map_or_else(dash, |exact| count(exact as f64)),
            whole.map_or_else(dash, |whole| count(whole.updates - REFINEMENT)),
            count(view.median(run, point, |found| found.updates_before_1 as f64)),
            whole.map_or_else(dash, |whole| count(whole.updates)),
            count(updates),
            whole.map_or_else(dash, |whole| ratio(updates, whole.updates)),
            count(view.median(run, point, |found| found.evaluations as f64)),
            arrival,
            short(view.median(run, point, kl)),
            view.captured_of(run, point),
            whole.map_or_else(dash, |whole| format!("{:.2}", whole.minutes)),
            short(seconds),
            whole.map_or_else(dash, |whole| ratio(60.0 * whole.minutes, seconds)),
        ]
    };
    let header = [
        "run",
        "steps: paper",
        "ours",
        "ratio",
        "exact variance",
        "updates before t = 1: paper",
        "ours",
        "updates in all: paper",
        "ours",
        "ratio",
        "evaluations",
        "KL on arrival",
        "KL at the end",
        "captured",
        "minutes: paper",
        "CPU seconds: ours",
        "times faster",
    ];
    Table {
        caption: "Steps, updates and quality in Example 1".into(),
        header: header.map(String::from).to_vec(),
        rows: runs.iter().map(row).collect(),
        note: Some(
            "Medians over the trials, with the range of the steps. \"Exact variance\" is AdaAnn's rule \
             with the variance of log p by quadrature: no flow, no noise. The paper's linear run counts \
             one step more, because its sum of steps of 0.0001 falls short of 1 by rounding."
                .into(),
        ),
    }
}

/// T_1, which is part of the paper's counts of updates.
const REFINEMENT: f64 = 8_000.0;

/// The median, with the minimum and maximum if they differ.
fn range(values: &[f64]) -> String {
    let (least, most) = (quantile(values, 0.0), quantile(values, 1.0));
    if least < most {
        format!("{} ({} to {})", count(median(values)), count(least), count(most))
    } else {
        count(median(values))
    }
}

/// The chapter's claim, with its numbers.
fn finding(view: &View, runs: &[&Run]) -> Option<String> {
    let run = |name: &str| runs.iter().find(|run| run.name == name);
    let (linear, adaann) = (run("linear")?, run("tau-0.01")?);
    let updates = |run: &Run| view.median(run, &run.points[0], |m| m.updates_before_1 as f64);
    if updates(linear).is_nan() || updates(adaann).is_nan() {
        return None;
    }
    let quality = |run: &Run| short(view.median(run, &run.points[0], kl));
    let seconds = |run: &Run| median(&view.seconds(run, &run.points[0]));
    let published = &view.published.ex1;
    let mut text = format!(
        "Before t = 1, AdaAnn makes {} updates where linear makes {}: **{} times fewer**, for a KL \
         divergence of {} against {} nats after refinement. The whole run takes {} s on one core \
         ({} times faster than the paper's {} minutes), linear {} s ({} times).",
        count(updates(adaann)),
        count(updates(linear)),
        ratio(updates(linear), updates(adaann)),
        quality(adaann),
        quality(linear),
        short(seconds(adaann)),
        ratio(60.0 * published.adaann.minutes, seconds(adaann)),
        published.adaann.minutes,
        short(seconds(linear)),
        ratio(60.0 * published.linear.minutes, seconds(linear)),
    );
    if let Some(earlier) = run("t0-0.001").filter(|run| !updates(run).is_nan()) {
        text += &format!(
            " What AdaAnn lacks against linear is time at small t, not smaller steps: from t_0 = 0.001 it makes \
             {} updates before t = 1, **{} times fewer** than linear, for a KL divergence of {}.",
            count(updates(earlier)),
            ratio(updates(linear), updates(earlier)),
            quality(earlier)
        );
    }
    Some(text)
}

/// The target and flows on the line.
fn panel(run: &Run, title: &str, flows: &[(&str, &Flow)]) -> Result<Panel> {
    let problem = run.points[0].problem();
    let grid = midpoints(SHOWN, POINTS);
    let points = Batch::from_points(1, &grid.iter().map(|&x| [x]).collect::<Vec<_>>());
    let curve = |logs: &[f64], shift: f64| -> Vec<(f64, f64)> {
        grid.iter().zip(logs).map(|(&x, log)| (x, (log - shift).exp())).collect()
    };
    let log_z = problem.known.log_z.unwrap_or(0.0);
    let mut marks = Vec::new();
    for (i, (label, flow)) in flows.iter().enumerate() {
        let approximation = Approximation::new(&*problem.target, (*flow).clone())?;
        if i == 0 {
            let target = curve(&approximation.log_p(&points)?, log_z);
            let band = target.iter().map(|&(x, y)| (x, 0.0, y)).collect::<Vec<_>>();
            marks.push(Mark::band(band, Color::Grey).label("target"));
        }
        let q = curve(&approximation.log_q(&points)?, 0.0);
        let last = i + 1 == flows.len();
        let color = if last { Color::Blue } else { Color::Vermillion };
        let mark = if last { Mark::line(q, color) } else { Mark::dashed(q, color) };
        marks.push(mark.label(*label));
    }
    Ok(Panel {
        title: Some(title.to_owned()),
        x: Axis::new("z").between(SHOWN[0], SHOWN[1]),
        y: Axis::new("density"),
        marks,
    })
}

/// t over the steps, AdaAnn alone and beside linear.
fn schedules(view: &View, linear: &Run, adaann: &Run) -> Result<Figure> {
    let steps = |run: &Run| -> Result<Vec<(f64, f64)>> {
        let shown = view.shown(run, &run.points[0])?;
        Ok(shown.map_or_else(Vec::new, |kept| kept.way.schedule()))
    };
    let own = Mark::line(steps(adaann)?, Color::Blue).label("AdaAnn");
    let other = Mark::dashed(steps(linear)?, Color::Vermillion).label("linear");
    let panel = |title: &str, marks| Panel {
        title: Some(title.to_owned()),
        x: Axis::new("step"),
        y: Axis::new("t").between(0.0, 1.02),
        marks,
    };
    Ok(Figure::grid(
        "ex1-schedules",
        "The inverse temperature over the steps: AdaAnn, and AdaAnn beside the linear schedule.",
        2,
        vec![panel("AdaAnn", vec![own.clone()]), panel("AdaAnn and linear", vec![own, other])],
    ))
}
