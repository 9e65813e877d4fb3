//! What a model needs from a data file: which columns to keep, and how much of the file messages may show.
//!
//! A model may come from somebody else and may name any file on this machine, such as its owner's private key. So
//! messages quote a file only once it is known to be the table that the model needs: a column that the model names
//! has a number in the first row. Column names are also shown if they look like names and stand above a number,
//! since a model that names another column is most often a typo. For any other file messages give only the line
//! and column.

use super::cells::{cell_text, number};
use super::diagnostic::Source;
use super::file::File;

/// Columns of doses, which are read even if the model does not name them.
const DOSES: [&str; 8] = ["amt", "rate", "evid", "cmt", "ii", "addl", "ss", "mdv"];

/// Maximum length, in characters, of a column name that is shown although the model does not name it.
const LONGEST: usize = 40;

/// What a model needs from a data file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'m> {
    /// The model file.
    text: &'m str,
    has_system: bool,
    keeps_all: bool,
    shows_all: bool,
}

/// How much of a file messages may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shown {
    pub(super) names: bool,
    pub(super) rows: bool,
}

impl<'m> Asked<'m> {
    /// What a model file needs from its data.
    pub(super) fn of(source: &'m Source, file: &File) -> Self {
        let text = &source.text[..];
        // An escape sequence may spell a column's name differently.
        let keeps_all = text.contains('\\');
        Self { text, has_system: file.ode.is_some(), keeps_all, shows_all: false }
    }

    /// For a file that the user has named: keeps and shows everything.
    pub(super) fn by_the_user() -> Self {
        Self { text: "", has_system: false, keeps_all: true, shows_all: true }
    }

    /// The same, but keeps all columns.
    pub(super) fn whole(self) -> Self {
        Self { keeps_all: true, ..self }
    }

    /// Should this column be kept? Yes if its name occurs anywhere in the model file, even in a comment.
    pub(super) fn keeps(&self, name: &str) -> bool {
        let is_implied = || {
            // `t` is the default name of time; columns of doses are recognised in upper and lower case.
            name == "t" || DOSES.iter().any(|dose| name.eq_ignore_ascii_case(dose))
        };
        self.keeps_all || self.names(name) || self.has_system && is_implied()
    }

    /// Does the model file contain this name as a word? Always true for a file that the user has named.
    pub(super) fn names(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let joins =
            |a: Option<char>, b: Option<char>| a.is_some_and(is_word) && b.is_some_and(is_word);
        let is_there = |(at, _): (usize, &str)| {
            let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
            !joins(before.chars().next_back(), name.chars().next())
                && !joins(name.chars().next_back(), after.chars().next())
        };
        self.shows_all || !name.is_empty() && self.text.match_indices(name).any(is_there)
    }

    /// How much may be shown of a file with these columns and these cells in the first row.
    pub(super) fn shown<'c>(&self, names: &[String], row: impl Iterator<Item = &'c str>) -> Shown {
        let has_number = |cell: &str| number(cell).is_some_and(|x| !x.is_nan());
        let numbers: Vec<bool> = row.map(has_number).collect();
        let is_whole = numbers.len() == names.len();
        let mut named = names.iter().zip(&numbers).filter(|(name, _)| self.names(name));
        let rows = self.shows_all || is_whole && named.any(|(_, is_number)| *is_number);
        let looks_so = names.iter().all(|name| is_like_a_name(name));
        Shown { names: rows || is_whole && looks_so && numbers.contains(&true), rows }
    }
}

fn is_like_a_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || " _.()%/[]-".contains(c);
    (1..=LONGEST).contains(&name.chars().count()) && name.chars().all(fits)
}

/// The names in a header.
pub(super) fn names_of<'h>(cells: impl Iterator<Item = &'h str>) -> Vec<String> {
    cells.map(cell_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Asked<'_> {
        Asked { text, has_system: false, keeps_all: false, shows_all: false }
    }

    #[test]
    fn names_are_words_of_the_model() {
        let model = asked("rename = { w = \"Weight (kg)\" }\ny = \"normal(a*x1 + w, 1)\" # dose");
        for name in ["w", "Weight (kg)", "y", "x1", "dose"] {
            assert!(model.keeps(name), "{name}");
        }
        for name in ["x", "Weigh", "kg)\" }\ny2", "norma", ""] {
            assert!(!model.keeps(name), "{name}");
        }
        assert!(Asked { has_system: true, ..asked("") }.keeps("EVID"));
    }

    #[test]
    fn only_a_table_that_is_asked_for_is_shown() {
        let shown = |model: &str, header: &str, row: &str| {
            asked(model).shown(&names_of(header.split(',')), row.split(','))
        };
        let (all, names, none) = (
            Shown { names: true, rows: true },
            Shown { names: true, rows: false },
            Shown::default(),
        );
        assert_eq!(shown("y = 1", "x,y", "a,2"), all);
        assert_eq!(shown("z = 1", "x,y", "a,2"), names);
        assert_eq!(shown("y = 1", "x,y", "1,b"), names);
        assert_eq!(shown("y = 1", "x,y", "1"), none);
        let passwd =
            ("root:x:0:0:root:/root:/bin/bash", "daemon:x:1:1:daemon:/usr/sbin:/bin/false");
        assert_eq!(shown("x = 1", passwd.0, passwd.1), none);
        assert_eq!(shown(passwd.0, passwd.0, passwd.1), none);
        assert_eq!(shown("x = 1", "TOKEN=abc", "7"), none);
    }
}
