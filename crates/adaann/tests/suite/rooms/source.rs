//! Rust source as words: enough of its grammar to find the paths in it.

/// A word, a bracket, `::` or another mark, in the order of the text; no comments, no texts.
pub(super) fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let starts = |at: usize, mark: &str| {
        mark.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let (mut words, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let c = chars[at];
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            at += 2;
            while at < chars.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if let Some(hashes) = raw_string(&chars, at) {
            let end = format!("\"{}", "#".repeat(hashes));
            at += hashes + 2;
            while at < chars.len() && !starts(at, &end) {
                at += 1;
            }
            at += end.len();
        } else if c == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' {
            // A character ends with a quote soon; a lifetime does not.
            let escaped = chars.get(at + 1) == Some(&'\\');
            let len =
                if escaped { (3..12).find(|n| chars.get(at + n) == Some(&'\'')) } else { Some(2) };
            let quoted = len.filter(|n| chars.get(at + n) == Some(&'\''));
            at += quoted.map_or(1, |n| n + 1);
        } else if c.is_alphanumeric() || c == '_' {
            let from = at;
            while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                at += 1;
            }
            words.push(chars[from..at].iter().collect());
        } else if starts(at, "::") {
            words.push("::".into());
            at += 2;
        } else {
            if !c.is_whitespace() {
                words.push(c.to_string());
            }
            at += 1;
        }
    }
    words
}

/// The number of hashes, if a raw string begins here.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|at| chars[at]);
    if chars[at] != 'r' || before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

/// A path that a file names, as written: `super::Flow` in module `fit::run` is kept with that module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The module that the path stands in, from the crate's root.
    pub(super) within: Vec<String>,
    pub(super) path: Vec<String>,
    /// What a `use` calls it, if it is one of a `use`.
    pub(super) alias: Option<String>,
    /// Does a `pub use` hand it on?
    pub(super) handed_on: bool,
}

/// All paths of a file that may lead to another module: those of a `use`, and those in between that
/// begin with `crate`, `super` or the name of a module.
pub(super) fn paths(text: &str, module: &[String]) -> Vec<Named> {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let (mut found, mut within) = (Vec::new(), module.to_vec());
    // Depths at which modules inside the file were opened.
    let (mut depth, mut opened) = (0, Vec::new());
    let mut at = 0;
    while at < words.len() {
        match word(at) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if opened.last() == Some(&depth) {
                    opened.pop();
                    within.pop();
                }
            }
            "mod" if word(at + 2) == "{" => {
                within.push(word(at + 1).to_owned());
                opened.push(depth);
                depth += 1;
                at += 2;
            }
            // Not the `use<'_>` of a type.
            "use" if word(at + 1) != "<" => {
                let handed_on = is_public(&words, at);
                at += 1;
                let mut leaves = Vec::new();
                tree(&words, &mut at, &[], &mut leaves);
                found.extend(leaves.into_iter().map(|(path, alias)| Named {
                    within: within.clone(),
                    path,
                    alias: Some(alias),
                    handed_on,
                }));
            }
            first
                if word(at + 1) == "::"
                    && first.starts_with(|c: char| c.is_lowercase() || c == '_')
                    && (at == 0 || !matches!(word(at - 1), "::" | "$"))
                    && !(at > 1 && word(at - 2) == "(" && word(at - 1) == "in") =>
            {
                let mut path = vec![word(at).to_owned()];
                while word(at + 1) == "::"
                    && word(at + 2).starts_with(|c: char| c.is_alphabetic() || c == '_')
                {
                    path.push(word(at + 2).to_owned());
                    at += 2;
                }
                found.push(Named { within: within.clone(), path, alias: None, handed_on: false });
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Does `pub` or `pub(...)` stand before the word at `at`?
fn is_public(words: &[String], at: usize) -> bool {
    let before: Vec<&str> = words[..at].iter().rev().take(6).map(String::as_str).collect();
    match before.first() {
        Some(&"pub") => true,
        Some(&")") => before
            .iter()
            .position(|w| *w == "(")
            .is_some_and(|open| before.get(open + 1) == Some(&"pub")),
        _ => false,
    }
}

/// The leaves of a `use` from `at` on, each with the name it gets; leaves `at` behind the tree.
fn tree(
    words: &[String],
    at: &mut usize,
    stem: &[String],
    leaves: &mut Vec<(Vec<String>, String)>,
) {
    let mut path = stem.to_vec();
    while let Some(word) = words.get(*at) {
        match word.as_str() {
            "::" => *at += 1,
            "{" => {
                *at += 1;
                while words.get(*at).is_some_and(|word| word != "}") {
                    tree(words, at, &path, leaves);
                    if words.get(*at).is_some_and(|word| word == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "as" => {
                let alias = words.get(*at + 1).cloned().unwrap_or_default();
                *at += 2;
                leaves.push((path, alias));
                return;
            }
            "," | "}" | ";" => break,
            word => {
                path.push(word.to_owned());
                *at += 1;
            }
        }
    }
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let alias = path.last().cloned().unwrap_or_default();
    leaves.push((path, alias));
}

mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        paths(text, &["fit".into(), "run".into()])
            .into_iter()
            .map(|named| format!("{}: {}", named.within.join("::"), named.path.join("::")))
            .collect()
    }

    #[test]
    fn groups_nest_and_modules_inside_files_count() {
        let text = "use crate::{Batch, flow::{self, Base}}; // use crate::no\n\
                    fn f() -> super::Outcome { let s = \"crate::no\"; crate::rng::Stream::new('\\'') }\n\
                    mod tests { use super::*; use crate::path; } pub(super) use self::inner as other;";
        let expected = [
            "fit::run: crate::Batch",
            "fit::run: crate::flow",
            "fit::run: crate::flow::Base",
            "fit::run: super::Outcome",
            "fit::run: crate::rng::Stream::new",
            "fit::run::tests: super::*",
            "fit::run::tests: crate::path",
            "fit::run: self::inner",
        ];
        assert_eq!(found(text), expected);
        assert!(paths(text, &[]).last().unwrap().handed_on);
    }

    #[test]
    fn what_is_no_code_is_passed_over() {
        let text = "/* crate::a */ r#\"crate::b \" crate::c\"# 'x' &'a crate::d // crate::e";
        assert_eq!(found(text), ["fit::run: crate::d"]);
    }
}
