//! `adaann density`: log p and log q of a finished run at the user's points.

use crate::{
    args::DensityArgs,
    folder::{
        csv, evaluate,
        out::{self, Out},
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::interrupt,
};
use adaann::approximation::Approximation;
use anyhow::Result;
use std::{io::Write, process::ExitCode};

/// Evaluates the points of a file.
pub(crate) fn density(args: &DensityArgs) -> Result<ExitCode> {
    let out = args.out.as_ref().map(|out| Out::new("--out", out, args.force)).transpose()?;
    let stored = Stored::open(&args.run)?;
    let record = Record::read(&stored)?;
    let subject = Subject::read(&record.source(), &stored, Programs::new(args.allow_command))?;
    let target = &*subject.problem.target;
    let flow = record.flow(&stored, target.dim())?;
    let approximation = Approximation::new(target, flow)?;
    let file = args.points.display().to_string();
    let text = csv::text(&args.points, "points")?;
    let points = csv::points(&file, &text, &target.names())?;
    subject.announce()?;
    interrupt::end_when_asked()?;
    let log_p = evaluate::log_p(&approximation, &points)?;
    let log_q = evaluate::log_q(&approximation, &points)?;
    let known: [(&str, &[f64]); 2] = [("log_p", &log_p), ("log_q", &log_q)];
    let fill = |out: &mut dyn Write| csv::draws(out, &target.names(), &points, None, &known);
    match &out {
        Some(out) => out.write_with(fill)?,
        None => out::print(fill)?,
    }
    Ok(ExitCode::SUCCESS)
}
