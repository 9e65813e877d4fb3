//! `adaann resume`: resumes an unfinished run from its folder, or extends a finished one.

use crate::{
    args::{CHECKPOINT, OutputArgs, ResumeArgs},
    commands::{
        lengthen::{self, More},
        smc,
    },
    folder::{
        self,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::{Job, threads},
    text::failure::usage,
};
use adaann::model::Output;
use anyhow::Result;
use std::process::ExitCode;

/// Resumes or extends a run.
pub(crate) fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    let ResumeArgs { run, .. } = args;
    threads::check(args.threads)?;
    let stored = Stored::open(run)?;
    let more = More::of(args)?;
    match more {
        Some(_) => lengthen::check(&stored)?,
        None if !folder::is_unfinished(run) => {
            let run = run.display();
            return Err(usage(format!(
                "the run in {run} is finished, so there is nothing to resume; --more-updates, \
                 --more-draws or --more-particles extend it"
            )));
        }
        None => {}
    }
    if let Some(code) = smc::resume(args, more, &stored)? {
        return Ok(code);
    }
    let job = match more {
        Some(more) => lengthen::job(more, args, &stored)?,
        None => {
            let record = Record::read(&stored)?;
            let programs = Programs::new(args.allow_command);
            let subject = Subject::read(&record.source(), &stored, programs)?;
            Job::new(record, subject)
        }
    };
    job.subject.start()?;
    let output = OutputArgs {
        threads: args.threads,
        out: Some(run.clone()),
        checkpoint: args.checkpoint.unwrap_or(CHECKPOINT),
        quiet: args.quiet,
        json: args.json,
        ..Output::default().into()
    };
    job.run_and_write(&output)
}
