//! `adaann density`: log p and log q of a run at the user's points.

use crate::{
    args::DensityArgs,
    commands::opened,
    folder::{
        csv,
        drawn::Whose,
        evaluate,
        out::{self, Out},
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
        summary::Summary,
    },
    job::interrupt,
};
use adaann::{approximation::Approximation, flow::Flow};
use anyhow::Result;
use std::{io::Write, process::ExitCode};

/// Evaluates log p and log q at the points of a file.
pub(crate) fn density(args: &DensityArgs) -> Result<ExitCode> {
    let out = args.out.as_ref().map(|out| Out::new("--out", out, args.force)).transpose()?;
    interrupt::end_when_asked()?;
    let (subject, flow) = found(args)?;
    let target = &*subject.problem.target;
    let approximation = Approximation::new(target, flow)?;
    let file = args.points.display().to_string();
    let text = csv::text(&args.points, "points")?;
    let points = csv::points(&file, &text, &target.names())?;
    subject.announce();
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

/// The subject of the run and its flow. Reads nothing else of a finished run.
fn found(args: &DensityArgs) -> Result<(Subject, Flow)> {
    let (stored, programs) = (Stored::open(&args.run)?, Programs::new(args.allow_command));
    if stored.has_answer() && !stored.has_gone_on() {
        let record = Record::read(&stored)?;
        let subject = Subject::read(&record.source(), &stored, programs)?;
        let mark = Summary::read(&stored).ok().and_then(|summary| summary.mark());
        opened::warn(&args.run, mark.as_deref());
        let flow = record.flow(&stored, subject.problem.target.dim())?;
        return Ok((subject, flow));
    }
    let finished = opened::open(&args.run, Whose::Target, programs)?;
    opened::warn(&args.run, finished.summary.mark().as_deref());
    Ok((finished.subject, finished.flow))
}
