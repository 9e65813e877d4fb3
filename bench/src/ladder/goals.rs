//! The demands on the ladder, compared with the measurements.

use super::{
    run::Run,
    table::{Measured, median},
};
use std::fmt::Write;

/// A demand on some of the targets.
struct Goal {
    /// The targets, by group or name.
    of: &'static str,
    what: &'static str,
    wanted: &'static str,
    found: fn(&[&Measured]) -> String,
}

/// The demands, in order.
const GOALS: [Goal; 18] = [
    Goal {
        of: "hiv",
        what: "right, reliable, SDs within a mode within 5 %, 30,000 evaluations, 0.5 s",
        wanted: "57 of 60",
        found: |measured| {
            share(measured, |run| {
                run.is_right()
                    && run.is_reliable()
                    && run.off.sd_within.abs() <= 0.05
                    && run.all_evaluations() <= 30_000
                    && run.seconds <= 0.5
            })
        },
    },
    Goal {
        of: "lorenz",
        what: "right, reliable, 30,000 evaluations with the check",
        wanted: "95 %",
        found: |measured| {
            share(measured, |run| {
                run.is_right() && run.is_reliable() && run.all_evaluations() <= 30_000
            })
        },
    },
    Goal {
        of: "models",
        what: "models with references: right; at least this many reliable with every seed",
        wanted: "all; 18",
        found: |measured| {
            let known: Vec<&Measured> = measured.iter().copied().filter(|m| is_known(m)).collect();
            format!("{}; {}", share(&known, Run::is_right), fewest_reliable(&known))
        },
    },
    Goal {
        of: "models",
        what: "median evaluations; most seconds",
        wanted: "below 60,000; 60",
        found: |measured| {
            let known: Vec<&Measured> = measured.iter().copied().filter(|m| is_known(m)).collect();
            let evaluations = median(runs(&known).map(|run| run.all_evaluations() as f64));
            format!("{evaluations:.0}; {}", seconds(&known))
        },
    },
    Goal {
        of: "large-models",
        what: "90 and 144 dimensions: right; right and reliable; most seconds",
        wanted: "how often",
        found: |measured| {
            let good = share(measured, |run| run.is_right() && run.is_reliable());
            format!("{}; {good}; {}", share(measured, Run::is_right), seconds(measured))
        },
    },
    Goal { of: "gaussian-10", what: SHARP, wanted: "all; 5 s", found: sharp },
    Goal { of: "gaussian-100", what: SHARP, wanted: "all; 5 s", found: sharp },
    Goal { of: "gaussian-300", what: SHARP, wanted: "all; 30 s", found: sharp },
    Goal {
        of: "logistic",
        what: "right; most seconds",
        wanted: "all; 5 s",
        found: |measured| format!("{}; {}", share(measured, Run::is_right), seconds(measured)),
    },
    Goal { of: "mixture", what: "right", wanted: "all", found: right },
    Goal {
        of: "mixture-20",
        what: "most evaluations",
        wanted: "below 60,000",
        found: |measured| {
            let most = runs(measured).map(Run::all_evaluations).max();
            most.map_or("-".into(), |most| most.to_string())
        },
    },
    Goal { of: "mixture-100", what: "most seconds", wanted: "20 s", found: seconds },
    Goal {
        of: "skewed,student",
        what: "right, d up to 20",
        wanted: "all",
        found: |measured| {
            let few: Vec<&Measured> =
                measured.iter().copied().filter(|m| !m.subject.name.ends_with("-50")).collect();
            right(&few)
        },
    },
    Goal { of: "skewed-50,student-50", what: "right", wanted: "how often", found: right },
    Goal {
        of: "half-width",
        what: "right or not reliable",
        wanted: "all",
        found: |measured| share(measured, |run| run.is_right() || !run.is_reliable()),
    },
    Goal {
        of: "funnel",
        what: "log Z within 0.02 and reliable",
        wanted: "all, or why not",
        found: |measured| share(measured, |run| run.is_reliable() && log_z_within(run, 0.02)),
    },
    Goal {
        of: "many-well-32,mixture40",
        what: "right; median evaluations of each",
        wanted: "all; half of what --auto took: 1,440,000 and 112,000",
        found: |measured| {
            let evaluations = |m: &&Measured| {
                format!("{:.0}", median(m.answered().map(|run| run.all_evaluations() as f64)))
            };
            let evaluations: Vec<String> = measured.iter().map(evaluations).collect();
            format!("{}; {}", share(measured, Run::is_right), evaluations.join(", "))
        },
    },
    Goal {
        of: "rosenbrock",
        what: "log Z within 0.1",
        wanted: "all",
        found: |measured| share(measured, |run| log_z_within(run, 0.1)),
    },
];

const SHARP: &str = "right, reliable, ESS above one half; most seconds";

/// The demands on measured targets, as a table. Empty without any.
pub(super) fn table(measured: &[Measured]) -> String {
    let mut table = String::new();
    for goal in &GOALS {
        let of: Vec<&Measured> =
            measured.iter().filter(|measured| measured.subject.is_among(goal.of)).collect();
        if of.is_empty() {
            continue;
        }
        if table.is_empty() {
            table.push_str("\n| targets | what is asked | wanted | found |\n|---|---|---|---|\n");
        }
        let Goal { of: names, what, wanted, found } = goal;
        writeln!(table, "| {} | {what} | {wanted} | {} |", names.replace(',', ", "), found(&of))
            .expect("memory takes all");
    }
    table
}

fn runs<'a>(measured: &'a [&Measured]) -> impl Iterator<Item = &'a Run> {
    measured.iter().flat_map(|measured| measured.answered())
}

/// The number of counted runs out of all runs, including those without an answer.
fn share(measured: &[&Measured], is_counted: fn(&Run) -> bool) -> String {
    let all: usize = measured.iter().map(|measured| measured.runs.len()).sum();
    format!("{} of {all}", runs(measured).filter(|run| is_counted(run)).count())
}

fn right(measured: &[&Measured]) -> String {
    share(measured, Run::is_right)
}

fn sharp(measured: &[&Measured]) -> String {
    let is_sharp = |run: &Run| run.is_right() && run.is_reliable() && run.ess_share > 0.5;
    format!("{}; {}", share(measured, is_sharp), seconds(measured))
}

fn seconds(measured: &[&Measured]) -> String {
    format!("{:.1} s", runs(measured).map(|run| run.seconds).fold(0.0, f64::max))
}

/// The number of targets that are reliable and right, for the seed with the fewest.
fn fewest_reliable(measured: &[&Measured]) -> usize {
    let seeds = measured.iter().map(|measured| measured.runs.len()).max().unwrap_or(0);
    let is_good = |measured: &&&Measured, seed: usize| {
        measured.runs[seed].as_ref().is_ok_and(|run| run.is_right() && run.is_reliable())
    };
    let count = |seed| measured.iter().filter(|measured| is_good(measured, seed)).count();
    (0..seeds).map(count).min().unwrap_or(0)
}

fn is_known(measured: &Measured) -> bool {
    // A run without an answer counts as not right, unless another run shows that the truth is unknown.
    measured.answered().all(|run| run.off.is_known)
}

fn log_z_within(run: &Run, allowed: f64) -> bool {
    run.off.log_z.is_some_and(|off| off.abs() <= allowed)
}
