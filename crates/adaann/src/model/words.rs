//! The words that nothing in a model can be called by.
//!
//! Names of functions and distributions are not among them: what is called with parentheses is a
//! function, and a model may well have a parameter `beta`.

/// Numbers with a name.
const NUMBERS: [&str; 3] = ["pi", "e", "inf"];

/// Parts of the grammar.
const KEYWORDS: [&str; 4] = ["if", "and", "or", "not"];

/// What a name is already, if nothing in a model can be called by it.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    let kinds = [(&KEYWORDS[..], "a word of the language"), (&NUMBERS[..], "a number")];
    kinds.into_iter().find(|(words, _)| words.contains(&name)).map(|(_, kind)| kind)
}
