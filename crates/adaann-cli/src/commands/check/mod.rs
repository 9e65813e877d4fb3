//! `adaann check`: prints a model as formulas and checks whether it can be fitted.

mod findings;
mod posterior;

use crate::{
    args::CheckArgs,
    folder::{
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::{interrupt, threads::pool_of_run},
    text::{failure::usage, style::Style},
};
use adaann::{
    model::{Model, Notation},
    support::visible,
};
use anyhow::Result;
use findings::Findings;
use std::{
    fmt::Write as _,
    io::{Write, stdout},
    path::Path,
    process::ExitCode,
};

/// Reads a model and checks its density.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let subject = read(args)?;
    let model = subject.model.as_ref().ok_or_else(|| {
        usage(format!(
            "{} is not a run of a model file, so there is nothing to check",
            args.model.display()
        ))
    })?;
    let style = Style::detect();
    let mut text = String::new();
    if let Some(title) = model.title() {
        writeln!(text, "{}", style.bold(&visible::line(title)))?;
    }
    let notation = if args.latex { Notation::Latex } else { Notation::Plain };
    for line in model.mathematics(notation) {
        writeln!(text, "  {line}")?;
    }
    stdout().write_all(text.as_bytes())?;
    stdout().flush()?;
    interrupt::end_when_asked()?;
    let pool = pool_of_run(0)?;
    let findings = pool.install(|| Findings::new(model, &*subject.problem.target))?;
    stdout().write_all(findings.text(model, style).as_bytes())?;
    Ok(if findings.is_wrong() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads a model file, or that of a run folder, whose program is started only with `--allow-command`.
fn read(args: &CheckArgs) -> Result<Subject> {
    let path = &args.model;
    let run = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new("")) };
    if !run.join(Record::FILE).is_file() {
        return Ok(Subject::of_model(Model::read_with_data(path, args.data.as_deref())?));
    }
    let programs = Programs::new(args.allow_command);
    let subject = match (path.is_dir(), &args.data) {
        (true, None) => {
            let stored = Stored::open(run)?;
            Subject::read(&Record::read(&stored)?.source(), &stored, programs)?
        }
        (true, Some(_)) => {
            return Err(usage("--data applies to a model file; a run folder has its own data"));
        }
        (false, data) => {
            Subject::of_model_in_a_run(Model::read_with_data(path, data.as_deref())?, programs)
        }
    };
    subject.announce();
    Ok(subject)
}
