//! Models written as text: parameters, data and formulas in one file.
#![allow(dead_code)]

pub(crate) mod diagnostic;
mod excerpt;
mod exercise;
pub(crate) mod expression;
pub(crate) mod file;
pub(crate) mod print;
mod schema;
pub(crate) mod words;

pub use diagnostic::{Diagnostic, Diagnostics, Place, Source};
#[doc(hidden)]
pub use exercise::exercise;
pub use schema::schema;
