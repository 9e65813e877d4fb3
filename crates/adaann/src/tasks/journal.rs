//! A journal of finished tasks on disk, one line each, so that work can resume.

use crate::{Error, Result, file};
use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// The text format of entries.
pub trait Format {
    /// A finished task.
    type Entry;

    /// The first line of the file, if the format has a header.
    fn header(&self) -> Option<String> {
        None
    }

    /// An entry as one line, without the line end.
    fn line(&self, entry: &Self::Entry) -> String;

    /// Reads a line; none if it is not an entry, or if its fingerprint belongs to other settings.
    fn entry(&self, line: &str) -> Option<Self::Entry>;
}

/// A file of entries to which lines are appended. Only opening it removes lines, those that are not
/// entries.
///
/// A line cut off by a kill, a full disk or a power cut is not an entry: its task is done again.
#[derive(Debug)]
pub struct Journal<F: Format> {
    path: PathBuf,
    format: F,
    entries: Vec<F::Entry>,
    strange: usize,
    /// Can lines be appended to the file in its current state?
    is_settled: bool,
}

impl<F: Format> Journal<F> {
    /// Reads the journal at this path without writing anything. Only the holder of a
    /// [`Lock`](super::Lock) may call it.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn open(path: &Path, format: F) -> Result<Self> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(Error::Io { path: path.display().to_string(), cause }),
            Ok(bytes) => bytes,
        };
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        let header = format.header();
        // Under another header the same line may have another meaning.
        let is_own =
            header.is_none() || lines.next().is_none_or(|line| Some(line) == header.as_deref());
        let (mut entries, mut strange) = (Vec::new(), 0);
        for line in lines {
            match format.entry(line).filter(|_| is_own) {
                Some(entry) => entries.push(entry),
                None => strange += 1,
            }
        }
        let is_whole = text.is_empty() || text.ends_with('\n');
        let has_header = header.is_none() || !entries.is_empty();
        let is_settled = strange == 0 && is_whole && has_header;
        Ok(Self { path: path.to_owned(), format, entries, strange, is_settled })
    }

    /// The entries, in the order in which they were added.
    pub fn entries(&self) -> &[F::Entry] {
        &self.entries
    }

    /// The format of the entries.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// The number of complete lines in the file that are not entries.
    pub fn strange(&self) -> usize {
        self.strange
    }

    /// Drops the entries for which `is_kept` is false.
    pub fn retain(&mut self, is_kept: impl FnMut(&F::Entry) -> bool) {
        let before = self.entries.len();
        self.entries.retain(is_kept);
        self.is_settled &= self.entries.len() == before;
    }

    /// Prepares the file for appending: writes its header, and removes lines that are not entries.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        if self.is_settled { Ok(()) } else { self.rewrite() }
    }

    /// Appends an entry and syncs it to disk.
    ///
    /// # Errors
    /// If it cannot be written; the file is then unchanged.
    pub fn append(&mut self, entry: F::Entry) -> Result<()> {
        self.settle()?;
        let line = self.format.line(&entry) + "\n";
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
            let before = file.metadata()?.len();
            let outcome = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            if outcome.is_err() {
                // Half a line would spoil the next one. The first error is the one to report.
                let _ = file.set_len(before);
            }
            outcome
        };
        write().map_err(|cause| Error::Io { path: self.path.display().to_string(), cause })?;
        self.entries.push(entry);
        Ok(())
    }

    /// Rewrites all entries in the order of a key, atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&F::Entry) -> K) -> Result<()> {
        self.entries.sort_by_key(key);
        self.rewrite()
    }

    fn rewrite(&mut self) -> Result<()> {
        let lines = self.entries.iter().map(|entry| self.format.line(entry));
        let mut text = String::new();
        for line in self.format.header().into_iter().chain(lines) {
            text += &line;
            text.push('\n');
        }
        file::write(&self.path, text.as_bytes())?;
        (self.strange, self.is_settled) = (0, true);
        Ok(())
    }
}
