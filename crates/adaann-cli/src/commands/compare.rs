//! `adaann compare`: runs side by side, of several models of the same data or of the same model.

use crate::{
    args::CompareArgs,
    folder::{
        csv,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
        summary::{Parameter, Quality, Summary, Verdict},
    },
    text::{layout::aligned, style::Style},
};
use adaann::answer::Method;
use adaann_report::Table;
use anyhow::Result;
use std::{
    io::{Write, stdout},
    path::Path,
    process::ExitCode,
};

/// A run to compare.
struct Run {
    label: String,
    summary: Summary,
    /// Its data as text; `None` for a density without data.
    data: Option<String>,
}

/// Prints the comparison.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let mut runs = args.runs.iter().map(|folder| Run::read(folder)).collect::<Result<Vec<_>>>()?;
    let short: Vec<String> = args.runs.iter().map(|folder| short(folder)).collect();
    if (1..short.len()).all(|i| !short[..i].contains(&short[i])) {
        runs.iter_mut().zip(short).for_each(|(run, short)| run.label = short);
    }
    let style = Style::detect();
    let mut text = aligned(&evidence(&runs), style);
    if let Some(parameters) = parameters(&runs) {
        text.push('\n');
        text += &aligned(&parameters, style);
    }
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The last component of a path.
fn short(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

impl Run {
    fn read(folder: &Path) -> Result<Self> {
        let stored = Stored::open(folder)?;
        let record = Record::read(&stored)?;
        let summary = Summary::read(&stored)?;
        let label = folder.display().to_string();
        let subject = Subject::read(&record.source(), &stored, Programs::Forbidden)?;
        let data = subject.data().map(|data| csv::data(&data));
        Ok(Self { label, summary, data })
    }

    /// log Z from the weights, or without weights the ELBO, a lower bound.
    fn log_evidence(&self) -> f64 {
        let log_z = self.summary.quality.log_z;
        if log_z.is_nan() { -self.summary.neg_elbo } else { log_z }
    }
}

/// The runs sorted by evidence, the best first.
fn evidence(runs: &[Run]) -> Table {
    let mut order: Vec<&Run> = runs.iter().collect();
    // Runs without evidence come last.
    let key = |run: &Run| match run.log_evidence() {
        none if none.is_nan() => f64::NEG_INFINITY,
        known => known,
    };
    order.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let best = order[0].log_evidence();
    let number = |x: f64| if x.is_nan() { "-".to_owned() } else { format!("{x:.3}") };
    let with = |x: f64, error: f64| match x.is_nan() {
        true => "-".to_owned(),
        false => format!("{x:.3} ± {error:.3}"),
    };
    let row = |run: &&Run| {
        let Summary { neg_elbo, neg_elbo_standard_error, true_log_z, t, stopped, method, .. } =
            &run.summary;
        let Quality { log_z, log_z_error, .. } = run.summary.quality;
        let known = true_log_z.map_or(String::new(), |log_z| format!("{log_z:.3}"));
        let is_cut = *t < 1.0 || *stopped && *method != Method::Adaann;
        let unfinished = if is_cut { " (stopped early)" } else { "" };
        vec![
            format!("{}{unfinished}", run.label),
            method.name().to_owned(),
            judged(&run.summary.verdict),
            with(log_z, log_z_error),
            number(run.log_evidence() - best),
            known,
            with(*neg_elbo, *neg_elbo_standard_error),
        ]
    };
    let header =
        ["run", "method", "verdict", "log Z", "against the best", "log Z (known)", "neg-ELBO"];
    let same_data = runs.windows(2).all(|pair| pair[0].data == pair[1].data);
    let mut header: Vec<String> = header.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = order.iter().map(row).collect();
    let none_known = runs.iter().all(|run| run.summary.true_log_z.is_none());
    for (column, is_left_out) in [(5, none_known), (4, !same_data)] {
        if is_left_out {
            header.remove(column);
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    let note = if same_data {
        "log Z is the log evidence; it is as reliable as the verdict"
    } else {
        "the runs have different data: their evidences cannot be compared"
    };
    Table { header, rows, note: Some(note.to_owned()), ..Table::default() }
}

/// The verdict, with the power of the search if it was measured.
fn judged(verdict: &Verdict) -> String {
    match verdict.power {
        Some(power) => format!("{}, power {} %", verdict.trust, (100.0 * power).floor()),
        None => verdict.trust.to_string(),
    }
}

/// Mean and standard deviation of every parameter and quantity in each run.
fn parameters(runs: &[Run]) -> Option<Table> {
    let all = |run: &Run| -> Vec<(String, String)> {
        let listed = run.summary.parameters.iter().chain(&run.summary.quantities);
        let entry = |p: &Parameter| (p.name.clone(), format!("{:.4} ± {:.4}", p.mean, p.sd));
        listed.map(entry).collect()
    };
    let columns: Vec<Vec<(String, String)>> = runs.iter().map(all).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in columns.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let row = |name: &&String| {
        let cell = |column: &Vec<(String, String)>| {
            let found = column.iter().find(|(known, _)| known == *name);
            found.map_or("-".to_owned(), |(_, text)| text.clone())
        };
        let mut row = vec![(*name).clone()];
        row.extend(columns.iter().map(cell));
        row
    };
    let mut header = vec!["mean ± sd".to_owned()];
    header.extend(runs.iter().map(|run| run.label.clone()));
    let rows: Vec<_> = names.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { header, rows, ..Table::default() })
}
