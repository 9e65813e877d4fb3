//! Results on disk: a journal for each run, in a folder that is locked against other processes.

use crate::{Error, Result, experiments::Run, trial::Trial};
use adaann::tasks::{self, Lock};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The trials of a run, one line of JSON each.
pub(crate) type Journal = tasks::Journal<Lines>;

/// Formats a trial as a line of JSON.
#[derive(Debug)]
pub(crate) struct Lines;

impl tasks::Format for Lines {
    type Entry = Trial;

    fn line(&self, trial: &Trial) -> String {
        serde_json::to_string(trial).expect("plain data")
    }

    fn entry(&self, line: &str) -> Option<Trial> {
        serde_json::from_str(line).ok()
    }
}

/// The journals of a campaign.
#[derive(Debug)]
pub(crate) struct Journals {
    folder: PathBuf,
    _lock: Lock,
}

impl Journals {
    /// Locks the folder of the journals, and creates it if necessary.
    ///
    /// # Errors
    /// If it cannot be created, or another process uses it.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.join("journal");
        fs::create_dir_all(&folder)
            .map_err(|cause| Error::Create { path: folder.display().to_string(), cause })?;
        let lock = Lock::take(&folder.join("lock"))?;
        Ok(Self { folder, _lock: lock })
    }

    /// The folder, which also contains the saved flows.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The journal of a run.
    pub(crate) fn of(&self, run: &Run) -> Result<Journal> {
        Ok(Journal::open(&self.folder.join(format!("{}.jsonl", run.id)), Lines)?)
    }
}
