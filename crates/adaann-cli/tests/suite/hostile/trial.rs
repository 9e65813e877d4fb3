//! One trial: a folder, a call in it, and its faults.

use super::{ended, faults, faults::Fault, place};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// A trial that can be repeated, described and judged.
pub(crate) struct Outcome {
    /// The part and number, as `ADAANN_HOSTILE_ONLY` takes them.
    pub(crate) name: String,
    pub(crate) call: String,
    pub(crate) faults: Vec<(Fault, String)>,
    pub(crate) stderr: String,
    pub(crate) was_asked: bool,
    pub(crate) code: Option<i32>,
}

impl Outcome {
    /// Prints the faults, and how to repeat the trial.
    pub(crate) fn tell(&self) {
        let faults: String =
            self.faults.iter().map(|(fault, what)| format!("  {fault}: {what}\n")).collect();
        let said: String = self.stderr.chars().take(600).collect();
        let said = said.trim_end().replace('\n', "\n  ");
        println!("\nADAANN_HOSTILE_ONLY={}: adaann {}\n{faults}  {said}", self.name, self.call);
    }
}

pub(crate) struct Trial<'a> {
    pub(crate) binary: &'a str,
    pub(crate) name: String,
    /// The folder of this trial; the call runs in its subfolder `here`.
    pub(crate) folder: PathBuf,
}

impl Trial<'_> {
    pub(crate) fn here(&self) -> PathBuf {
        self.folder.join("here")
    }

    /// Runs the call, judges it and removes the folder.
    pub(crate) fn call(&self, words: &[OsString], may_be_long: bool) -> Outcome {
        let here = self.here();
        let before = place::looks(&self.folder);
        let devices = devices();
        let ended = ended::call(self.binary, &here, words, may_be_long);
        let mut faults = faults::of_end(&ended);
        faults.extend(faults::of_files(&here, words, &ended, &before, &place::looks(&self.folder)));
        if devices != self::devices() {
            faults.push((Fault::LeftBehind, "in /dev".to_owned()));
        }
        place::clear(&self.folder);
        let call = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
        Outcome {
            name: self.name.clone(),
            call,
            faults,
            stderr: ended.stderr,
            was_asked: ended.was_asked,
            code: ended.code,
        }
    }
}

/// The names in `/dev`, which no call may change.
fn devices() -> Vec<OsString> {
    let entries = fs::read_dir(Path::new("/dev")).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

/// Quotes a word for a shell; a very long one is truncated.
fn quoted(word: &OsString) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    match text.chars().count() {
        1..200 if text.chars().all(is_plain) => text.into_owned(),
        0..200 => format!("{:?}", word),
        length => format!("{:?}...({length})", text.chars().take(20).collect::<String>()),
    }
}
