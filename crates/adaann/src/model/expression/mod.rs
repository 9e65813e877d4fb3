//! Formulas: parses text into a syntax tree and reports every mistake at its place.

mod ast;
mod cursor;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

pub(crate) use ast::{Ast, Fault, Kind, Level, Operator, Span};
pub(crate) use lexer::is_name;
pub(crate) use parser::parse;
