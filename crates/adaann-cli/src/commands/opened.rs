//! Opens the run of a folder for display: as it ended, or at its last checkpoint.

use crate::{
    commands::smc,
    folder::{
        drawn::Whose,
        finished::Finished,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::Job,
    text::said::say,
};
use anyhow::Result;
use std::path::Path;

/// Reads a run, finished or not.
pub(crate) fn open(run: &Path, whose: Whose, programs: Programs) -> Result<Finished> {
    let stored = Stored::open(run)?;
    if stored.has_answer() && !stored.has_gone_on() {
        return Finished::read(run, whose, programs);
    }
    let looked = look(&stored, whose, programs);
    // The run may have finished in between, or this is an older answer that a new run will replace.
    if looked.is_err() && stored.has_answer() {
        return Finished::read(run, whose, programs);
    }
    looked
}

/// The run at its last checkpoint.
pub(crate) fn look(stored: &Stored, whose: Whose, programs: Programs) -> Result<Finished> {
    if let Some(finished) = smc::look(stored, whose, programs)? {
        return Ok(finished);
    }
    let record = Record::read(stored)?;
    let subject = Subject::read(&record.source(), stored, programs)?;
    Job::new(record, subject).look(stored.folder(), whose)
}

/// Warns on standard error about an unfinished run.
pub(crate) fn warn(run: &Path, mark: Option<&str>) {
    if let Some(mark) = mark {
        say(&format!("warning: do not trust the run in {} ({mark})", run.display()));
    }
}
