//! A table with a line for each target, and totals.

use super::{right::worse, run::Run, subject::Subject};
use adaann::{Result, diagnostics::Trust};
use std::{collections::BTreeMap, fmt::Write};

/// A subject with its runs.
pub(super) struct Measured<'a> {
    pub(super) subject: &'a Subject,
    pub(super) runs: Vec<Result<Run>>,
}

impl Measured<'_> {
    pub(super) fn answered(&self) -> impl Iterator<Item = &Run> + Clone {
        self.runs.iter().filter_map(|run| run.as_ref().ok())
    }

    fn count(&self, is_counted: impl Fn(&Run) -> bool) -> usize {
        self.answered().filter(|run| is_counted(run)).count()
    }
}

const HEAD: &str = "| target | right | reliable, local, care, distrust | reliable and wrong | evaluations, median | largest | seconds, median | ESS share, least | by | worst mean, SDs | worst SD | worst weight | log Z | what failed |\n\
    |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

/// A line for each target, and the totals.
pub(super) fn page(measured: &[Measured]) -> String {
    let mut page = HEAD.to_owned();
    measured.iter().for_each(|measured| page.push_str(&line(measured)));
    page.push_str(&closing(measured));
    page
}

/// The runs of a target.
pub(super) fn line(measured: &Measured) -> String {
    let runs = || measured.answered();
    let trust = |trust| measured.count(|run| run.trust == Some(trust));
    let worst = |of: fn(&Run) -> f64| runs().map(of).fold(0.0, worse);
    let evaluations = || runs().map(|run| run.all_evaluations() as f64);
    let is_known = runs().any(|run| run.off.is_known);
    let known = |text: String| if is_known { text } else { "-".to_owned() };
    let log_z = runs().filter_map(|run| run.off.log_z).reduce(worse);
    format!(
        "| {} | {} | {}, {}, {}, {} | {} | {:.0} | {:.0} | {:.2} | {:.2} | {} | {} | {} | {} | {} | {} |\n",
        measured.subject.name,
        known(format!("{} of {}", measured.count(Run::is_right), measured.runs.len())),
        trust(Trust::Reliable),
        trust(Trust::Local),
        trust(Trust::Care),
        trust(Trust::Distrust),
        measured.count(|run| run.is_reliable() && run.is_wrong()),
        median(evaluations()),
        evaluations().fold(0.0, f64::max),
        median(runs().map(|run| run.seconds)),
        runs().map(|run| run.ess_share).fold(1.0, f64::min),
        methods(measured),
        known(format!("{:+.3}", worst(|run| run.off.mean))),
        known(format!("{:+.1} %", 100.0 * worst(|run| run.off.sd))),
        known(format!("{:+.3}", worst(|run| run.off.weight))),
        log_z.map_or("-".to_owned(), |off| format!("{off:+.4}")),
        failures(measured)
    )
}

/// The methods that answered, with counts if they differ.
fn methods(measured: &Measured) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    measured.answered().for_each(|run| *counts.entry(run.method.name()).or_default() += 1);
    match counts.len() {
        1 => counts.keys().map(|name| (*name).to_owned()).collect(),
        _ => {
            let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The failures of the worst run, and errors.
fn failures(measured: &Measured) -> String {
    let mut failures: Vec<String> = Vec::new();
    let faults = |run: &&Run| run.off.faults().len();
    let worst = measured.answered().filter(|run| run.is_wrong()).max_by_key(faults);
    failures.extend(worst.map(|run| run.off.faults().join(", ")));
    let stopped = measured.count(|run| run.stopped);
    if stopped > 0 {
        failures.push(format!("{stopped} stopped"));
    }
    let errors: Vec<String> =
        measured.runs.iter().filter_map(|run| Some(run.as_ref().err()?.to_string())).collect();
    if let Some(error) = errors.first() {
        failures.push(format!("{} errors: {error}", errors.len()));
    }
    failures.join("; ").replace('|', "/").replace('\n', " ")
}

/// All runs together.
fn closing(measured: &[Measured]) -> String {
    let all: usize = measured.iter().map(|measured| measured.runs.len()).sum();
    let count = |is_counted: fn(&Run) -> bool| -> usize {
        measured.iter().map(|measured| measured.count(is_counted)).sum()
    };
    let answered = count(|_| true);
    let mut text = format!(
        "\n{all} runs of {} targets: {} right, {} wrong, {} not known, {} without an answer; {} reliable, \
         {} of them right, {} reliable and wrong",
        measured.len(),
        count(Run::is_right),
        count(Run::is_wrong),
        count(|run| run.off.is_right().is_none()),
        all - answered,
        count(Run::is_reliable),
        count(|run| run.is_reliable() && run.is_right()),
        count(|run| run.is_reliable() && run.is_wrong()),
    );
    let runs = || measured.iter().flat_map(|measured| measured.answered());
    let evaluations = median(runs().map(|run| run.all_evaluations() as f64));
    let slowest = runs().map(|run| run.seconds).fold(0.0, f64::max);
    writeln!(text, "; median {evaluations:.0} evaluations, slowest {slowest:.1} s.")
        .expect("memory takes all");
    text
}

/// The median, or 0 without values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len => 0.5 * (values[(len - 1) / 2] + values[len / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
        assert_eq!(median([].into_iter()), 0.0);
    }
}
