//! How this program speaks: colours, tables, and what it says when something fails.

pub(crate) mod failure;
pub(crate) mod layout;
pub(crate) mod said;
pub(crate) mod style;
