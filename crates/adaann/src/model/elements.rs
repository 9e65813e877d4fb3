//! Elements, slices and lists of elements of vectors and matrices.

use super::evaluate::{Evaluator, Index};
use super::expression::{Ast, Kind, Span};
use super::names::Meaning;
use super::scope::Place;
use super::value::Value;
use crate::program::Expr;

/// What an index selects.
enum Choice {
    One(usize),
    Several(Vec<usize>),
    /// An element that differs by row of the data.
    OfRow,
}

impl<'g> Evaluator<'_, 'g> {
    /// x[i], x[2:4], x[[1, 3]], m[i, j] and similar.
    pub(super) fn index(&mut self, ast: &Ast, of: &Ast, indices: &[Ast]) -> Value<'g> {
        let value = self.evaluate(of);
        match (&value, indices) {
            (Value::Unknown, _) => Value::Unknown,
            (Value::Vector(elements), [index]) => match self.choice(elements.len(), index) {
                None => Value::Unknown,
                Some(choice) => self.chosen(of, elements, index, choice),
            },
            (Value::Matrix(rows), [row]) => match self.choice(rows.len(), row) {
                None => Value::Unknown,
                Some(Choice::One(i)) => Value::Vector(rows[i].clone()),
                Some(Choice::Several(chosen)) => {
                    Value::Matrix(chosen.into_iter().map(|i| rows[i].clone()).collect())
                }
                Some(Choice::OfRow) => {
                    let columns = transposed(rows);
                    let elements = columns.iter().map(|column| self.element(of, column, row));
                    joined(elements.collect())
                }
            },
            (Value::Matrix(rows), [row, column]) => self.matrix_element(of, rows, [row, column]),
            (Value::Vector(_) | Value::Matrix(_), _) => {
                let message =
                    format!("{} cannot be indexed with {} indices", value.kind(), indices.len());
                self.fault(&ast.span, message, None);
                Value::Unknown
            }
            _ => {
                let meaning = match &of.kind {
                    Kind::Name(name) => self.names.find(name),
                    _ => None,
                };
                if self.place == Place::Rate && matches!(meaning, Some(Meaning::State(_))) {
                    return self.no_delays(&ast.span);
                }
                let help = matches!(meaning, Some(Meaning::Column(_))).then(|| {
                    "here a column is its value at the row; before(column, k) is the value k rows earlier, and \
                     [constants] can hold a vector or a table of numbers"
                        .to_owned()
                });
                let message = format!("{} has no elements", value.kind());
                self.unknown(&of.span, message, help)
            }
        }
    }

    fn matrix_element(
        &mut self,
        of: &Ast,
        rows: &[Vec<Expr<'g>>],
        [row, column]: [&Ast; 2],
    ) -> Value<'g> {
        let width = rows.first().map_or(0, Vec::len);
        let chosen = (self.choice(rows.len(), row), self.choice(width, column));
        let (Some(by_row), Some(by_column)) = chosen else { return Value::Unknown };
        match (by_row, by_column) {
            (Choice::One(i), choice) => self.chosen(of, &rows[i], column, choice),
            (choice, Choice::One(j)) => {
                let elements: Vec<Expr<'g>> = rows.iter().map(|row| row[j]).collect();
                self.chosen(of, &elements, row, choice)
            }
            (Choice::Several(chosen), Choice::Several(columns)) => {
                let row = |i: usize| columns.iter().map(|&j| rows[i][j]).collect();
                Value::Matrix(chosen.into_iter().map(row).collect())
            }
            (Choice::OfRow, Choice::Several(columns)) => {
                let all = transposed(rows);
                let elements = columns.into_iter().map(|j| self.element(of, &all[j], row));
                joined(elements.collect())
            }
            (Choice::Several(chosen), Choice::OfRow) => {
                let elements = chosen.into_iter().map(|i| self.element(of, &rows[i], column));
                joined(elements.collect())
            }
            (Choice::OfRow, Choice::OfRow) => self.element_of_row(of, rows, [row, column]),
        }
    }

    /// The element of a matrix at two indices that differ by row.
    fn element_of_row(
        &mut self,
        of: &Ast,
        rows: &[Vec<Expr<'g>>],
        [row, column]: [&Ast; 2],
    ) -> Value<'g> {
        if self.gather.is_none() {
            // With plain numbers, one index after the other.
            let chosen: Vec<Value<'g>> =
                transposed(rows).iter().map(|column| self.element(of, column, row)).collect();
            return match joined(chosen) {
                Value::Vector(chosen) => self.element(of, &chosen, column),
                _ => Value::Unknown,
            };
        }
        let is_of_data = |ast: &Ast| self.names.reach(ast).is_of_data();
        if !is_of_data(row) || !is_of_data(column) || self.names.reach(of).is_of_rows() {
            let message = "two indices that differ between rows must depend on the data alone, and the \
                           matrix must be the same for all rows";
            self.fault(&column.span, message, None);
            return Value::Unknown;
        }
        let width = rows.first().map_or(0, Vec::len);
        let indices = [Index { ast: row, len: rows.len() }, Index { ast: column, len: width }];
        self.gathered(&rows.concat(), &indices)
    }

    /// Applies a choice to some elements.
    fn chosen(
        &mut self,
        of: &Ast,
        elements: &[Expr<'g>],
        index: &Ast,
        choice: Choice,
    ) -> Value<'g> {
        match choice {
            Choice::One(i) => Value::Number(elements[i]),
            Choice::Several(chosen) => {
                Value::Vector(chosen.into_iter().map(|i| elements[i]).collect())
            }
            Choice::OfRow => self.element(of, elements, index),
        }
    }

    /// What an index selects among `len` elements.
    fn choice(&mut self, len: usize, index: &Ast) -> Option<Choice> {
        if let Kind::Range { first, last } = &index.kind {
            if len == 0 {
                self.fault(&index.span, "cannot take a slice: there are no elements", None);
                return None;
            }
            let first = match first {
                Some(first) => self.number_at(len, first)?,
                None => 0,
            };
            let last = match last {
                Some(last) => self.number_at(len, last)?,
                None => len - 1,
            };
            if first > last {
                let message = format!("the range {}:{} is empty", first + 1, last + 1);
                self.fault(&index.span, message, None);
                return None;
            }
            return Some(Choice::Several((first..=last).collect()));
        }
        if self.is_by_row(index) {
            return Some(Choice::OfRow);
        }
        match self.evaluate(index) {
            Value::Number(x) => self.place_of(len, x, &index.span).map(Choice::One),
            Value::Vector(chosen) if !chosen.is_empty() => {
                let mut places = Vec::with_capacity(chosen.len());
                for x in chosen {
                    places.push(self.place_of(len, x, &index.span)?);
                }
                Some(Choice::Several(places))
            }
            Value::Unknown => None,
            other => {
                let message =
                    format!("expected an index or a list of them, found {}", other.kind());
                self.fault(&index.span, message, None);
                None
            }
        }
    }

    fn number_at(&mut self, len: usize, index: &Ast) -> Option<usize> {
        let number = self.number(index)?;
        self.place_of(len, number, &index.span)
    }

    /// A constant index as a position from 0; negative indices count from the end.
    pub(super) fn place_of(&mut self, len: usize, index: Expr<'g>, span: &Span) -> Option<usize> {
        let message = match index.as_constant() {
            None => "an index must be a constant or a column of the data".to_owned(),
            Some(i) if i.fract() != 0.0 => format!("the index {i} is not a whole number"),
            Some(i) if (1.0..=len as f64).contains(&i) => return Some(i as usize - 1),
            Some(i) if (1.0..=len as f64).contains(&-i) => return Some(len - (-i) as usize),
            Some(i) => format!("the index {i} is outside 1 to {len}"),
        };
        self.fault(span, message, None);
        None
    }
}

/// The columns of a matrix.
pub(super) fn transposed<'g>(rows: &[Vec<Expr<'g>>]) -> Vec<Vec<Expr<'g>>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
}

/// Numbers as a vector; Unknown if one of them is.
fn joined(elements: Vec<Value<'_>>) -> Value<'_> {
    if elements.iter().any(Value::is_unknown) {
        return Value::Unknown;
    }
    Value::Vector(elements.iter().filter_map(|value| value.element(0)).collect())
}
