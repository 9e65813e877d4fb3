//! `summary.json` of a calibration: the statistics of the ranks, as data and as text.

use crate::commands::calibrate::{
    journal::{Entry, Journal},
    trials::Plan,
};
use crate::text::{
    layout::{aligned, thousands},
    style::Style,
};
use adaann::{
    calibrate::{self, Deviation, Envelope, Histogram, Judgement, Trial, bins_for},
    importance::pareto::k_hat_threshold,
};
use adaann_report::Table;
use anyhow::Result;
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write, path::Path};

/// The probability that the ranks of any parameter leave their band although the draws are calibrated.
const FALSE_ALARM: f64 = 0.05;

/// Fewer trials than this reveal only gross errors.
const FEW_TRIALS: usize = 50;

/// A larger share of fits with heavy-tailed weights gives a warning.
const MANY_HEAVY: f64 = 0.1;

/// Maximum number of rows in the closing table; `summary.json` has all.
const MOST_ROWS: usize = 16;

/// The results of the trials.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) version: String,
    pub(super) model: String,
    fingerprint: String,
    seed: u64,
    /// Number of draws among which the truth is ranked.
    pub(super) draws: usize,
    /// Requested, finished and failed trials.
    pub(super) trials: usize,
    pub(super) finished: usize,
    pub(super) failed: usize,
    failed_share: f64,
    /// Was it interrupted?
    pub(super) stopped: bool,
    /// Probability that the ranks of one parameter stay inside their band if the draws are calibrated.
    pub(super) coverage: f64,
    /// All parameters, then log p.
    pub(super) parameters: Vec<Parameter>,
    k_hat: Tail,
    ess_share: Spread,
    /// The reasons why fits failed, the most frequent first.
    pub(super) failures: Vec<Failure>,
    pub(super) warnings: Vec<String>,
}

/// The ranks of one parameter.
#[derive(Debug, Serialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) judgement: Judgement,
    /// Mean rank as a share of the draws: 0.5 if they are calibrated.
    mean_rank: f64,
    chi_square: f64,
    chi_square_p_value: f64,
    bins: usize,
    /// Largest deviation of the ranks' distribution function from the uniform one.
    largest_deviation: f64,
    inside_band: bool,
    band_p_value: f64,
}

/// The distribution of Pareto k̂ over the fits.
#[derive(Debug, Serialize)]
struct Tail {
    median: f64,
    largest: f64,
    threshold: f64,
    share_above: f64,
}

#[derive(Debug, Serialize)]
struct Spread {
    median: f64,
    smallest: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) count: usize,
}

impl Summary {
    /// Name of the file.
    pub(super) const FILE: &str = "summary.json";

    /// `None` if no trial succeeded.
    pub(super) fn new(
        model: &str,
        plan: &Plan,
        journal: &Journal,
        entries: &[Entry],
    ) -> Result<Option<Self>> {
        let finished: Vec<&Trial> = finished(entries);
        if finished.is_empty() {
            return Ok(None);
        }
        let names = calibrate::names(plan.model);
        let coverage = 1.0 - FALSE_ALARM / names.len() as f64;
        let envelope = Envelope::new(finished.len(), plan.draws, coverage)?;
        let parameters = names
            .iter()
            .enumerate()
            .map(|(p, name)| Parameter::new(name, &ranks(&finished, p), plan.draws, &envelope))
            .collect::<Result<_>>()?;
        let failed = entries.len() - finished.len();
        let mut summary = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.to_owned(),
            fingerprint: journal.format().fingerprint.clone(),
            seed: plan.seed,
            draws: plan.draws,
            trials: plan.trials,
            finished: finished.len(),
            failed,
            failed_share: failed as f64 / entries.len() as f64,
            stopped: entries.len() < plan.trials,
            coverage,
            parameters,
            k_hat: Tail::new(&finished, k_hat_threshold(calibrate::weighted(plan.draws))),
            ess_share: Spread::new(&finished),
            failures: failures(entries),
            warnings: Vec::new(),
        };
        summary.warnings = summary.find_warnings();
        Ok(Some(summary))
    }

    fn find_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (done, asked) = (self.finished + self.failed, self.trials);
        if self.stopped {
            warnings.push(format!(
                "stopped after {done} of {asked} trials; repeat the command to resume"
            ));
        }
        for parameter in &self.parameters {
            if let Some(meaning) = meaning(parameter.judgement) {
                warnings.push(format!("{} is {}: {meaning}", parameter.name, parameter.judgement));
            }
        }
        if let Some(first) = self.failures.first() {
            warnings.push(format!(
                "{} of {done} fits failed and have no ranks; the most frequent error: {}",
                self.failed, first.message
            ));
        }
        if self.k_hat.share_above > MANY_HEAVY {
            warnings.push(format!(
                "in {:.0} per cent of the fits the weights have a heavy tail (k-hat above {:.2}); \
                 train longer, for example with `-- --refine 3000`",
                100.0 * self.k_hat.share_above,
                self.k_hat.threshold
            ));
        }
        if self.finished < FEW_TRIALS && !self.stopped {
            warnings.push(format!("{} trials reveal only gross errors", self.finished));
        }
        warnings
    }

    /// The text of the file.
    pub(super) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialise");
        text.push('\n');
        text
    }

    /// A title in one line.
    pub(super) fn title(&self) -> String {
        format!(
            "{}: {} fits of simulated data, ranks among {} draws",
            self.model,
            thousands(self.finished),
            self.draws
        )
    }

    /// A table of the judgements on at most `most` parameters.
    pub(super) fn judgements(&self, most: usize) -> Table {
        let row = |p: &Parameter| {
            vec![
                p.name.clone(),
                format!("{:.3}", p.mean_rank),
                format!("{:+.3}", p.largest_deviation),
                probability(p.band_p_value),
                probability(p.chi_square_p_value),
                p.judgement.to_string(),
            ]
        };
        let header = ["parameter", "mean rank", "deviation", "band p", "chi-square p", "judgement"];
        let mut shown: Vec<&Parameter> = self.parameters.iter().collect();
        if shown.len() > most {
            // Show miscalibrated parameters first.
            shown.sort_by_key(|p| p.judgement == Judgement::Calibrated);
        }
        let more = shown.len().saturating_sub(most);
        shown.truncate(most);
        Table {
            header: header.map(str::to_owned).to_vec(),
            rows: shown.into_iter().map(row).collect(),
            note: (more > 0).then(|| format!("{more} more in {}", Self::FILE)),
            ..Table::default()
        }
    }

    /// A table of facts about the fits.
    pub(super) fn facts(&self) -> Table {
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        let rows = vec![
            vec!["fits that failed".to_owned(), self.failed.to_string()],
            vec!["Pareto k-hat, median".to_owned(), format!("{:.2}", self.k_hat.median)],
            vec![
                format!("k-hat above {:.2}", self.k_hat.threshold),
                percent(self.k_hat.share_above),
            ],
            vec!["effective share of draws, median".to_owned(), percent(self.ess_share.median)],
        ];
        Table { rows, ..Table::default() }
    }

    /// The text printed at the end.
    pub(super) fn closing(&self, folder: &Path, style: Style) -> String {
        let mut text = format!("{}\n", style.bold(&self.title()));
        for table in [self.judgements(MOST_ROWS), self.facts()] {
            text.push('\n');
            text += &aligned(&table, style);
        }
        if !self.warnings.is_empty() {
            text.push('\n');
        }
        for warning in &self.warnings {
            writeln!(text, "{} {warning}", style.yellow("warning:")).expect("strings grow");
        }
        let folder = folder.display();
        write!(text, "\nwritten to {folder}\n  figures and tables   {folder}/report.html\n")
            .expect("strings grow");
        text
    }
}

impl Parameter {
    fn new(name: &str, ranks: &[usize], draws: usize, envelope: &Envelope) -> Result<Self> {
        let Deviation { largest, is_inside, p_value } = envelope.deviation(ranks)?;
        let bins = bins_for(ranks.len(), draws);
        let histogram = Histogram::new(ranks, draws, bins)?;
        let mean = ranks.iter().sum::<usize>() as f64 / ranks.len() as f64;
        Ok(Self {
            name: name.to_owned(),
            judgement: Judgement::of(ranks, draws, &envelope.deviation(ranks)?),
            mean_rank: mean / draws as f64,
            chi_square: histogram.chi_square,
            chi_square_p_value: histogram.p_value,
            bins,
            largest_deviation: largest,
            inside_band: is_inside,
            band_p_value: p_value,
        })
    }
}

impl Tail {
    fn new(trials: &[&Trial], threshold: f64) -> Self {
        let sorted = sorted(trials.iter().map(|trial| trial.k_hat));
        let above = sorted.iter().filter(|k_hat| **k_hat > threshold).count();
        Self {
            median: sorted[sorted.len() / 2],
            largest: sorted[sorted.len() - 1],
            threshold,
            share_above: above as f64 / sorted.len() as f64,
        }
    }
}

impl Spread {
    fn new(trials: &[&Trial]) -> Self {
        let sorted = sorted(trials.iter().map(|trial| trial.ess_share));
        Self { median: sorted[sorted.len() / 2], smallest: sorted[0] }
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The successful trials.
pub(super) fn finished(entries: &[Entry]) -> Vec<&Trial> {
    entries.iter().filter_map(|entry| entry.outcome.as_ref().ok()).collect()
}

/// The ranks of one parameter.
pub(super) fn ranks(trials: &[&Trial], parameter: usize) -> Vec<usize> {
    trials.iter().map(|trial| trial.ranks[parameter]).collect()
}

fn failures(entries: &[Entry]) -> Vec<Failure> {
    let mut counts = BTreeMap::new();
    for message in entries.iter().filter_map(|entry| entry.outcome.as_ref().err()) {
        *counts.entry(message).or_insert(0) += 1;
    }
    let failure = |(message, count): (&String, usize)| Failure { message: message.clone(), count };
    let mut failures: Vec<Failure> = counts.into_iter().map(failure).collect();
    // A stable sort keeps equally frequent failures in alphabetical order.
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    failures
}

/// What a judgement means for the draws; `None` if they are calibrated.
fn meaning(judgement: Judgement) -> Option<&'static str> {
    Some(match judgement {
        Judgement::Calibrated => return None,
        Judgement::TooNarrow => "the truth lies outside the draws too often",
        Judgement::TooWide => "the truth lies in the middle of the draws too often",
        Judgement::BiasedLow => "the draws lie below the truth too often",
        Judgement::BiasedHigh => "the draws lie above the truth too often",
        Judgement::Uneven => "its ranks are not uniform; the figures show where",
    })
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}
