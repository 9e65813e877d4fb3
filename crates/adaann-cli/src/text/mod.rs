//! Terminal output: colours, tables, log lines and error messages.

pub(crate) mod failure;
pub(crate) mod layout;
pub(crate) mod said;
pub(crate) mod style;
