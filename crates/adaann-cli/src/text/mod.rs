//! What a person reads: tables, titles, verdicts, warnings, failures.

pub(crate) mod failure;
pub(crate) mod modes;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod title;
pub(crate) mod verdict;
pub(crate) mod warnings;
