//! Reserved words, which cannot be names in a model.
//!
//! Names of functions and distributions are not reserved: a name followed by parentheses is a function, so
//! a model may have a parameter `beta`.

/// Named numbers.
const NUMBERS: [&str; 3] = ["pi", "e", "inf"];

/// Keywords of the grammar.
const KEYWORDS: [&str; 4] = ["if", "and", "or", "not"];

/// The meaning of a reserved name; None if the name is free.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    let kinds = [(&KEYWORDS[..], "a keyword"), (&NUMBERS[..], "a number")];
    kinds.into_iter().find(|(words, _)| words.contains(&name)).map(|(_, kind)| kind)
}
