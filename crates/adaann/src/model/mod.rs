//! Models written as text: parameters, data and formulas in one file.
#![allow(dead_code)]

pub(crate) mod diagnostic;
mod excerpt;
pub(crate) mod expression;
pub(crate) mod file;
pub(crate) mod print;
pub(crate) mod words;

pub use diagnostic::{Diagnostic, Diagnostics, Place, Source};
