//! Models written as text: parameters, data and formulas in one file.
#![allow(dead_code)]

mod diagnostic;
mod excerpt;
pub(crate) mod expression;

pub use diagnostic::{Diagnostic, Diagnostics, Place, Source};
