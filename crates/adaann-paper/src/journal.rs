//! Results on disk, one line a trial, so that a killed run goes on where it stopped.

use crate::{experiments::Run, trial::Trial};
use anyhow::{Context, Result, bail};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::Write,
    path::{Path, PathBuf},
};

/// The journal of a folder, locked against other processes.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    /// Held until the journal is dropped.
    _lock: File,
}

impl Journal {
    /// Opens the journal of a folder, which is created if need be.
    ///
    /// # Errors
    /// If it cannot be created, or another process is at work there.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.join("journal");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let path = folder.join("lock");
        let lock = File::create(&path).with_context(|| path.display().to_string())?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => bail!(
                "another process is at work in {}; wait for it, or choose another folder by --out",
                folder.display()
            ),
            // A file system without locks is no reason to stop.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        Ok(Self { folder, _lock: lock })
    }

    /// Where the flows of trials that are shown are kept.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, run: &Run) -> PathBuf {
        self.folder.join(format!("{}.jsonl", run.id))
    }

    /// The trials of a run so far, and how many lines are none: cut short by a kill, a full disk or a
    /// power cut. Those trials are run again.
    pub(crate) fn read(&self, run: &Run) -> Result<(Vec<Trial>, usize)> {
        let path = self.file(run);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Vec::new(), 0));
            }
            bytes => bytes.with_context(|| path.display().to_string())?,
        };
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).collect();
        let trials: Vec<Trial> =
            lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let broken = lines.len() - trials.len();
        Ok((trials, broken))
    }

    /// Adds a trial.
    pub(crate) fn append(&self, run: &Run, trial: &Trial) -> Result<()> {
        let path = self.file(run);
        let mut line = serde_json::to_vec(trial)?;
        line.push(b'\n');
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
            let before = file.metadata()?.len();
            let outcome = file.write_all(&line).and_then(|()| file.sync_data());
            if outcome.is_err() {
                // Half a line would spoil the next one; the first error is the one to report.
                let _ = file.set_len(before);
            }
            outcome
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Leaves only these trials, because the others are of older settings.
    pub(crate) fn rewrite(&self, run: &Run, trials: &[Trial]) -> Result<()> {
        let mut text = Vec::new();
        for trial in trials {
            serde_json::to_writer(&mut text, trial)?;
            text.push(b'\n');
        }
        Ok(adaann::support::file::write(&self.file(run), &text)?)
    }
}
