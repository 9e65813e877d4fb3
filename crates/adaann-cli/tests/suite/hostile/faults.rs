//! The faults that a call must never have.

use super::{ended::Ended, place::Look};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, fs,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Panic,
    Abort,
    Hang,
    LeftBehind,
    WrongCode,
}

impl Fault {
    pub(crate) const ALL: [Self; 5] =
        [Self::Panic, Self::Abort, Self::Hang, Self::LeftBehind, Self::WrongCode];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "panics",
            Self::Abort => "aborts",
            Self::Hang => "hangs",
            Self::LeftBehind => "left behind",
            Self::WrongCode => "wrong exit codes",
        })
    }
}

const SIGTERM: i32 = 15;

/// How the process itself ended.
pub(crate) fn of_end(ended: &Ended) -> Vec<(Fault, String)> {
    let mut faults = Vec::new();
    let mut add = |fault, what: String| faults.push((fault, what));
    if ended.stderr.contains("panicked") || ended.code == Some(101) {
        add(Fault::Panic, String::new());
    }
    if ended.hung {
        let when = if ended.was_asked { "after SIGTERM" } else { "from its start" };
        add(Fault::Hang, when.to_owned());
    }
    let is_ours = ended.was_asked && ended.signal == Some(SIGTERM);
    if ended.stderr.contains("memory allocation") || ended.signal.is_some() && !is_ours {
        add(Fault::Abort, format!("signal {:?}", ended.signal));
    }
    if ended.orphans > 0 {
        add(Fault::LeftBehind, format!("{} processes", ended.orphans));
    }
    let Some(code) = ended.code else { return faults };
    let is_refusal_of_clap =
        ["Usage: adaann", "try '--help'"].iter().any(|t| ended.stderr.contains(t));
    if ![0, 1, 2, 3, 101, 130].contains(&code) {
        add(Fault::WrongCode, format!("code {code}"));
    } else if is_refusal_of_clap && code != 2 {
        add(Fault::WrongCode, format!("code {code} for a refusal of flags"));
    } else if code == 130 && !ended.was_asked {
        add(Fault::WrongCode, "code 130, and nobody asked it to end".to_owned());
    } else if [1, 2].contains(&code) && ended.is_silent {
        add(Fault::WrongCode, format!("code {code} without a word"));
    }
    faults
}

/// Files that a call has created or changed.
pub(crate) fn of_files(
    here: &Path,
    words: &[OsString],
    ended: &Ended,
    before: &BTreeMap<PathBuf, Look>,
    after: &BTreeMap<PathBuf, Look>,
) -> Vec<(Fault, String)> {
    // A killed process cannot clean up.
    let Some(code) = ended.code else { return Vec::new() };
    let meant = meant(here, words);
    let forces = words.iter().any(|word| word == "--force");
    let command = words.first().map(|word| word.to_string_lossy().into_owned());
    let is_writer = matches!(
        command.as_deref(),
        Some(
            "report"
                | "export"
                | "predict"
                | "resume"
                | "calibrate"
                | "paper"
                | "run"
                | "fit"
                | "smc"
        )
    );
    let mut faults = Vec::new();
    for (path, look) in after {
        let name = path.strip_prefix(here).unwrap_or(path).display().to_string();
        let is_hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        let is_meant = code != 2 && meant.iter().any(|prefix| is_below(path, prefix));
        let what = match before.get(path) {
            // Calibrations keep their lock file.
            None if is_hidden && !meant.contains(path) && !path.ends_with(".lock") => "hidden",
            None if !is_meant => "new",
            Some(old) if old != look && !is_meant => "changed",
            Some(old) if old != look && !forces && !is_writer => "replaced without --force",
            _ => continue,
        };
        faults.push((Fault::LeftBehind, format!("{what}, code {code}: {name}")));
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        if code == 2 || !meant.iter().any(|prefix| is_below(path, prefix)) || !(forces || is_writer)
        {
            let name = path.strip_prefix(here).unwrap_or(path).display();
            faults.push((Fault::LeftBehind, format!("removed, code {code}: {name}")));
        }
    }
    faults
}

/// Is it below a path, or next to it with another extension, like the figure of a table?
fn is_below(path: &Path, prefix: &Path) -> bool {
    path.starts_with(prefix) || path.with_extension("") == prefix.with_extension("")
}

/// The paths that a call may write: those that its arguments name, and `runs`.
fn meant(here: &Path, words: &[OsString]) -> Vec<PathBuf> {
    // Paths need not be UTF-8.
    let values = words.iter().skip(1).flat_map(|word| {
        let bytes = word.as_bytes();
        let value = bytes.iter().position(|byte| *byte == b'=').map(|at| &bytes[at + 1..]);
        [Some(bytes), value].into_iter().flatten()
    });
    // After `--` even words with dashes are paths.
    let after_dashes = words.iter().skip_while(|word| *word != "--").skip(1);
    let paths = values.filter(|value| !value.is_empty() && !value.starts_with(b"--"));
    let paths = paths.chain(after_dashes.map(|word| word.as_bytes()));
    let mut meant: Vec<PathBuf> =
        paths.map(|value| plain(&here.join(OsStr::from_bytes(value)))).collect();
    // Neither the folder itself nor its parents.
    meant.retain(|path| path.starts_with(here) && path != here);
    // Writing through a link changes its target, not the link.
    let links: Vec<_> = meant.iter().filter_map(|path| fs::read_link(path).ok()).collect();
    meant.extend(links.into_iter().map(|link| plain(&here.join(link))));
    meant.push(here.join("runs"));
    // A campaign may be told to use a folder that exists, such as `..`.
    if words.first().is_some_and(|word| word == "paper") {
        let out = words.iter().skip_while(|word| *word != "--out").nth(1);
        meant.extend(out.map(|out| plain(&here.join(out)).join("journal")));
    }
    if words.first().is_some_and(|word| word == "init") {
        meant.push(here.join("model.toml"));
    }
    meant
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
