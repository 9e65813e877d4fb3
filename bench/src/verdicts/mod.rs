//! Are verdicts right? Compares the verdicts of good and bad runs over the registry with the truth.

mod cases;
mod judged;

use crate::trials::{self, Options};
use adaann::diagnostics::Trust;
use cases::Case;
use judged::{Judged, Outcome};
use std::{fmt::Write, io, time::Instant};

/// The number of standard errors within which log Z counts as right.
const WITHIN: f64 = 3.0;

/// Runs all cases, and prints a table of outcomes by verdict, with the runs where they disagree.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    let cases = Case::all(options);
    let runs = trials::each(&cases, |case| {
        let start = Instant::now();
        let judged = Judged::new(case);
        eprintln!("{} ({:.1} s)", line(case, &judged), start.elapsed().as_secs_f64());
        judged
    });
    let mut judged: Vec<(&Case, &Judged)> = Vec::new();
    let mut failed: Vec<(&Case, String)> = Vec::new();
    for (case, run) in cases.iter().zip(&runs) {
        match run {
            Ok(run) => judged.push((case, run)),
            Err(error) => failed.push((case, error.to_string())),
        }
    }
    options.publish("verdicts", &page(&judged, &failed))
}

fn page(judged: &[(&Case, &Judged)], failed: &[(&Case, String)]) -> String {
    let mut page = String::new();
    let mut add = |line: &str| writeln!(page, "{line}").expect("memory takes all");
    add("| what is true | runs | reliable | use with care | do not trust |");
    add("|---|---|---|---|---|");
    for outcome in Outcome::ALL {
        let judged_as = |trust| count(judged, outcome, Some(trust));
        add(&format!(
            "| {} | {} | {} | {} | {} |",
            outcome.label(),
            count(judged, outcome, None),
            judged_as(Trust::Reliable),
            judged_as(Trust::Care),
            judged_as(Trust::Distrust)
        ));
    }
    add("\n| what is asked | wanted | found |");
    add("|---|---|---|");
    for (what, wanted, found) in demands(judged) {
        add(&format!("| {what} | {wanted} | {found} |"));
    }
    add("\nMisjudged:\n");
    add(
        "| target | flow | annealed | seed | truth | KL | verdict | k-hat | ESS share | lacking | log Z, in standard errors | reasons |",
    );
    add("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (case, run) in judged.iter().filter(|(_, run)| is_misjudged(run)) {
        add(&row(case, run));
    }
    for (case, error) in failed {
        add(&format!("\nNo verdict, since the fit failed: {}: {error}", name(case)));
    }
    page
}

fn count(judged: &[(&Case, &Judged)], outcome: Outcome, trust: Option<Trust>) -> usize {
    let is_asked_for =
        |run: &Judged| run.outcome == outcome && trust.is_none_or(|trust| run.trust == trust);
    judged.iter().filter(|(_, run)| is_asked_for(run)).count()
}

/// The demands on verdicts, with the required and the measured values.
fn demands(judged: &[(&Case, &Judged)]) -> Vec<(&'static str, &'static str, String)> {
    let share = |outcome, trust| {
        let all = count(judged, outcome, None).max(1) as f64;
        100.0 * count(judged, outcome, Some(trust)) as f64 / all
    };
    let deviations: Vec<f64> = (judged.iter())
        .filter(|(_, run)| run.trust == Trust::Reliable)
        .map(|(_, run)| run.log_z_deviation)
        .collect();
    let within = deviations.iter().filter(|deviation| deviation.abs() < WITHIN).count();
    let within = 100.0 * within as f64 / deviations.len().max(1) as f64;
    let percent = |share: f64| format!("{share:.1} %");
    vec![
        (
            "runs with a lost mode that are not called reliable",
            "99 % and more",
            percent(100.0 - share(Outcome::LostMode, Trust::Reliable)),
        ),
        (
            "close runs that are called reliable",
            "80 % and more",
            percent(share(Outcome::Close, Trust::Reliable)),
        ),
        (
            "close runs that are not to be trusted",
            "5 % and less",
            percent(share(Outcome::Close, Trust::Distrust)),
        ),
        ("reliable runs whose log Z is within 3 standard errors", "95 % and more", percent(within)),
        (
            "RMS of their errors of log Z, in standard errors",
            "1.5 and less",
            format!("{:.2}", trials::rms(deviations.iter().copied())),
        ),
    ]
}

fn is_misjudged(run: &Judged) -> bool {
    let is_reliable = run.trust == Trust::Reliable;
    let is_off = run.log_z_deviation.abs() >= WITHIN;
    match run.outcome {
        Outcome::LostMode => is_reliable,
        Outcome::Close => !is_reliable || is_off,
        Outcome::Rough => is_reliable && is_off,
    }
}

fn name(case: &Case) -> String {
    let Case { target, flow, annealed, seed, .. } = case;
    format!("{target} | {flow} | {} | {seed}", if *annealed { "yes" } else { "no" })
}

fn row(case: &Case, run: &Judged) -> String {
    let lacking = run.lacking.map_or("-".to_owned(), |lacking| format!("{lacking:.4}"));
    format!(
        "| {} | {} | {:.3} | {} | {:.2} | {:.3} | {lacking} | {:+.1} | {} |",
        name(case),
        run.outcome.label(),
        run.kl,
        run.trust,
        run.k_hat,
        run.ess_share,
        run.log_z_deviation,
        run.reasons.join("; ")
    )
}

/// The progress line of a finished run.
fn line(case: &Case, run: &adaann::Result<Judged>) -> String {
    match run {
        Ok(run) => row(case, run),
        Err(error) => format!("| {} | {error}", name(case)),
    }
}
