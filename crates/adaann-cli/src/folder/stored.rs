//! Reads the files of a run folder, and refuses changed ones.

use crate::{
    folder::{csv, index::Index},
    text::failure::usage,
};
use adaann::{registry::Table, support::file};
use anyhow::{Context, Result};
use std::{
    fs::{self, DirEntry, File},
    io::BufReader,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A run folder opened for reading.
#[derive(Debug)]
pub(crate) struct Stored {
    folder: PathBuf,
    /// `None` for older folders, and for one that is being written.
    index: Option<Index>,
}

impl Stored {
    /// The file that identifies a run folder.
    pub(crate) const MARK: &str = "run.toml";

    /// The folder of checkpoints.
    pub(crate) const STATE: &str = "state";

    /// Files of every run that has an answer.
    const ANSWER: [&str; 2] = ["summary.json", "draws.csv"];

    /// Opens a run folder and reads its index.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        if !folder.join(Self::MARK).is_file() {
            return Err(usage(format!(
                "{} is not a run folder: it has no {}",
                folder.display(),
                Self::MARK
            )));
        }
        Ok(Self { folder: folder.to_owned(), index: Index::read(folder)? })
    }

    /// Does a folder have files that only a run with an answer writes? Other files may be missing.
    pub(crate) fn was_finished(folder: &Path) -> bool {
        Self::ANSWER.iter().any(|name| folder.join(name).exists())
    }

    /// The path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its index, if it has one.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// The path of a file, which must exist unchanged.
    pub(crate) fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        // The settings exist from the start of a run.
        let is_of_answer =
            ![Self::MARK, "model.toml", "data.csv"].contains(&name) && !name.starts_with("input-");
        if is_of_answer && !self.has_answer() {
            return Err(self.unfinished());
        }
        if !path.is_file() {
            return Err(usage(format!(
                "{} is missing: the run folder is incomplete",
                path.display()
            )));
        }
        self.index.iter().try_for_each(|index| index.check(&self.folder, name))?;
        Ok(path)
    }

    /// Is there an answer, possibly that of a stopped run?
    pub(crate) fn has_answer(&self) -> bool {
        Self::was_finished(&self.folder)
    }

    /// Is there a final answer?
    pub(crate) fn has_come_to_its_end(&self) -> bool {
        self.has_answer() && !self.folder.join(Self::STATE).exists()
    }

    /// Was a stopped run resumed, so that its checkpoints are newer than its answer?
    pub(crate) fn has_gone_on(&self) -> bool {
        let written = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        let checkpoints = newest(&self.folder.join(Self::STATE), 1);
        let answer = self.folder.join(Self::ANSWER[0]);
        let stopped = || {
            let text = self.text(Self::ANSWER[0]).ok()?;
            serde_json::from_str::<serde_json::Value>(&text).ok()?.get("stopped")?.as_bool()
        };
        checkpoints.zip(written(&answer)).is_some_and(|(newer, answer)| newer > answer)
            && stopped() == Some(true)
    }

    /// The error for a run without an answer.
    pub(crate) fn unfinished(&self) -> anyhow::Error {
        let folder = self.folder.display();
        usage(format!(
            "the run in {folder} is unfinished, running or killed: `adaann resume {folder}` resumes it, and \
             `adaann report {folder}` shows its last checkpoint"
        ))
    }

    /// The text of a file.
    pub(crate) fn text(&self, name: &str) -> Result<String> {
        let path = self.file(name)?;
        String::from_utf8(file::read(&path)?)
            .map_err(|_| usage(format!("{} is not UTF-8 text", path.display())))
    }

    /// A table of numbers.
    pub(crate) fn table(&self, name: &str) -> Result<Table> {
        csv::table(&self.folder.join(name).display().to_string(), &self.text(name)?)
    }

    /// Columns of a table, by name. Reads line by line, since the text may not fit into memory.
    pub(crate) fn columns(&self, name: &str, names: &[&str]) -> Result<Vec<Vec<f64>>> {
        let path = self.file(name)?;
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        csv::columns(&path.display().to_string(), BufReader::new(file), names)
    }
}

/// The time of the newest file below a folder, down to this depth.
fn newest(folder: &Path, depth: usize) -> Option<SystemTime> {
    let written = |entry: DirEntry| match entry.file_type().ok()?.is_dir() {
        true if depth > 0 => newest(&entry.path(), depth - 1),
        true => None,
        false => entry.metadata().ok()?.modified().ok(),
    };
    fs::read_dir(folder).ok()?.flatten().filter_map(written).max()
}
