//! Calls of all commands with any of their flags.

use super::{
    dice::Dice,
    help::{Command, Flag},
    values::{Values, slip},
};
use std::ffi::OsString;

/// Flags that make valid runs short; later flags in a call may contradict them.
const SHORT: &[(&str, &str)] = &[
    ("--refine", "5"),
    ("--warmup", "5"),
    ("--updates", "1"),
    ("--layers", "3"),
    ("--samples", "20"),
    ("--refine-samples", "20"),
    ("--variance-samples", "20"),
    ("--tau", "0.5"),
    ("--draws", "50"),
    ("--check-particles", "50"),
    ("--particles", "50"),
    ("--most-draws", "300"),
    ("--target-ess", "100"),
    ("--trials", "2"),
    ("--predictions", "10"),
];

pub(crate) fn call(commands: &[Command], values: &Values, dice: &mut Dice) -> Vec<OsString> {
    if dice.one_in(60) {
        return loose(commands, values, dice);
    }
    let command = dice.of(commands);
    let name = if dice.one_in(80) { slip(&command.name, dice) } else { command.name.clone() };
    let mut words: Vec<Vec<OsString>> = Vec::new();
    for place in &command.places {
        let flag = Flag { name: String::new(), value: Some(place.clone()), choices: Vec::new() };
        let times = if place.contains("> <") { 2 } else { 1 };
        // Sometimes omitted or doubled.
        let times = match dice.below(30) {
            0 => 0,
            1 => times + 1,
            _ => times,
        };
        for _ in 0..times {
            words.push(vec![value(&flag, values, 5, dice)]);
        }
    }
    let is_method = dice.one_in(2);
    let has = |name: &str| command.flags.iter().any(|flag| flag.name == name);
    for (name, value) in SHORT.iter().filter(|(name, _)| has(name)) {
        // Settings of annealed flows would always select that method.
        let is_of_all = ["--draws", "--most-draws", "--target-ess", "--particles"].contains(name);
        if is_of_all || is_method || !has("--method") {
            words.push(vec![name.into(), value.into()]);
        }
    }
    // `help` has none.
    let count = if command.flags.is_empty() { 0 } else { dice.below(5) };
    for _ in 0..count {
        let flag = dice.of(&command.flags);
        words.push(spoken(flag, values, dice));
    }
    // A repeated flag is refused, so mostly only the tested one stays.
    if !dice.one_in(20) {
        let mut seen: Vec<OsString> = Vec::new();
        words.reverse();
        words.retain(|word| {
            let is_flag = word[0].to_string_lossy().starts_with("--");
            let is_new = !is_flag || !seen.contains(&word[0]);
            seen.push(word[0].clone());
            is_new
        });
        words.reverse();
    }
    for at in (1..words.len()).rev() {
        words.swap(at, dice.below(at + 1));
    }
    std::iter::once(name.into()).chain(words.into_iter().flatten()).collect()
}

/// A flag with its value, as an argument.
fn spoken(flag: &Flag, values: &Values, dice: &mut Dice) -> Vec<OsString> {
    let name = if dice.one_in(40) { slip(&flag.name, dice) } else { flag.name.clone() };
    if flag.value.is_none() || dice.one_in(60) {
        return vec![name.into()];
    }
    let value = value(flag, values, 2, dice);
    if dice.one_in(3) {
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        return vec![word];
    }
    vec![name.into(), value]
}

/// A wrong value in one of this many tries.
fn value(flag: &Flag, values: &Values, tries: usize, dice: &mut Dice) -> OsString {
    if dice.one_in(tries) { values.wrong(flag, dice) } else { values.right(flag, dice) }
}

/// Words in any order.
fn loose(commands: &[Command], values: &Values, dice: &mut Dice) -> Vec<OsString> {
    let word = |dice: &mut Dice| -> OsString {
        match dice.below(4) {
            0 => dice.of(commands).name.clone().into(),
            1 => dice.of(&["--help", "-h", "--version", "-V", "--", "-", "help", "--json"]).into(),
            2 => dice.of(&all_flags(commands)).clone().into(),
            _ => values.path(dice),
        }
    };
    (0..dice.below(6)).map(|_| word(dice)).collect()
}

fn all_flags(commands: &[Command]) -> Vec<String> {
    commands.iter().flat_map(|c| c.flags.iter().map(|flag| flag.name.clone())).collect()
}
