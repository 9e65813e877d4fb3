//! The table of coverage, and the runs with the largest errors.

use super::{Case, GROUPS, Held, KINDS, Run};
use crate::trials;
use adaann::{Result, diagnostics::Trust};
use std::fmt::Write;

/// The number of stated errors within which an estimate counts as covered.
const WITHIN: f64 = 3.0;

/// The number of estimates that are listed separately.
const LISTED: usize = 40;

type Judged<'a> = (&'a Case, &'a Run);

/// The whole page.
pub(super) fn page(cases: &[Case], runs: &[Result<Run>]) -> String {
    let judged: Vec<Judged> =
        cases.iter().zip(runs).filter_map(|(case, run)| Some((case, run.as_ref().ok()?))).collect();
    let mut page = String::new();
    let mut add = |line: &str| writeln!(page, "{line}").expect("memory takes all");
    add(
        "| targets | runs | log Z | mean | sd | 5 % | 95 % | all | RMS | reliable | of those, all |",
    );
    add("|---|---|---|---|---|---|---|---|---|---|---|");
    for group in GROUPS {
        let of_group: Vec<Judged> =
            judged.iter().filter(|(case, _)| case.group == group).copied().collect();
        if !of_group.is_empty() {
            add(&row(group, &of_group));
        }
    }
    add(&row("all", &judged));
    add(
        "\nShares are of estimates within three stated errors; RMS is of errors in units of the stated ones.",
    );
    add("\n| target | median evaluations | median ESS | not covered |");
    add("|---|---|---|---|");
    let mut names: Vec<&str> = Vec::new();
    for case in cases {
        if !names.contains(&case.name) {
            names.push(case.name);
        }
    }
    for name in names {
        let own: Vec<&Run> =
            judged.iter().filter(|(case, _)| case.name == name).map(|(_, run)| *run).collect();
        let held: Vec<&Held> = own.iter().flat_map(|run| &run.held).collect();
        let missed = held.iter().filter(|held| !is_covered(held)).count();
        add(&format!(
            "| {name} | {} + {} | {:.0} | {missed} of {} |",
            median(own.iter().map(|run| run.evaluations as f64)),
            median(own.iter().map(|run| run.check_evaluations as f64)),
            median(own.iter().map(|run| run.ess)),
            held.len()
        ));
    }
    add("\nFurthest off:\n");
    add("| target | seed | what | estimate | exact | in stated errors | verdict | method |");
    add("|---|---|---|---|---|---|---|---|");
    let mut off: Vec<(Judged, &Held)> = (judged.iter())
        .flat_map(|judged| judged.1.held.iter().map(|held| (*judged, held)))
        .filter(|(_, held)| !is_covered(held))
        .collect();
    off.sort_by(|a, b| b.1.z_score().abs().total_cmp(&a.1.z_score().abs()));
    for ((case, run), held) in off.iter().take(LISTED) {
        add(&format!(
            "| {} | {} | {} | {:.4} ± {:.4} | {:.4} | {:+.1} | {} | {} |",
            case.name,
            case.seed,
            what(held),
            held.estimate.value,
            held.estimate.error,
            held.exact,
            held.z_score(),
            trust(run),
            run.method
        ));
    }
    for (case, run) in cases.iter().zip(runs) {
        if let Err(error) = run {
            add(&format!("\nFailed: {} with seed {}: {error}", case.name, case.seed));
        }
    }
    page
}

fn is_covered(held: &Held) -> bool {
    held.z_score().abs() <= WITHIN
}

fn row(group: &str, judged: &[Judged]) -> String {
    let share = |is_counted: &dyn Fn(&Run, &Held) -> bool| {
        let held: Vec<&Held> = (judged.iter())
            .flat_map(|(_, run)| run.held.iter().filter(|held| is_counted(run, held)))
            .collect();
        let covered = held.iter().filter(|held| is_covered(held)).count();
        match held.len() {
            0 => "-".to_owned(),
            all => format!("{:.1} %", 100.0 * covered as f64 / all as f64),
        }
    };
    let of_kinds: Vec<String> =
        (0..KINDS.len()).map(|kind| share(&|_, held| held.kind == kind)).collect();
    let scores: Vec<f64> =
        judged.iter().flat_map(|(_, run)| run.held.iter().map(Held::z_score)).collect();
    let reliable = judged.iter().filter(|(_, run)| run.trust == Some(Trust::Reliable)).count();
    format!(
        "| {group} | {} | {} | {} | {:.2} | {reliable} | {} |",
        judged.len(),
        of_kinds.join(" | "),
        share(&|_, _| true),
        trials::rms(scores.into_iter()),
        share(&|run, _| run.trust == Some(Trust::Reliable))
    )
}

fn what(held: &Held) -> String {
    let kind = KINDS[held.kind];
    held.coordinate.map_or(kind.to_owned(), |d| format!("{kind} of {}", d + 1))
}

fn trust(run: &Run) -> String {
    run.trust.map_or("not checked".to_owned(), |trust| trust.to_string())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The progress line of a finished run.
pub(super) fn line(case: &Case, run: &Result<Run>) -> String {
    let name = format!("{} seed {}", case.name, case.seed);
    match run {
        Err(error) => format!("{name}: {error}"),
        Ok(run) => {
            let worst = (run.held.iter())
                .max_by(|a, b| a.z_score().abs().total_cmp(&b.z_score().abs()))
                .map_or(String::new(), |held| format!("{} {:+.1}", what(held), held.z_score()));
            let covered = run.held.iter().filter(|held| is_covered(held)).count();
            let (ours, checks) = (run.evaluations, run.check_evaluations);
            format!(
                "{name}: {covered} of {} covered, worst {worst}, {}, {}, {ours} + {checks} evaluations, ESS {:.0}",
                run.held.len(),
                trust(run),
                run.method,
                run.ess
            )
        }
    }
}
