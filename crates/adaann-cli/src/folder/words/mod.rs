//! What a run has found, in words: its title, tables, warnings and verdict.

pub(crate) mod modes;
pub(crate) mod table;
pub(crate) mod title;
pub(crate) mod verdict;
pub(crate) mod warnings;
