//! `trials.csv`: a line for each trial, from which a calibration goes on where it was.

use crate::{folder::csv, text::failure::usage};
use adaann::{Instructions, Settings, calibrate::Trial, model::Model};
use anyhow::{Context, Result, bail};
use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

/// Name of the file.
const FILE: &str = "trials.csv";

/// Name of the file that is held while a process is at work in the folder.
const LOCK: &str = ".lock";

/// A trial that is done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) number: usize,
    /// What it found, or why it failed, in one line.
    pub(super) outcome: Result<Trial, String>,
}

/// The trials of a folder, which no other process changes meanwhile.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    header: String,
    /// How many ranks a trial has, and the largest they can be.
    ranked: usize,
    draws: usize,
    pub(super) fingerprint: String,
    /// Trials of this model with these settings, by number.
    pub(super) entries: Vec<Entry>,
    /// Lines that are of something else.
    strange: usize,
    /// Is the end of the file cut off?
    torn: bool,
    _lock: File,
}

impl Journal {
    /// Opens the journal of a folder, which is created if need be.
    pub(super) fn open(
        folder: &Path,
        names: &[String],
        draws: usize,
        fingerprint: String,
    ) -> Result<Self> {
        let path = folder.join(FILE);
        let is_foreign = || folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if folder.exists() && !path.is_file() && !folder.join(LOCK).is_file() && is_foreign() {
            return Err(usage(format!(
                "the folder {} exists and has no {FILE}, so it is none of a calibration; --out \
                 writes to another",
                folder.display()
            )));
        }
        fs::create_dir_all(folder)
            .map_err(|error| usage(format!("cannot create {}: {error}", folder.display())))?;
        let lock = folder.join(LOCK);
        let lock = File::create(&lock).with_context(|| lock.display().to_string())?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => bail!(
                "another process is at work in {}; wait for it, or choose another folder by --out",
                folder.display()
            ),
            // A file system without locks is no reason to stop.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let quoted: Vec<String> = names.iter().map(|name| csv::quoted(name)).collect();
        let header = format!("trial,fingerprint,k_hat,ess_share,{},failure", quoted.join(","));
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            bytes => String::from_utf8_lossy(&bytes.with_context(|| path.display().to_string())?)
                .into_owned(),
        };
        let (entries, ranked, _lock) = (Vec::new(), names.len(), lock);
        let (strange, torn) = (0, !text.is_empty() && !text.ends_with('\n'));
        let mut journal =
            Self { path, header, ranked, draws, fingerprint, entries, strange, torn, _lock };
        journal.take(&text);
        Ok(journal)
    }

    /// Reads the lines of a file, the last of which may have been cut off by a kill.
    fn take(&mut self, text: &str) {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        let is_own = lines.next().is_none_or(|header| header == self.header);
        for line in lines {
            match self.entry(line).filter(|_| is_own) {
                Some(entry) => self.entries.push(entry),
                None => self.strange += 1,
            }
        }
        self.entries.sort_by_key(|entry| entry.number);
        self.entries.dedup_by_key(|entry| entry.number);
    }

    /// Reads a line; none if it is no trial of this model with these settings.
    fn entry(&self, line: &str) -> Option<Entry> {
        let mut fields = line.splitn(self.ranked + 5, ',');
        let number = fields.next()?.parse().ok()?;
        if fields.next()? != self.fingerprint {
            return None;
        }
        let measured: Vec<&str> = fields.by_ref().take(2 + self.ranked).collect();
        let failure = fields.next()?;
        let outcome = if failure.is_empty() {
            let ranks: Option<Vec<usize>> =
                measured.iter().skip(2).map(|field| field.parse().ok()).collect();
            let ranks = ranks.filter(|ranks| ranks.iter().all(|&rank| rank <= self.draws))?;
            let (k_hat, ess_share) = (measured[0].parse().ok()?, measured[1].parse().ok()?);
            Ok(Trial { ranks, k_hat, ess_share })
        } else {
            let inner = failure.strip_prefix('"')?.strip_suffix('"')?;
            Err(inner.replace("\"\"", "\""))
        };
        Some(Entry { number, outcome })
    }

    /// Makes the file one that can be added to. Lines of other settings are refused, or left out if
    /// `force`.
    pub(super) fn settle(&mut self, force: bool) -> Result<()> {
        if self.strange > 0 && !force {
            return Err(usage(format!(
                "{} has {} trials of another model, data, settings, seed or machine; --force \
                 drops them, --out writes to another folder",
                self.path.display(),
                self.strange
            )));
        }
        if self.strange > 0 || self.torn || self.entries.is_empty() {
            self.rewrite()?;
        }
        Ok(())
    }

    /// Adds a trial. One that is half written would spoil the next.
    pub(super) fn append(&mut self, entry: Entry) -> Result<()> {
        let line = self.line(&entry);
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().append(true).open(&self.path)?;
            let before = file.metadata()?.len();
            let outcome = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            if outcome.is_err() {
                // The first error is the one to report.
                let _ = file.set_len(before);
            }
            outcome
        };
        write().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes all trials in their order.
    pub(super) fn rewrite(&mut self) -> Result<()> {
        self.entries.sort_by_key(|entry| entry.number);
        let mut text = format!("{}\n", self.header);
        self.entries.iter().for_each(|entry| text += &self.line(entry));
        Ok(adaann::support::file::write(&self.path, text.as_bytes())?)
    }

    fn line(&self, Entry { number, outcome }: &Entry) -> String {
        let mut line = format!("{number},{},", self.fingerprint);
        match outcome {
            Ok(Trial { ranks, k_hat, ess_share, .. }) => {
                write!(line, "{k_hat:?},{ess_share:?},").expect("strings grow");
                ranks.iter().for_each(|rank| write!(line, "{rank},").expect("strings grow"));
            }
            Err(failure) => {
                line += &",".repeat(2 + self.ranked);
                write!(line, "\"{}\"", failure.replace('"', "\"\"")).expect("strings grow");
            }
        }
        line + "\n"
    }
}

/// What the trials of a folder have in common: with another one, they are others.
pub(super) fn fingerprint(model: &Model, settings: &Settings, draws: usize, seed: u64) -> String {
    let told = format!(
        "{} {} {draws} {seed} {settings:?} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        Instructions::current(),
        model.data().map(|data| (data.names, data.rows)),
        model.text()
    );
    // Fowler, Noll and Vo's hash: the same on every machine and in every version of Rust.
    let hash = told.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, fingerprint: &str) -> Result<Journal> {
        Journal::open(folder, &["a".into(), "log_p".into()], 9, fingerprint.into())
    }

    fn done(number: usize) -> Entry {
        let trial = Trial { ranks: vec![number, 9], k_hat: f64::INFINITY, ess_share: 0.25 };
        Entry { number, outcome: Ok(trial) }
    }

    #[test]
    fn trials_come_back_and_a_torn_line_does_not() {
        let place = tempfile::tempdir().unwrap();
        let failed = Entry { number: 3, outcome: Err("no \"end\", alas".into()) };
        let mut journal = open(place.path(), "f").unwrap();
        journal.settle(false).unwrap();
        for entry in [failed.clone(), done(1)] {
            journal.append(entry).unwrap();
        }
        drop(journal);
        let path = place.path().join(FILE);
        let mut text = fs::read_to_string(&path).unwrap();
        text += "2,f,0.1,0.2,1";
        fs::write(&path, text).unwrap();
        let mut journal = open(place.path(), "f").unwrap();
        assert_eq!(journal.entries, [done(1), failed.clone()]);
        journal.settle(false).unwrap();
        journal.append(done(2)).unwrap();
        drop(journal);
        assert_eq!(open(place.path(), "f").unwrap().entries, [done(1), done(2), failed]);
    }

    #[test]
    fn other_settings_are_not_mixed_in() {
        let place = tempfile::tempdir().unwrap();
        let mut journal = open(place.path(), "f").unwrap();
        journal.settle(false).unwrap();
        journal.append(done(1)).unwrap();
        assert!(open(place.path(), "f").is_err(), "two processes at once");
        drop(journal);
        let mut other = open(place.path(), "g").unwrap();
        let said = other.settle(false).unwrap_err().to_string();
        assert!(said.contains("1 trials of another model") && said.contains("--force"), "{said}");
        other.settle(true).unwrap();
        drop(other);
        assert!(open(place.path(), "f").unwrap().entries.is_empty());
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("thesis.tex"), "").unwrap();
        let said = open(place.path(), "f").unwrap_err().to_string();
        assert!(said.contains("none of a calibration"), "{said}");
        assert!(!place.path().join(LOCK).exists());
    }
}
