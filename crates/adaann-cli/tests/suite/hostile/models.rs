//! Model files with mistakes.

use super::{dice::Dice, folders, text};
use std::{fs, path::Path};

/// Small files with features that the gallery lacks.
const SMALL: &[&str] = &[
    "[parameters]\na = \"normal(0, 1)\"\n",
    "[parameters]\na = { prior = \"normal(0, 1)\", size = 3 }\n[likelihood]\n",
    "[constants]\nn = 3\n[parameters]\np = { prior = \"dirichlet(1)\", size = 3 }\n",
    "density = \"-((z + 2)^2 - 3)^2\"\n[parameters]\nz = {}\n",
    "[fit]\nmethod = \"modes\"\ndraws = 10\n[parameters]\na = \"uniform(0, 1)\"\n",
];

/// All files from which mutations start; files with a program only in a sandbox.
pub(crate) fn sources(models: &Path, has_sandbox: bool) -> Vec<Vec<u8>> {
    let files = folders::files(models).into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let texts = files.map(|path| fs::read(path).expect("a model"));
    let mut texts: Vec<_> =
        texts.chain(SMALL.iter().map(|text| text.as_bytes().to_vec())).collect();
    texts.retain(|text| has_sandbox || !names_program(text));
    texts
}

/// May it start a program, which may be slow?
pub(crate) fn names_program(text: &[u8]) -> bool {
    text.windows(7).any(|part| part == b"command")
}

pub(crate) fn mutated(sources: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let source: &Vec<u8> = dice.of(sources);
    text::mutated(source, dice)
}

/// The mutated lines, and the first line, which names the source of the rest.
pub(crate) fn difference(sources: &[Vec<u8>], text: &[u8]) -> String {
    let sources: Vec<_> = sources.iter().map(|source| String::from_utf8_lossy(source)).collect();
    let is_known = |line: &str| sources.iter().any(|source| source.lines().any(|l| l == line));
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().enumerate().filter(|(at, line)| *at == 0 || !is_known(line));
    let cut = |line: &str| line.chars().take(100).collect::<String>();
    lines.map(|(_, line)| cut(line)).take(6).collect::<Vec<_>>().join(" | ")
}
