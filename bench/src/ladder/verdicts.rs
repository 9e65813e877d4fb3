//! Are the verdicts of the ladder right? Compares all targets with the truth.

use super::{LadderOptions, measure, run::Run, table::Measured};
use adaann::diagnostics::Trust;
use std::{fmt::Write, io};

/// Runs every target with every seed, 400 runs with the default of seven seeds. Prints a table of right answers by
/// verdict, and the runs where they disagree.
pub(crate) fn run(options: &LadderOptions) -> io::Result<()> {
    let subjects = options.subjects().map_err(io::Error::other)?;
    let measured = measure(&subjects, options)?;
    let page = page(&measured, options.trials.first);
    options.trials.publish_as("verdicts --ladder", "ladder-verdicts", &page)
}

fn page(measured: &[Measured], first: u64) -> String {
    let mut page = String::new();
    let mut add = |line: &str| writeln!(page, "{line}").expect("memory takes all");
    add("| what is true | runs | reliable | local | use with care | do not trust | not checked |");
    add("|---|---|---|---|---|---|---|");
    let runs = || measured.iter().flat_map(|measured| measured.answered());
    for (label, is_so) in [
        ("right", Run::is_right as fn(&Run) -> bool),
        ("wrong", Run::is_wrong),
        ("not known", |run| run.off.is_right().is_none()),
    ] {
        let of = |trust| runs().filter(|run| is_so(run) && run.trust == trust).count();
        add(&format!(
            "| {label} | {} | {} | {} | {} | {} | {} |",
            runs().filter(|run| is_so(run)).count(),
            of(Some(Trust::Reliable)),
            of(Some(Trust::Local)),
            of(Some(Trust::Care)),
            of(Some(Trust::Distrust)),
            of(None)
        ));
    }
    let all: usize = measured.iter().map(|measured| measured.runs.len()).sum();
    add(&format!("| no answer | {} | - | - | - | - | - |", all - runs().count()));
    add("\n| what is asked | wanted | found |");
    add("|---|---|---|");
    let lies = runs().filter(|run| run.is_reliable() && run.is_wrong()).count();
    add(&format!("| reliable and wrong | at most 4 | {lies} |"));
    let (right, trusted) = (
        runs().filter(|run| run.is_right()).count(),
        runs().filter(|run| run.is_right() && run.is_reliable()).count(),
    );
    add(&format!("| right ones that are reliable | 90 % | {} |", percent(trusted, right)));
    let stated = || {
        runs().filter(|run| run.is_reliable()).filter_map(|run| run.off.is_log_z_within_errors())
    };
    let within = stated().filter(|is_within| *is_within).count();
    add(&format!(
        "| reliable ones whose log Z is within three stated errors | 95 % | {} |",
        percent(within, stated().count())
    ));
    add("\nMisjudged:\n");
    add("| target | seed | verdict | off by | log Z | evaluations | reasons |");
    add("|---|---|---|---|---|---|---|");
    for measured in measured {
        for (seed, run) in (first..).zip(&measured.runs) {
            match run {
                Ok(run) if is_misjudged(run) => {
                    add(&format!("| {} | {seed} | {}", measured.subject.name, row(run)));
                }
                Ok(_) => {}
                Err(error) => {
                    let error = error.to_string().replace(['|', '\n'], " ");
                    add(&format!(
                        "| {} | {seed} | no answer | {error} | | | |",
                        measured.subject.name
                    ));
                }
            }
        }
    }
    page
}

/// Is the run reliable but wrong, right but not reliable, or reliable with a log Z beyond its stated errors?
fn is_misjudged(run: &Run) -> bool {
    if run.is_reliable() {
        run.is_wrong() || run.off.is_log_z_within_errors() == Some(false)
    } else {
        run.is_right()
    }
}

fn row(run: &Run) -> String {
    format!(
        "{} | {} | {} | {} | {} |",
        run.trust.map_or("not checked".to_owned(), |trust| trust.to_string()),
        run.off.faults().join(", "),
        run.off
            .log_z
            .map_or("-".to_owned(), |off| format!("{off:+.4} ± {:.4}", run.off.log_z_error)),
        run.all_evaluations(),
        run.reasons.join("; ").replace(['|', '\n'], " ")
    )
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} % ({part} of {whole})", 100.0 * part as f64 / whole.max(1) as f64)
}
