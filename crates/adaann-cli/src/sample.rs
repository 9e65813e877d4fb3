//! `adaann sample`: more draws of a finished run.

use crate::{
    args::SampleArgs, csv, density::check_out, failure::usage, finished::Finished, job::MOST_DRAWS,
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Draws, and writes a table like `draws.csv`.
pub(crate) fn sample(args: &SampleArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    if !(1..=MOST_DRAWS).contains(&args.count) {
        let range = format!("from 1 to {MOST_DRAWS}");
        return Err(usage(format!("-n is {}, but must be {range}", args.count)));
    }
    let finished = Finished::read(&args.run)?;
    let subject = &finished.subject;
    let sample = finished.approximation()?.sample(args.count, args.seed)?;
    let quantities = subject.quantities(&sample.points)?;
    let table = csv::sample(&subject.columns(), &sample, quantities.as_ref());
    match &args.out {
        Some(path) => adaann::file::write(path, table.as_bytes())?,
        None => stdout().write_all(table.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
