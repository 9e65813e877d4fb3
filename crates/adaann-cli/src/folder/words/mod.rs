//! The results of a run as text: title, tables, warnings and verdict.

pub(crate) mod modes;
pub(crate) mod table;
pub(crate) mod title;
pub(crate) mod verdict;
pub(crate) mod warnings;
