//! `adaann export`: the draws of a run for other programs.

use crate::{
    args::ExportArgs,
    commands::opened,
    folder::{
        csv,
        drawn::{Chosen, Drawn, Whose},
        finished::Finished,
        index::Index,
        out::Out,
        page,
        predicted::{check_draws, predicted},
        row_terms::row_terms,
        subject::Programs,
    },
    job::interrupt,
    text::failure::usage,
};
use adaann::Batch;
use adaann_netcdf::{Dimension, File, Group, Value, Values, Variable};
use anyhow::{Context, Result};
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Name of the file in the run folder.
const FILE: &str = "draws.nc";

/// Writes the draws of a run.
pub(crate) fn export(args: &ExportArgs) -> Result<ExitCode> {
    // The folder's own `draws.nc` is always replaced; a file elsewhere may belong to somebody.
    let out = match &args.out {
        Some(out) => Out::new("--out", out, args.force)?,
        None => {
            Out::own(&args.run, Index::FILE)?;
            Out::own(&args.run, FILE)?
        }
    };
    check_draws("--predictions", args.predictions, 0)?;
    let whose = Whose::new(args.unweighted);
    // Predictions and the group `posterior` always use the target's draws.
    interrupt::end_when_asked()?;
    let programs = Programs::new(args.allow_command);
    let finished = opened::open(&args.run, Whose::Target, programs)?;
    let mark = finished.summary.mark();
    opened::warn(&args.run, mark.as_deref());
    let extension =
        out.path().extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if args.out.is_none() {
        page::refuse_late(&args.run, &finished)?;
    }
    match extension {
        "csv" => table(&out, &finished, whose)?,
        "nc" | "nc4" | "h5" => out.write(
            &file(&finished, whose, args.predictions)?
                .to_bytes()
                .context("cannot write the draws as netCDF")?,
        )?,
        _ => {
            return Err(usage(format!(
                "--out is '{}', but must end in .nc (netCDF, for ArviZ) or .csv",
                out.path().display()
            )));
        }
    }
    if args.out.is_none() {
        Index::update(&args.run, &[FILE.to_owned()])?;
    }
    let note = match (whose, extension) {
        (Whose::Flow, "csv") => whose.note(),
        (Whose::Flow, _) => format!(" (the group unweighted has {})", whose.draws()),
        (Whose::Target, _) => String::new(),
    };
    let mark = mark.map_or(String::new(), |mark| format!(" ({mark})"));
    writeln!(stdout(), "written to {}{note}{mark}", out.path().display())?;
    Ok(ExitCode::SUCCESS)
}

/// The bytes of a file with all groups of a run, and the default number of draws for predictions.
pub(crate) fn bytes(finished: &Finished) -> Result<Vec<u8>> {
    file(finished, Whose::Flow, ExportArgs::PREDICTIONS)?
        .to_bytes()
        .context("cannot write the draws as netCDF")
}

/// Writes resampled draws without weights, or the flow's draws with weights.
fn table(out: &Out, finished: &Finished, whose: Whose) -> Result<()> {
    let (subject, names) = (&finished.subject, finished.subject.columns());
    let write = |x: &Batch, known: &[(&str, &[f64])]| {
        let quantities = subject.quantities(x)?;
        out.write_with(|file| csv::draws(file, &names, x, quantities.as_ref(), known))
    };
    match whose {
        Whose::Target => {
            let Chosen { x, log_p } = &finished.chosen;
            write(x, &[("log_p", log_p)])
        }
        Whose::Flow => {
            let Drawn { x, log_p, log_q, weights } = &finished.drawn;
            write(x, &[("log_p", log_p), ("log_q", log_q), ("weight", weights)])
        }
    }
}

/// The groups that ArviZ knows: draws, log densities, data, predictions, and the log likelihood of each row;
/// on request, the flow's own draws as well.
fn file(finished: &Finished, whose: Whose, predictions: usize) -> Result<File> {
    // Resampled from the run's own draws, so that estimates agree with the weighted ones up to the noise of
    // resampling.
    let Chosen { x, log_p } = &finished.chosen;
    let mut groups = vec![
        group_of_points("posterior", finished, x)?,
        group_of_columns("sample_stats", &[("lp", log_p)]),
    ];
    groups.extend(observed(finished));
    if predictions > 0 {
        groups.extend(predictive(finished, predictions)?);
        groups.extend(log_likelihood(finished, predictions)?);
    }
    if whose == Whose::Flow {
        groups.extend(unweighted(finished)?);
    }
    let mut attributes = vec![
        text("inference_library", "adaann"),
        text("inference_library_version", &finished.summary.version),
        text("model", &finished.record.target),
    ];
    attributes.extend(finished.summary.mark().map(|mark| text("status", &mark)));
    Ok(File { attributes, groups })
}

/// The flow's draws, and their log densities and weights. A parameter may have the name of a statistic, so
/// that the statistics have their own group.
fn unweighted(finished: &Finished) -> Result<[Group; 2]> {
    let Drawn { x, log_p, log_q, weights } = &finished.drawn;
    let mut draws = group_of_points("unweighted", finished, x)?;
    let about = format!("{}; unweighted_stats has their weights towards p", Whose::Flow.draws());
    draws.attributes.push(text("description", &about));
    let stats = [("lp", &log_p[..]), ("log_q", log_q), ("weight", weights)];
    Ok([draws, group_of_columns("unweighted_stats", &stats)])
}

fn group_of_columns(name: &str, columns: &[(&str, &[f64])]) -> Group {
    let draws = columns.first().map_or(0, |(_, values)| values.len());
    let mut group = group(name, draws);
    for (name, values) in columns {
        add_variable(&mut group, name, &[values], &[]);
    }
    group
}

fn text(key: &str, value: &str) -> (String, Value) {
    (key.to_owned(), Value::Text(value.to_owned()))
}

/// A group of parameters and derived quantities at some points.
fn group_of_points(name: &str, finished: &Finished, x: &Batch) -> Result<Group> {
    let mut group = group(name, x.len());
    let quantities = finished.subject.quantities(x)?;
    let batches = std::iter::once(x).chain(&quantities);
    let rows = batches.flat_map(|batch| (0..batch.dim()).map(|d| batch.row(d)));
    let columns: Vec<(String, &[f64])> = finished.subject.columns().into_iter().zip(rows).collect();
    for mut elements in grouped(&columns) {
        let lengths = match elements.rows_and_columns() {
            Some(lengths) => lengths.to_vec(),
            None if elements.members.len() > 1 => vec![elements.members.len()],
            None => Vec::new(),
        };
        let members: Vec<&[f64]> = elements.members.iter().map(|(_, values)| *values).collect();
        add_variable(&mut group, &elements.name, &members, &lengths);
    }
    Ok(group)
}

fn group(name: &str, draws: usize) -> Group {
    Group {
        name: name.to_owned(),
        attributes: Vec::new(),
        dimensions: vec![Dimension::counted("chain", 1), Dimension::counted("draw", draws)],
        variables: Vec::new(),
    }
}

/// Groups the columns `theta[1]`, `theta[2]`, ... into one variable `theta`.
fn grouped<'c>(columns: &[(String, &'c [f64])]) -> Vec<Elements<'c>> {
    let mut groups: Vec<Elements<'c>> = Vec::new();
    for (name, values) in columns {
        let stem = name.split('[').next().unwrap_or(name);
        // Elements of a vector need not be adjacent: the last element of a simplex is separate.
        match groups.iter_mut().find(|group| group.name == stem) {
            Some(group) if name != stem => group.members.push((indices(name), values)),
            _ => {
                let members = vec![(indices(name), *values)];
                groups.push(Elements { name: stem.to_owned(), members });
            }
        }
    }
    groups
}

/// A scalar, or the elements of a vector or a matrix.
struct Elements<'c> {
    name: String,
    /// The indices of each element, from 1, and its values.
    members: Vec<(Vec<usize>, &'c [f64])>,
}

impl Elements<'_> {
    /// Rows and columns of a complete matrix, whose elements are then sorted; otherwise `None`.
    fn rows_and_columns(&mut self) -> Option<[usize; 2]> {
        self.members.sort_by(|a, b| a.0.cmp(&b.0));
        let &[rows, columns] = &self.members.last()?.0[..] else { return None };
        let mut places = (1..=rows).flat_map(|i| (1..=columns).map(move |j| vec![i, j]));
        let is_whole = self.members.len() == rows * columns
            && self.members.iter().all(|(own, _)| places.next().as_ref() == Some(own));
        is_whole.then_some([rows, columns])
    }
}

/// The indices in the name of an element: 1 and 2 in `c[1,2]`.
fn indices(name: &str) -> Vec<usize> {
    let inside = name.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
    inside.map_or(Vec::new(), |inside| {
        inside.split(',').filter_map(|index| index.trim().parse().ok()).collect()
    })
}

/// Adds a variable over chains, draws and its elements, which have one dimension for each length.
fn add_variable(group: &mut Group, name: &str, members: &[&[f64]], lengths: &[usize]) {
    let mut dimensions = vec!["chain".to_owned(), "draw".to_owned()];
    for (i, &length) in lengths.iter().enumerate() {
        let own = format!("{name}_dim_{i}");
        group.dimensions.push(Dimension::counted(&own, length));
        dimensions.push(own);
    }
    let draws = members.first().map_or(0, |member| member.len());
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
    let data = finished.subject.data()?;
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

/// Predicted measurements at the rows of the data.
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

/// The log likelihood of each row of the data, as needed for leave-one-out cross-validation.
fn log_likelihood(finished: &Finished, draws: usize) -> Result<Option<Group>> {
    let Some(terms) = row_terms(finished, draws, 1)? else { return Ok(None) };
    let mut group = group("log_likelihood", terms.draws);
    let all_rows: Vec<i64> = (0..terms.data_rows as i64).collect();
    for term in terms.terms {
        // Rows without a measurement are left out.
        let own: Vec<i64> = term.rows.iter().map(|(row, _)| *row as i64).collect();
        let is_whole = own == all_rows;
        let name = if is_whole { "row".to_owned() } else { format!("{}_row", term.name) };
        if !group.dimensions.iter().any(|known| known.name == name) {
            group.dimensions.push(Dimension::labelled(&name, Values::Integers(own)));
        }
        let at = |i: usize| term.rows.iter().map(move |(_, values)| values[i]);
        group.variables.push(Variable {
            name: term.name.clone(),
            dimensions: vec!["chain".to_owned(), "draw".to_owned(), name],
            values: Values::Numbers((0..terms.draws).flat_map(at).collect()),
            attributes: Vec::new(),
        });
    }
    Ok(Some(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_matrices_are_found() {
        let (one, two) = ([1.0], [2.0]);
        let column = |name: &str, values| (name.to_owned(), values);
        // A correlation matrix has only the elements below the diagonal.
        let columns = [
            column("c[1,1]", &one[..]),
            column("R[2,1]", &one),
            column("c[1,2]", &two),
            column("R[3,1]", &two),
            column("v[1]", &two),
            column("v[2]", &two),
            column("x", &one),
        ];
        let mut groups = grouped(&columns);
        let names: Vec<&str> = groups.iter().map(|group| &group.name[..]).collect();
        assert_eq!(names, ["c", "R", "v", "x"]);
        let shapes: Vec<_> = groups.iter_mut().map(Elements::rows_and_columns).collect();
        assert_eq!(shapes, [Some([1, 2]), None, None, None]);
        assert_eq!(groups[0].members[1].1, [2.0]);
    }
}
