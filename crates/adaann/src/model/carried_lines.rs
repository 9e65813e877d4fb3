//! The states of a series in mathematical notation: each row in terms of the previous row.

use super::expression::{Ast, Kind};
use super::file::Series;
use super::names::BEFORE;
use super::{Model, Notation};

impl Model {
    /// The states and the final term of a series, line by line.
    pub(super) fn series_lines(&self, notation: Notation) -> Vec<String> {
        let Some(series) = &self.outline.file.series else { return Vec::new() };
        let mut lines = Vec::new();
        for state in &series.states {
            let name = notation.name(&state.name);
            let at = |row: &str| match notation {
                Notation::Plain => format!("{name}[{row}]"),
                Notation::Latex => format!("{{{name}}}_{{{row}}}"),
            };
            let next = of_row_before(&state.next.ast, series);
            lines.push(format!("{} = {}", at("1"), notation.formula(&state.start.ast)));
            lines.push(format!("{} = {}", at("t"), notation.formula(&next)));
        }
        if let Some(last) = &series.last {
            let left = match notation {
                Notation::Plain => "log p(last row)",
                Notation::Latex => r"\log p(\text{last row})",
            };
            lines.push(format!("{left} = {}", notation.formula(&last.ast)));
        }
        lines
    }
}

/// A formula in which states are those of the previous row, shown as calls of `before`.
fn of_row_before(ast: &Ast, series: &Series) -> Ast {
    let all = |parts: &[Ast]| parts.iter().map(|part| of_row_before(part, series)).collect();
    let one = |part: &Ast| Box::new(of_row_before(part, series));
    let kind = match &ast.kind {
        Kind::Number(x) => Kind::Number(*x),
        Kind::Name(name) if series.states.iter().any(|state| state.name.text == *name) => {
            let (name, name_span) = (BEFORE.to_owned(), ast.span.clone());
            Kind::Call { name, name_span, arguments: vec![ast.clone()] }
        }
        Kind::Name(name) => Kind::Name(name.clone()),
        Kind::Call { name, name_span, arguments } => {
            let (name, name_span) = (name.clone(), name_span.clone());
            Kind::Call { name, name_span, arguments: all(arguments) }
        }
        Kind::Named { name, value } => Kind::Named { name: name.clone(), value: one(value) },
        Kind::Index { of, indices } => Kind::Index { of: one(of), indices: all(indices) },
        Kind::Range { first, last } => {
            Kind::Range { first: first.as_deref().map(one), last: last.as_deref().map(one) }
        }
        Kind::List(items) => Kind::List(all(items)),
        Kind::Negate(x) => Kind::Negate(one(x)),
        Kind::Not(x) => Kind::Not(one(x)),
        Kind::Binary { operator, left, right } => {
            Kind::Binary { operator: *operator, left: one(left), right: one(right) }
        }
    };
    Ast { kind, span: ast.span.clone() }
}
