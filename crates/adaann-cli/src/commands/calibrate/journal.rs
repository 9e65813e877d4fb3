//! `trials.csv`: a line for each trial, from which a calibration resumes.

use crate::{folder::csv, text::failure::usage};
use adaann::{
    Error, Instructions,
    answer::Plan,
    calibrate::Trial,
    model::Model,
    tasks::{self, Lock},
};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::{fmt::Write, fs, path::Path};

/// Name of the file.
const FILE: &str = "trials.csv";

/// Name of the lock file, held while a process works in the folder.
const LOCK: &str = ".lock";

/// A completed trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(super) number: usize,
    /// The result, or the reason of the failure in one line.
    pub(super) outcome: Result<Trial, String>,
}

impl Entry {
    /// A failed trial.
    pub(super) fn failed(number: usize, error: &Error) -> Self {
        // The file has one line per trial.
        let message = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Self { number, outcome: Err(message) }
    }
}

/// The trials of a folder.
pub(super) type Journal = tasks::Journal<Rows>;

/// The format of the table: one row per trial.
#[derive(Debug)]
pub(super) struct Rows {
    header: String,
    /// The number of ranks of a trial, and the largest possible rank.
    ranked: usize,
    draws: usize,
    pub(super) fingerprint: String,
}

impl Rows {
    /// A format with a rank for each name.
    pub(super) fn new(names: &[String], draws: usize, fingerprint: String) -> Self {
        let quoted: Vec<String> = names.iter().map(|name| csv::quoted(name)).collect();
        let header = format!("trial,fingerprint,k_hat,ess_share,{},failure", quoted.join(","));
        Self { header, ranked: names.len(), draws, fingerprint }
    }
}

impl tasks::Format for Rows {
    type Entry = Entry;

    fn header(&self) -> Option<String> {
        Some(self.header.clone())
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
        line
    }

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
}

/// Locks a folder for this process, and creates it if needed. Refuses folders that are not of a calibration.
pub(super) fn lock(folder: &Path) -> Result<Lock> {
    let is_foreign = || folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    let is_own = folder.join(FILE).is_file() || folder.join(LOCK).is_file();
    if folder.exists() && !is_own && is_foreign() {
        return Err(usage(format!(
            "the folder {} exists but has no {FILE}, so it is not the folder of a calibration; choose another \
             with --out",
            folder.display()
        )));
    }
    fs::create_dir_all(folder)
        .map_err(|error| usage(format!("cannot create {}: {error}", folder.display())))?;
    Ok(Lock::take(&folder.join(LOCK))?)
}

/// Opens the journal of a folder for appending. Trials with other settings are refused, or discarded with
/// `force`.
pub(super) fn open(folder: &Path, rows: Rows, force: bool) -> Result<Journal> {
    let path = folder.join(FILE);
    let mut journal = Journal::open(&path, rows)?;
    if journal.strange() > 0 && !force {
        return Err(usage(format!(
            "{} has {} trials of another model, data, settings, seed or machine; discard them with --force, \
             or choose another folder with --out",
            path.display(),
            journal.strange()
        )));
    }
    journal.settle()?;
    Ok(journal)
}

/// A hash of everything that the trials of a folder share; trials with another one are not comparable.
pub(super) fn fingerprint(model: &Model, fit: &Plan, draws: usize, seed: u64) -> String {
    let told = format!(
        "{} {} {draws} {seed} {fit:?} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        Instructions::current(),
        model.data().map(|data| (data.names, data.rows)),
        model.text()
    );
    format!("{:016x}", tasks::fingerprint(told.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::tasks::Format;

    fn rows(fingerprint: &str) -> Rows {
        Rows::new(&["a".into(), "log_p".into()], 9, fingerprint.into())
    }

    fn done(number: usize) -> Entry {
        let trial = Trial { ranks: vec![number, 9], k_hat: f64::INFINITY, ess_share: 0.25 };
        Entry { number, outcome: Ok(trial) }
    }

    #[test]
    fn rows_come_back() {
        let failed = Entry { number: 3, outcome: Err("no \"end\", alas".into()) };
        for entry in [done(1), failed] {
            let line = rows("f").line(&entry);
            assert_eq!(rows("f").entry(&line), Some(entry));
            assert_eq!(rows("g").entry(&line), None, "of other settings");
        }
        assert_eq!(rows("f").entry("1,f,0.1,0.2,10,3,"), None, "a rank above the draws");
        assert_eq!(rows("f").entry("1,f,0.1,0.2,1"), None);
    }

    #[test]
    fn other_settings_are_not_mixed_in() {
        let place = tempfile::tempdir().unwrap();
        let open = |fingerprint, force| open(place.path(), rows(fingerprint), force);
        open("f", false).unwrap().append(done(1)).unwrap();
        let said = open("g", false).unwrap_err().to_string();
        assert!(said.contains("1 trials of another model") && said.contains("--force"), "{said}");
        assert_eq!(open("f", false).unwrap().entries(), [done(1)]);
        open("g", true).unwrap();
        assert!(open("f", false).unwrap().entries().is_empty());
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("thesis.tex"), "").unwrap();
        let said = lock(place.path()).unwrap_err().to_string();
        assert!(said.contains("not the folder of a calibration"), "{said}");
        assert!(!place.path().join(LOCK).exists());
        let own = place.path().join("own");
        let first = lock(&own).unwrap();
        let said = lock(&own).unwrap_err().to_string();
        assert!(said.contains("is at work in"), "{said}");
        drop(first);
        lock(&own).unwrap();
    }
}
