//! `adaann density`: log p and log q of a finished run at the user's points.

use crate::{
    args::DensityArgs,
    commands::check_out,
    folder::{
        csv,
        evaluate::{Densities, evaluate},
        record::Record,
        subject::Subject,
    },
};
use adaann::approximation::Approximation;
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Evaluates the points of a file.
pub(crate) fn density(args: &DensityArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    let record = Record::read(&args.run)?;
    let subject = Subject::read(&record, &args.run)?;
    let target = &*subject.problem.target;
    let flow = record.flow(&args.run, target.dim())?;
    let approximation = Approximation::new(target, flow)?;
    let file = args.points.display().to_string();
    let text = csv::text(&args.points, "points")?;
    let points = csv::points(&file, &text, &target.names())?;
    let Densities { log_p, log_q } = evaluate(&approximation, target, &points)?;
    let known: [(&str, &[f64]); 2] = [("log_p", &log_p), ("log_q", &log_q)];
    let table = csv::draws(&target.names(), &points, None, &known);
    match &args.out {
        Some(path) => adaann::support::file::write(path, table.as_bytes())?,
        None => stdout().write_all(table.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
