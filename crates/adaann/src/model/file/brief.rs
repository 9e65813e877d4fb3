//! Shortens words of a file for messages.

/// A word from the file, short enough for a message.
pub(super) fn brief(word: &str) -> String {
    if word.chars().count() <= 60 {
        return word.to_owned();
    }
    word.chars().take(57).chain("...".chars()).collect()
}
