//! Values for flags: valid ones, edge cases, and junk.

use super::{dice::Dice, help::Flag};
use std::{ffi::OsString, os::unix::ffi::OsStringExt};

/// Edge cases of arithmetic.
pub(crate) const BORDERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e-9",
    "1e-320",
    "5e-324",
    "1e308",
    "-1e308",
    "1e309",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "2147483648",
    "1000000000000",
    "0x10",
    "1_000",
    "1e3",
    "+1",
    "1.",
    ".5",
    "٣",
];

/// Files, folders and other paths, as created by `place`.
const PATHS: &[&str] = &[
    "missing",
    "missing/deep",
    "folder",
    "folder/",
    "fifo",
    "circle",
    "unreadable",
    "closed",
    "closed/x",
    "model.toml",
    "data.csv",
    "points.csv",
    "run",
    "run/summary.json",
    "unfinished",
    "mine",
    "mine/x",
    "new",
    "new.csv",
    "new.nc",
    "new.toml",
    "new.html",
    "new.json",
    "model.toml/x",
    ".",
    "..",
    "",
    " ",
    "-",
    "--",
    "empty",
    "dangling",
    "big.csv",
];

/// Only in the sandbox.
const DEVICES: &[&str] =
    &["zero", "null", "full", "/dev/zero", "/dev/null", "/dev/full", "/dev", "/proc/self/mem", "/"];

pub(crate) struct Values {
    pub(crate) targets: Vec<String>,
    pub(crate) has_devices: bool,
}

impl Values {
    pub(crate) fn path(&self, dice: &mut Dice) -> OsString {
        if self.has_devices && dice.one_in(6) {
            return dice.of(DEVICES).into();
        }
        if dice.one_in(25) { junk(dice) } else { dice.of(PATHS).into() }
    }

    /// A value that this flag should accept.
    pub(crate) fn right(&self, flag: &Flag, dice: &mut Dice) -> OsString {
        if !flag.choices.is_empty() {
            return dice.of(&flag.choices).into();
        }
        let whole = |dice: &mut Dice| dice.of(&["1", "2", "3", "5", "20", "50"]).to_string();
        let real =
            |dice: &mut Dice| dice.of(&["0.01", "0.1", "0.3", "0.5", "0.9", "1", "2"]).to_string();
        let text = match flag.value.as_deref().unwrap_or_default() {
            "COUNT" | "K" | "L" | "H" | "N" | "N_1" | "M" | "T_0" | "T_1" | "S" | "ROUNDS"
            | "SEED" => whole(dice),
            "T" if flag.name == "--updates" => whole(dice),
            "T" => dice.of(&["0.01", "0.5", "1", "auto"]).to_string(),
            "LIST" => match dice.below(3) {
                0 => real(dice),
                1 => format!("{},{}", real(dice), real(dice)),
                _ => "0.01,0.1,1".to_owned(),
            },
            "NAME=NUMBER" => {
                let name = dice.of(&["mu", "dim", "noise-variance"]);
                format!("{name}={}", dice.of(&["1", "2", "3", "0.5"]))
            }
            "TIME" => dice.of(&["30s", "1ms", "0.01s", "5m", "off"]).to_string(),
            "RULE" => dice
                .of(&["constant", "step:5:0.5", "exponential:0.9", "cosine:10", "cosine:10:0"])
                .to_string(),
            "MASK" => dice.of(&["alternating", "halves", "random", "0", "0,1"]).to_string(),
            "NAME" if flag.name == "--preset" => dice.of(&["default", "paper"]).to_string(),
            "NAME" => dice.of(&self.targets).clone(),
            "MODEL.toml" | "NAME|MODEL.toml" | "MODEL.toml|RUN" => "model.toml".to_owned(),
            "FILE.csv" if flag.name == "--out" => "new.csv".to_owned(),
            "FILE.csv" if flag.name == "--data" => "data.csv".to_owned(),
            "FILE.csv" => dice.of(&["points.csv", "data.csv"]).to_string(),
            "RUN" => dice.of(&["run", "run", "run", "unfinished"]).to_string(),
            "RUN> <RUN" => "run".to_owned(),
            "FOLDER" | "FILE" | "FILE.toml" | "FILE.json" => {
                dice.of(&["new", "new.nc", "new.toml"]).to_string()
            }
            _ => real(dice),
        };
        text.into()
    }

    /// Any value, valid or not.
    pub(crate) fn wrong(&self, flag: &Flag, dice: &mut Dice) -> OsString {
        let value = flag.value.as_deref().unwrap_or_default();
        let is_path = ["FILE", "FOLDER", "RUN", "MODEL"].iter().any(|word| value.contains(word));
        if is_path && !dice.one_in(8) {
            return self.path(dice);
        }
        match dice.below(8) {
            0..4 => dice.of(BORDERS).into(),
            4 => slip(&self.right(flag, dice).to_string_lossy(), dice).into(),
            5 if value == "LIST" => list(dice).into(),
            5 if value.contains('=') => {
                format!("{}={}", dice.of(&["mu", "dim", "x", ""]), dice.of(BORDERS)).into()
            }
            5 if value == "RULE" => format!(
                "{}:{}:{}",
                dice.of(&["step", "exponential", "cosine", ""]),
                dice.of(BORDERS),
                dice.of(BORDERS)
            )
            .into(),
            5 if value == "TIME" => {
                format!("{}{}", dice.of(BORDERS), dice.of(&["s", "m", "h", "ms", ""])).into()
            }
            6 => self.path(dice),
            _ => junk(dice),
        }
    }
}

fn list(dice: &mut Dice) -> String {
    let count = *dice.of(&[0, 1, 2, 3, 5, 10, 2000]);
    (0..count).map(|_| *dice.of(BORDERS)).collect::<Vec<_>>().join(",")
}

/// A name with a letter lost, doubled, swapped or in capitals.
pub(crate) fn slip(name: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = dice.below(letters.len());
    match dice.below(4) {
        _ if letters.is_empty() => {}
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = letters[at].to_ascii_uppercase(),
        _ => letters.swap(at, 0),
    }
    letters.into_iter().collect()
}

/// Junk.
fn junk(dice: &mut Dice) -> OsString {
    match dice.below(7) {
        0 => OsString::new(),
        1 => "   ".into(),
        2 => "x".repeat(20_000).into(),
        3 => "9".repeat(5000).into(),
        4 => "\u{202e}ümlaut 🦀\u{0301}\n\t".into(),
        5 => "%s%n../../{}$(id)`id`;'\"\\".into(),
        _ => {
            let bytes = (0..1 + dice.below(40)).map(|_| 1 + dice.below(255) as u8);
            // Slashes would lead out of the folder.
            OsString::from_vec(bytes.filter(|byte| *byte != b'/').collect())
        }
    }
}
