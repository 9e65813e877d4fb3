//! The closing tables, with the same rows in the terminal and in the report.

use crate::{
    folder::{
        summary::{Lost, Parameter, Quality, Seed, SplitShare, Summary, Verdict},
        words::{modes, verdict},
    },
    text::{
        layout::{aligned, nats, percent, shortened, thousands},
        style::Style,
    },
};
use adaann::answer::{Left, Method, Rung};
use adaann_report::Table;
use std::{fmt::Write, path::Path};

/// Maximum number of rows in a table; `summary.json` has all.
const MOST_ROWS: usize = 16;

/// The summary as tables.
pub(crate) fn tables(summary: &Summary) -> Vec<Table> {
    let mut tables = vec![facts(summary)];
    if !summary.rungs.is_empty() {
        tables.push(rungs(summary));
    }
    tables.push(parameters("parameter", &summary.parameters));
    if !summary.quantities.is_empty() {
        tables.push(parameters("quantity", &summary.quantities));
    }
    tables.extend(modes::tables(&summary.modes, &summary.found_modes));
    if !summary.splits.is_empty() {
        tables.push(splits(&summary.splits));
    }
    if !summary.seeds.is_empty() {
        tables.push(seeds(summary));
    }
    tables
}

fn facts(summary: &Summary) -> Table {
    let Quality { log_z, log_z_error, kl, ess, ess_share, k_hat, .. } = summary.quality;
    let error = nats(summary.neg_elbo_standard_error);
    let mut rows = vec![("method", summary.method.name().to_owned())];
    if summary.steps > 0 || summary.method == Method::Adaann {
        rows.push(("steps", thousands(summary.steps)));
        rows.push(("updates", thousands(summary.updates)));
    }
    rows.push(("target evaluations", thousands(summary.target_evaluations)));
    rows.push(("check evaluations", thousands(summary.check_evaluations)));
    rows.push(("seconds", format!("{:.2}", summary.seconds)));
    // Importance proposals are wider than the target on purpose, so that their KL divergence may be large.
    if matches!(summary.method, Method::Flow | Method::Adaann) {
        rows.push(("neg-ELBO", format!("{} ± {error}", nats(summary.neg_elbo))));
        match summary.true_kl {
            Some(kl) => rows.push(("KL(q||p)", format!("{} ± {error}", nats(kl)))),
            None => rows.push(("KL(q||p), estimated", nats(kl))),
        }
    }
    rows.push(match log_z.is_nan() && summary.method != Method::Adaann {
        true => ("log Z", "not known".to_owned()),
        false => ("log Z", format!("{} ± {}", nats(log_z), nats(log_z_error))),
    });
    if let Some(log_z) = summary.true_log_z {
        rows.push(("log Z (known)", nats(log_z)));
    }
    if let Some(check) = &summary.check {
        let said = format!("{} ± {}", nats(check.log_z), nats(check.log_z_error));
        rows.push(("log Z (particles)", said));
        let lacking = [check.lacking, check.lacking_error].map(percent).join(" ± ");
        rows.push(("mass that q lacks", lacking));
    }
    let worth = if ess.is_finite() { thousands(ess.round() as usize) } else { ess.to_string() };
    let of = thousands(summary.draws);
    rows.push(("ESS", format!("{worth} of {of} ({})", percent(ess_share))));
    if summary.has_q() {
        rows.push((
            "Pareto k-hat",
            format!("{k_hat:.2} ({})", k_hat_words(&summary.quality, &summary.verdict)),
        ));
    }
    let Lost { before_1, at_1, draws } = summary.lost;
    if before_1 + at_1 + draws > 0.0 {
        let shares = [before_1, at_1, draws].map(|share| format!("{:.2}%", 100.0 * share));
        rows.push(("lost before t = 1, at it, of draws", shares.join(", ")));
    }
    let note = (!summary.notes.is_empty()).then(|| summary.notes.join("; "));
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    Table { rows, note, ..Table::default() }
}

/// Explains k-hat. A value above the threshold without a finding in the verdict falls under one of the
/// documented exceptions.
fn k_hat_words(quality: &Quality, verdict: &Verdict) -> String {
    let Quality { k_hat, k_hat_threshold, .. } = *quality;
    let has = |code: &str| verdict.reasons.iter().any(|reason| reason.finding_code == code);
    let is_above = k_hat > k_hat_threshold;
    if is_above && !has("heavy-tail") && !has("not-examined") {
        return format!(
            "above {k_hat_threshold:.2}, but harmless: the weights are nearly equal, or their tail has almost \
             no mass"
        );
    }
    format!("good below {k_hat_threshold:.2}")
}

/// The rungs of the ladder: the cost of each, its ESS, and why it ended; then the cost of the final draws
/// and of the check.
fn rungs(summary: &Summary) -> Table {
    let row = |rung: &Rung| {
        vec![
            rung.method.name().to_owned(),
            thousands(rung.evaluations),
            rung.ess_share.map_or(String::new(), percent),
            left(rung.left).to_owned(),
            rung.found.clone(),
        ]
    };
    let mut rows: Vec<Vec<String>> = summary.rungs.iter().map(row).collect();
    let of_rungs: usize = summary.rungs.iter().map(|rung| rung.evaluations).sum();
    let draws = summary.target_evaluations.saturating_sub(of_rungs);
    for (name, count) in [("draws", draws), ("check", summary.check_evaluations)] {
        if count > 0 {
            let empty = || String::new();
            rows.push(vec![name.to_owned(), thousands(count), empty(), empty(), empty()]);
        }
    }
    let header = ["rung", "evaluations", "ESS", "left because", "found"];
    shortened(&header, rows, MOST_ROWS)
}

/// Why a rung ended.
fn left(why: Left) -> &'static str {
    match why {
        Left::Answered => "it gives the answer",
        Left::Prepared => "the next starts from it",
        Left::PoorWeights => "too few draws count",
        Left::Failed => "it could not be done",
    }
}

/// Means and standard deviations with their errors, and the exact values where known.
pub(crate) fn parameters(kind: &str, parameters: &[Parameter]) -> Table {
    let exact = parameters.iter().any(|p| p.true_mean.is_some() || p.true_sd.is_some());
    let row = |p: &Parameter| {
        let decimals = decimals(p.sd);
        let number = |x: f64| format!("{x:.decimals$}");
        let or_blank = |x: Option<f64>| x.map_or(String::new(), number);
        let mean = format!("{} ± {}", number(p.mean), number(p.mean_error));
        let mut row = vec![p.name.clone(), mean, number(p.sd)];
        if exact {
            row.extend([or_blank(p.true_mean), or_blank(p.true_sd)]);
        }
        row
    };
    let header = [kind, "mean", "sd", "true mean", "true sd"];
    let header = if exact { &header[..] } else { &header[..3] };
    shortened(header, parameters.iter().map(row).collect(), MOST_ROWS)
}

/// Decimal places that show three digits of a standard deviation, and at least four places.
fn decimals(sd: f64) -> usize {
    if sd > 0.0 && sd.is_finite() {
        (2.0 - sd.log10().floor()).clamp(4.0, 12.0) as usize
    } else {
        4
    }
}

/// For each coordinate with a known split, the share of the mass above it.
pub(crate) fn splits(splits: &[SplitShare]) -> Table {
    let row = |split: &SplitShare| {
        vec![
            format!("{} > {}", split.parameter, split.at),
            percent(split.above_q),
            percent(split.above),
            percent(split.true_above),
        ]
    };
    let header = ["side", "draws", "weighted", "truth"];
    shortened(&header, splits.iter().map(row).collect(), MOST_ROWS)
}

fn seeds(summary: &Summary) -> Table {
    // A line has room for the weights of four modes.
    let shown = if summary.modes.len() <= 4 { summary.modes.len() } else { 0 };
    let mut header = vec!["seed".to_owned(), "neg-ELBO".to_owned(), "steps".to_owned()];
    header.extend(summary.modes.iter().take(shown).map(|mode| mode.label.clone()));
    let row = |run: &Seed| {
        let mut row = vec![run.seed.to_string(), nats(run.neg_elbo), thousands(run.steps)];
        row.extend(run.mode_weights.iter().take(shown).map(|weight| format!("{weight:.4}")));
        row
    };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = shortened(&header, summary.seeds.iter().map(row).collect(), MOST_ROWS);
    if let [best, .., worst] = &summary.seeds[..] {
        let spread = format!(
            "best seed {} kept; neg-ELBO from {} to {}",
            best.seed,
            nats(best.neg_elbo),
            nats(worst.neg_elbo)
        );
        table.note = Some(table.note.map_or(spread.clone(), |note| format!("{spread}; {note}")));
    }
    table
}

/// The tables for a terminal, followed by warnings, verdict, folder and next steps.
pub(crate) fn closing(title: &str, summary: &Summary, folder: &Path, style: Style) -> String {
    let mut text = format!("{}\n", style.bold(title));
    for table in tables(summary) {
        text.push('\n');
        text += &aligned(&table, style);
    }
    if !summary.warnings.is_empty() {
        text.push('\n');
    }
    for warning in &summary.warnings {
        writeln!(text, "{} {warning}", style.yellow("warning:")).expect("strings grow");
    }
    text.push('\n');
    text += &verdict::text(&summary.verdict, summary.sight.as_deref(), style);
    let folder = folder.display();
    write!(
        text,
        "\nwritten to {folder}\n  figures and tables   {folder}/report.html\n  \
         your own points      adaann density {folder} points.csv\n"
    )
    .expect("strings grow");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::summary::Reason;
    use adaann::diagnostics::Trust;

    #[test]
    fn a_k_hat_above_its_limit_is_called_harmless_only_if_nothing_is_held_against_it() {
        let (log_z, log_z_error, kl, ess, ess_share) = (0.0, 0.01, 0.1, 3_000.0, 0.75);
        let quality =
            |k_hat| Quality { log_z, log_z_error, kl, ess, ess_share, k_hat, k_hat_threshold: 0.7 };
        let verdict = |codes: &[&str]| Verdict {
            trust: Trust::Care,
            reasons: codes
                .iter()
                .map(|code| Reason {
                    trust: Trust::Care,
                    finding_code: (*code).to_owned(),
                    finding: String::new(),
                    remedy_code: String::new(),
                    remedy: String::new(),
                })
                .collect(),
            power: None,
            power_basis: None,
        };
        let harmless = k_hat_words(&quality(0.82), &verdict(&["not-checked"]));
        assert!(harmless.starts_with("above 0.70, but harmless: "), "{harmless}");
        for (k_hat, codes) in [(0.82, "heavy-tail"), (11.0, "not-examined"), (0.5, "stopped")] {
            assert_eq!(k_hat_words(&quality(k_hat), &verdict(&[codes])), "good below 0.70");
        }
    }
}
