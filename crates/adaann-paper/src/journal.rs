//! Results on disk, one line a trial, so that a killed run goes on where it stopped.

use crate::{experiments::Run, trial::Trial};
use anyhow::{Context, Result, bail};
use std::{
    fs::{self, File, OpenOptions},
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
        if lock.try_lock().is_err() {
            bail!(
                "another process is at work in {}; wait for it, or choose another folder by --out",
                folder.display()
            );
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

    /// The trials of a run so far. A line cut short by a kill or a full disk is removed.
    pub(crate) fn read(&self, run: &Run) -> Result<Vec<Trial>> {
        let path = self.file(run);
        let place = || path.display().to_string();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.with_context(place)?,
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            let file = OpenOptions::new().write(true).open(&path).with_context(place)?;
            file.set_len(whole as u64).with_context(place)?;
        }
        let parse = |(number, line): (usize, &str)| {
            serde_json::from_str(line).with_context(|| {
                format!(
                    "{} line {}: not a trial; delete the file to run it again",
                    place(),
                    number + 1
                )
            })
        };
        text[..whole].lines().enumerate().map(parse).collect()
    }

    /// Adds a trial.
    pub(crate) fn append(&self, run: &Run, trial: &Trial) -> Result<()> {
        let path = self.file(run);
        let mut line = serde_json::to_vec(trial)?;
        line.push(b'\n');
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
            file.write_all(&line)?;
            file.sync_data()
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
        Ok(adaann::file::write(&self.file(run), &text)?)
    }
}
