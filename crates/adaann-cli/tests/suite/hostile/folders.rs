//! Damage to run folders.

use super::{dice::Dice, text};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

/// The commands on a damaged folder `run`.
pub(crate) const QUESTIONS: &[&[&str]] = &[
    &["report", "run"],
    &["sample", "run", "-n", "20"],
    &["density", "run", "points.csv"],
    &["export", "run", "--predictions", "10"],
    &["predict", "run", "--draws", "10"],
    &["compare", "run", "whole"],
    &["verify", "run"],
    &["resume", "run"],
];

/// Kinds of damage.
const KINDS: [&str; 16] = [
    "removed",
    "cut",
    "flipped",
    "flipped",
    "mutated",
    "mutated",
    "mutated",
    "mutated",
    "mutated",
    "mutated",
    "exchanged",
    "emptied",
    "a folder",
    "a pipe",
    "a link",
    "closed",
];

/// All files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() && !path.is_symlink() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// Damages some files of the folder; returns a description. Links lead to devices, in a circle, or to `thesis`,
/// a file of somebody else.
pub(crate) fn damage(folder: &Path, thesis: &Path, has_devices: bool, dice: &mut Dice) -> String {
    let mut done = Vec::new();
    // With an index, only the index would be checked.
    if !dice.one_in(3) {
        let _ = fs::remove_file(folder.join("index.json"));
        done.push("no index".to_owned());
    }
    // A single wrong number reaches later parts of a command than a broken file.
    if dice.one_in(2) {
        let mut found = files(folder);
        found.retain(|path| {
            path.extension().is_some_and(|e| ["csv", "json", "toml"].iter().any(|x| e == *x))
        });
        if !found.is_empty() {
            let file = dice.of(&found).clone();
            let text = text::with_number(&fs::read(&file).expect("a file"), dice);
            fs::write(&file, text).expect("a file");
            let name = file.strip_prefix(folder).unwrap_or(&file).display();
            done.push(format!("{name} with another number"));
        }
        return done.join(", ");
    }
    for _ in 0..1 + dice.below(3) {
        // Prefer files that commands read to the many figures.
        let mut found = files(folder);
        // Reading a pipe blocks, and a device is endless.
        found.retain(|path| fs::symlink_metadata(path).is_ok_and(|about| about.is_file()));
        if !dice.one_in(10) {
            found.retain(|path| !path.to_string_lossy().contains("figures/"));
        }
        if !found.is_empty() {
            let other = dice.of(&found).clone();
            let file = dice.of(&found).clone();
            let kind = dice.below(KINDS.len());
            let _ = one(file.clone(), &other, thesis, kind, has_devices, dice);
            let name = file.strip_prefix(folder).unwrap_or(&file).display();
            done.push(format!("{name} {}", KINDS[kind]));
        }
    }
    done.join(", ")
}

fn one(
    file: PathBuf,
    other: &Path,
    thesis: &Path,
    kind: usize,
    has_devices: bool,
    dice: &mut Dice,
) -> std::io::Result<()> {
    match kind {
        0 => fs::remove_file(&file),
        1 => {
            let bytes = fs::read(&file)?;
            fs::write(&file, &bytes[..dice.below(bytes.len())])
        }
        2..4 => {
            let mut bytes = fs::read(&file)?;
            (0..1 + dice.below(4)).for_each(|_| text::flip(&mut bytes, dice));
            fs::write(&file, bytes)
        }
        4..10 => {
            let bytes = fs::read(&file)?;
            fs::write(&file, text::mutated(&bytes, dice))
        }
        10 => {
            let (one, two) = (fs::read(&file)?, fs::read(other)?);
            fs::write(&file, two)?;
            fs::write(other, one)
        }
        11 => fs::write(&file, ""),
        kind => {
            fs::remove_file(&file)?;
            match kind {
                12 => fs::create_dir(&file),
                13 => Command::new("mkfifo").arg(&file).status().map(drop),
                14 if dice.one_in(2) => symlink(thesis, &file),
                14 if has_devices => {
                    symlink(dice.of(&["/dev/zero", "/dev/full", "/dev/null"]), &file)
                }
                14 => symlink(&file, &file),
                _ => {
                    fs::write(&file, "")?;
                    fs::set_permissions(&file, fs::Permissions::from_mode(0o000))
                }
            }
        }
    }
}
