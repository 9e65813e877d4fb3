//! Models written as text: parameters, data and formulas in one file.

pub(crate) mod expression;
