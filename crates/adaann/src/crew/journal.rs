//! Finished tasks on disk, one line each, so that work goes on where it stopped.

use crate::{Error, Result, file};
use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// How an entry is a line of text.
pub trait Format {
    /// A finished task.
    type Entry;

    /// The first line of the file, if it has one that is no entry.
    fn header(&self) -> Option<String> {
        None
    }

    /// An entry as one line, without its end.
    fn line(&self, entry: &Self::Entry) -> String;

    /// Reads a line; none if it is no entry, or one of other settings, by its fingerprint.
    fn entry(&self, line: &str) -> Option<Self::Entry>;
}

/// A file of entries that only grows, but for what is of no use when it is opened.
///
/// A line cut off by a kill, a full disk or a power cut is no entry: its task is done again.
#[derive(Debug)]
pub struct Journal<F: Format> {
    path: PathBuf,
    format: F,
    entries: Vec<F::Entry>,
    strange: usize,
    /// Can lines be added to the file as it is?
    is_settled: bool,
}

impl<F: Format> Journal<F> {
    /// Reads the journal at this path; nothing is written yet. Only the holder of a
    /// [`Lock`](super::Lock) may do so.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
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
        // Under another header the same line may mean something else.
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

    /// How entries are written.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// Whole lines of the file that are no entries.
    pub fn strange(&self) -> usize {
        self.strange
    }

    /// Forgets all other entries.
    pub fn retain(&mut self, is_kept: impl FnMut(&F::Entry) -> bool) {
        let before = self.entries.len();
        self.entries.retain(is_kept);
        self.is_settled &= self.entries.len() == before;
    }

    /// Makes the file one that can be added to: with its header, and without what is no entry.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        if self.is_settled { Ok(()) } else { self.rewrite() }
    }

    /// Adds an entry, which is on the disk afterwards.
    ///
    /// # Errors
    /// If it cannot be written; the file then is as before.
    pub fn append(&mut self, entry: F::Entry) -> Result<()> {
        self.settle()?;
        let line = self.format.line(&entry) + "\n";
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
            let before = file.metadata()?.len();
            let outcome = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            if outcome.is_err() {
                // Half a line would spoil the next one; the first error is the one to report.
                let _ = file.set_len(before);
            }
            outcome
        };
        write().map_err(|cause| Error::Io { path: self.path.display().to_string(), cause })?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes all entries in the order of a key, whole or not at all.
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
