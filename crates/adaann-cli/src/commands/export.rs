//! `adaann export`: the draws of a run for other programs.

use crate::{
    args::ExportArgs,
    commands::{density::check_out, predict::predicted},
    folder::{csv, finished::Finished},
    job::examine::weights,
    text::failure::usage,
};
use adaann::approximation::Sample;
use adaann_netcdf::{Dimension, File, Group, Value, Values, Variable};
use anyhow::{Context, Result};
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Writes the draws of a run.
pub(crate) fn export(args: &ExportArgs) -> Result<ExitCode> {
    let out = args.out.clone().unwrap_or_else(|| args.run.join("draws.nc"));
    if args.out.is_some() {
        check_out(&out)?;
    }
    let finished = Finished::read(&args.run)?;
    let extension = out.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let count = finished.record.draws;
    let sample = finished.approximation()?.sample(count, finished.summary.seed)?;
    let bytes = match extension {
        "csv" => {
            let quantities = finished.subject.quantities(&sample.points)?;
            let (names, weights) = (finished.subject.columns(), weights(&sample));
            csv::sample(&names, &sample, quantities.as_ref(), Some(&weights)).into_bytes()
        }
        "nc" | "nc4" | "h5" => file(&finished, &sample, args.predictions)?
            .to_bytes()
            .context("cannot write the draws as netCDF")?,
        _ => {
            return Err(usage(format!(
                "--out is '{}', but must end in .nc (netCDF, for ArviZ) or .csv",
                out.display()
            )));
        }
    };
    adaann::support::file::write(&out, &bytes)?;
    writeln!(stdout(), "written to {}", out.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The groups that ArviZ knows: draws, their log densities, data, and predictions.
fn file(finished: &Finished, sample: &Sample, predictions: usize) -> Result<File> {
    let draws = sample.points.len();
    let mut posterior = group("posterior", draws);
    let quantities = finished.subject.quantities(&sample.points)?;
    let batches = std::iter::once(&sample.points).chain(&quantities);
    let rows = batches.flat_map(|batch| (0..batch.dim()).map(|d| batch.row(d)));
    let columns: Vec<(String, &[f64])> = finished.subject.columns().into_iter().zip(rows).collect();
    for (name, members) in grouped(&columns) {
        add_variable(&mut posterior, &name, &members, draws);
    }
    let mut stats = group("sample_stats", draws);
    let lp: Vec<f64> = sample.log_p.clone();
    let log_weights: Vec<f64> =
        sample.log_p.iter().zip(&sample.log_q).map(|(log_p, log_q)| log_p - log_q).collect();
    add_variable(&mut stats, "lp", &[&lp], draws);
    add_variable(&mut stats, "log_q", &[&sample.log_q], draws);
    add_variable(&mut stats, "log_weight", &[&log_weights], draws);
    // Smoothed, and with a sum of 1, as in draws.csv.
    add_variable(&mut stats, "weight", &[&weights(sample)], draws);
    let mut groups = vec![posterior, stats];
    groups.extend(observed(finished));
    if predictions > 0 {
        groups.extend(predictive(finished, predictions)?);
    }
    let text = |key: &str, value: &str| (key.to_owned(), Value::Text(value.to_owned()));
    let attributes = vec![
        text("inference_library", "adaann"),
        text("inference_library_version", &finished.summary.version),
        text("model", &finished.record.target),
    ];
    Ok(File { attributes, groups })
}

fn group(name: &str, draws: usize) -> Group {
    Group {
        name: name.to_owned(),
        attributes: Vec::new(),
        dimensions: vec![Dimension::counted("chain", 1), Dimension::counted("draw", draws)],
        variables: Vec::new(),
    }
}

/// Columns `theta[1]`, `theta[2]`, ... as one variable `theta`.
fn grouped<'c>(columns: &[(String, &'c [f64])]) -> Vec<(String, Vec<&'c [f64]>)> {
    let mut groups: Vec<(String, Vec<&[f64]>)> = Vec::new();
    for (name, values) in columns {
        let stem = name.split('[').next().unwrap_or(name);
        // Elements of a vector need not stand side by side: the last part of a simplex does not.
        match groups.iter_mut().find(|(known, _)| known == stem) {
            Some((_, members)) if name != stem => members.push(values),
            _ => groups.push((stem.to_owned(), vec![values])),
        }
    }
    groups
}

/// A variable over chains and draws, and over its elements if there are several.
fn add_variable(group: &mut Group, name: &str, members: &[&[f64]], draws: usize) {
    let mut dimensions = vec!["chain".to_owned(), "draw".to_owned()];
    if members.len() > 1 {
        let own = format!("{name}_dim_0");
        group.dimensions.push(Dimension::counted(&own, members.len()));
        dimensions.push(own);
    }
    let values = (0..draws).flat_map(|i| members.iter().map(move |member| member[i])).collect();
    group.variables.push(Variable {
        name: name.to_owned(),
        dimensions,
        values: Values::Numbers(values),
        attributes: Vec::new(),
    });
}

/// The columns of the data.
fn observed(finished: &Finished) -> Option<Group> {
    let data = finished.subject.problem.data.as_ref()?;
    let variable = |(c, name): (usize, &String)| Variable {
        name: name.clone(),
        dimensions: vec!["row".to_owned()],
        values: Values::Numbers(data.rows.iter().map(|row| row[c]).collect()),
        attributes: Vec::new(),
    };
    Some(Group {
        name: "observed_data".to_owned(),
        attributes: Vec::new(),
        dimensions: vec![Dimension::counted("row", data.rows.len())],
        variables: data.names.iter().enumerate().map(variable).collect(),
    })
}

/// Measurements that the model predicts at the rows of the data.
fn predictive(finished: &Finished, draws: usize) -> Result<Option<Group>> {
    let Some(predicted) = predicted(finished, None, draws, 1)? else { return Ok(None) };
    let rows = predicted.rows;
    let mut group = group("posterior_predictive", predicted.draws);
    group.dimensions.push(Dimension::counted("row", rows));
    for (name, lines) in predicted.names.iter().zip(&predicted.simulated) {
        let at = |i: usize| lines.iter().map(move |row| row[i]);
        group.variables.push(Variable {
            name: name.clone(),
            dimensions: ["chain", "draw", "row"].map(str::to_owned).to_vec(),
            values: Values::Numbers((0..predicted.draws).flat_map(at).collect()),
            attributes: Vec::new(),
        });
    }
    Ok(Some(group))
}
