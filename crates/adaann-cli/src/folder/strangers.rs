//! Foreign files: files in a run folder that do not belong to the run. They are never deleted.

use crate::folder::{Folder, index::Index};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of foreign files in a message; there may be thousands.
const MOST: usize = 5;

/// The files of runs, for folders whose index is missing or damaged.
const OF_A_RUN: [&str; 14] = [
    "run.toml",
    "summary.json",
    "model.toml",
    "data.csv",
    "draws.csv",
    "schedule.csv",
    "trace.csv",
    "stages.csv",
    "flow.safetensors",
    "flow_at_1.safetensors",
    "final/1.safetensors",
    "report.html",
    "draws.nc",
    "predictions.csv",
];

/// The sorted paths of all foreign files in a folder. If it has an index, these are all unlisted files, hidden
/// ones included, except checkpoints, which an index never lists.
pub(super) fn strangers(folder: &Path) -> Vec<String> {
    let index = Index::read(folder).ok().flatten();
    let is_own = |name: &str| match name.split_once('/') {
        _ if name == Index::FILE || name == super::LOCK => true,
        Some((Folder::STATE, file)) => is_checkpoint(file),
        _ => index.as_ref().map_or_else(|| is_of_a_run(name), |index| index.has(name)),
    };
    let mut found = Vec::new();
    each_file(folder, "", &mut |name| {
        if !is_own(&name) {
            found.push(name);
        }
    });
    found.sort();
    found
}

/// The first foreign files, as text.
pub(super) fn in_words(strangers: &[String]) -> String {
    let mut words = strangers[..strangers.len().min(MOST)].join(", ");
    if strangers.len() > MOST {
        words += &format!(" and {} more", strangers.len() - MOST);
    }
    words
}

/// Moves foreign files into the folder that replaces the old one. Returns the names of those that stay, because
/// the new folder has a file of that name or because they cannot be moved.
pub(super) fn carry_over(from: &Path, to: &Path) -> Vec<String> {
    let mut left = strangers(from);
    left.retain(|name| {
        let (old, new) = (from.join(name), to.join(name));
        let parent = new.parent().map(PathBuf::from).unwrap_or_default();
        let is_free = fs::symlink_metadata(&new).is_err();
        let moved =
            is_free && fs::create_dir_all(parent).and_then(|()| fs::rename(old, new)).is_ok();
        !moved
    });
    left
}

fn is_of_a_run(name: &str) -> bool {
    let has = |start: &str, endings: &[&str]| {
        name.strip_prefix(start).is_some_and(|rest| {
            !rest.contains('/') && endings.iter().any(|ending| rest.ends_with(ending))
        })
    };
    OF_A_RUN.contains(&name)
        || has("input-", &[".csv"])
        || has("predictions", &[".svg", ".png"])
        || has("figures/", &[".svg", ".png"])
}

fn is_checkpoint(name: &str) -> bool {
    [".safetensors", ".safetensors.tmp"].iter().any(|ending| name.ends_with(ending))
}

/// Calls `see` with every file and link below a folder. Links are not followed, and empty folders do not count.
fn each_file(folder: &Path, below: &str, see: &mut impl FnMut(String)) {
    for entry in fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        match entry.file_type().is_ok_and(|found| found.is_dir()) {
            true => each_file(folder, &name, see),
            false => see(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, names: &[&str]) {
        for name in names {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
    }

    #[test]
    fn what_no_run_writes_is_a_stranger() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let own =
            ["run.toml", "figures/a.svg", "state/1.safetensors", "state/seed-2/3.safetensors"];
        write(folder, &own);
        write(folder, &["input-d.csv", "lock"]);
        assert!(strangers(folder).is_empty());
        let others = [".git/HEAD", "figures/mine.svg/a", "notes/b", "state/plan.txt", "thesis.txt"];
        write(folder, &others);
        assert_eq!(strangers(folder), others);
        // Only the files in an index belong to the run, whatever their names.
        fs::remove_dir_all(folder.join("notes")).unwrap();
        fs::remove_file(folder.join("thesis.txt")).unwrap();
        Index::write(folder).unwrap();
        write(folder, &["notes/b", "draws.nc"]);
        assert_eq!(strangers(folder), [".git/HEAD", "draws.nc", "notes/b", "state/plan.txt"]);
        let many: Vec<String> = (0..7).map(|i| i.to_string()).collect();
        assert_eq!(in_words(&many), "0, 1, 2, 3, 4 and 2 more");
    }

    #[test]
    fn strangers_move_and_replace_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (old, new) = (place.path().join("old"), place.path().join("new"));
        write(&old, &["run.toml", "notes/b", "draws.txt"]);
        write(&new, &["run.toml", "draws.txt"]);
        assert_eq!(carry_over(&old, &new), ["draws.txt"]);
        assert!(new.join("notes/b").is_file() && old.join("draws.txt").is_file());
    }
}
