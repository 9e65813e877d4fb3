//! AdaAnn against linear annealing: updates, evaluations, time and quality.

use super::view::{View, kl};
use crate::{
    experiments::{Point, Run},
    stats::{count, median, ratio, short},
};
use adaann_report::Table;

/// A pair of runs that differ in the schedule.
struct Pair<'a> {
    linear: &'a Run,
    adaann: &'a Run,
}

/// A table of all experiments with both runs.
pub(super) fn table(view: &View) -> Option<Table> {
    let pairs = [
        ("ex1-bimodal-linear", "ex1-bimodal-tau-0.01"),
        ("ex2-symmetric-linear", "ex2-symmetric-adaann"),
        ("ex2-asymmetric-linear", "ex2-asymmetric-adaann"),
        ("ex3-planar-linear", "ex3-planar-adaann"),
        ("ex4-low-linear", "ex4-low-adaann"),
        ("ex4-high-linear", "ex4-high-adaann"),
        ("ex5-hiv-linear", "ex5-hiv-adaann"),
    ];
    let pairs = pairs.iter().filter_map(|(linear, adaann)| {
        Some(Pair { linear: view.run(linear)?, adaann: view.run(adaann)? })
    });
    let rows: Vec<_> = pairs.flat_map(|pair| rows(view, &pair)).collect();
    if rows.is_empty() {
        return None;
    }
    let header = [
        "experiment",
        "updates before t = 1: linear",
        "AdaAnn",
        "ratio",
        "evaluations: linear",
        "AdaAnn",
        "ratio",
        "CPU seconds: linear",
        "AdaAnn",
        "ratio",
        "KL: linear",
        "AdaAnn",
        "ratio",
        "captured: linear",
        "AdaAnn",
    ];
    Some(Table {
        caption: "AdaAnn against linear annealing".into(),
        header: header.map(String::from).to_vec(),
        rows,
        note: Some(
            "Medians over the trials. Ratios are AdaAnn over linear: above 1, linear needs less. \
             Evaluations are points at which the density was evaluated, the draws for the variance \
             included. KL(q||p) in nats, at the end of the run. Linear runs of Examples 4 and 5 are \
             ours: as many steps as the paper's AdaAnn took."
                .into(),
        ),
    })
}

fn rows(view: &View, pair: &Pair) -> Vec<Vec<String>> {
    let row = |(linear, adaann): (&Point, &Point)| {
        let sides = [(pair.linear, linear), (pair.adaann, adaann)];
        let updates = sides.map(|(run, p)| view.median(run, p, |m| m.updates_before_1 as f64));
        let evaluations = sides.map(|(run, p)| view.median(run, p, |m| m.evaluations as f64));
        let seconds = sides.map(|(run, p)| median(&view.seconds(run, p)));
        let kl = sides.map(|(run, p)| view.median(run, p, kl));
        let captured = sides.map(|(run, p)| view.captured_of(run, p));
        let name = pair.adaann.id.splitn(3, '-').take(2).collect::<Vec<_>>().join(" ");
        let value = match adaann.value.filter(|_| !name.starts_with("ex4")) {
            Some(value) => format!(", mu {value}"),
            None => String::new(),
        };
        vec![
            format!("{name}{value}"),
            count(updates[0]),
            count(updates[1]),
            ratio(updates[1], updates[0]),
            count(evaluations[0]),
            count(evaluations[1]),
            ratio(evaluations[1], evaluations[0]),
            short(seconds[0]),
            short(seconds[1]),
            ratio(seconds[1], seconds[0]),
            short(kl[0]),
            short(kl[1]),
            ratio(kl[1], kl[0]),
            captured[0].clone(),
            captured[1].clone(),
        ]
    };
    pair.linear.points.iter().zip(&pair.adaann.points).map(row).collect()
}
