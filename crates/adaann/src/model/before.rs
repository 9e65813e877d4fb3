//! `before(column, k, otherwise)`: a column at an earlier row of the series.

use super::evaluate::Evaluator;
use super::expression::{Ast, Kind};
use super::names::Meaning;
use super::scope::{Lag, Place};
use super::value::{Truth, Value};

const USAGE: &str = "before(column), before(column, k) or before(column, k, otherwise)";

impl<'g> Evaluator<'_, 'g> {
    pub(super) fn before(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let (column, back, otherwise) = match arguments {
            [column] => (column, None, None),
            [column, back] => (column, Some(back), None),
            [column, back, otherwise] => (column, Some(back), Some(otherwise)),
            _ => return self.wrong_count(whole, USAGE, arguments.len()),
        };
        if self.place == Place::Rate {
            return self.no_delays(&whole.span);
        }
        if !self.place.is_at_row() {
            let message = "`before` reads earlier rows of the data; use it in formulas that are \
                           evaluated row by row";
            return self.unknown(&whole.span, message.to_owned(), None);
        }
        let Some(column) = self.column(column) else { return Value::Unknown };
        let back = match back {
            None => Some(1),
            Some(back) => self.rows_back(back),
        };
        let Some(back) = back else { return Value::Unknown };
        let lag = Lag { column, back };
        let found = self.scope.lags.iter().find(|lagged| lagged.lag == lag).copied();
        let otherwise = otherwise.map(|otherwise| self.number(otherwise));
        let (Some(found), false) = (found, otherwise.is_some_and(|x| x.is_none())) else {
            return Value::Unknown;
        };
        Value::Number(match (found.is_there.as_constant(), otherwise.flatten()) {
            // The missing row has been reported.
            (Some(0.0), None) => return Value::Unknown,
            (Some(0.0), Some(otherwise)) => otherwise,
            (Some(_), _) | (None, None) => found.value,
            (None, Some(otherwise)) => {
                Truth::Compare(found.is_there.gt(0.5)).select(found.value, otherwise)
            }
        })
    }

    /// The column that the first argument names.
    fn column(&mut self, ast: &Ast) -> Option<usize> {
        let help =
            "in `next`, a state's name already means its value at the previous row".to_owned();
        let (message, help) = match &ast.kind {
            Kind::Name(name) => match self.names.find(name) {
                Some(Meaning::Column(column)) => return Some(column),
                Some(Meaning::Unread) => return None,
                None if self.names.is_partial => return None,
                Some(Meaning::Carried(_)) => {
                    (format!("`{name}` is a state, but `before` needs a column"), Some(help))
                }
                Some(_) => (format!("`{name}` is not a column of the data"), None),
                None => {
                    // Reports the unknown name, with a suggestion.
                    self.evaluate(ast);
                    return None;
                }
            },
            _ => ("`before` needs the name of a column".to_owned(), Some(format!("write {USAGE}"))),
        };
        self.fault(&ast.span, message, help);
        None
    }

    /// The number of rows to go back.
    fn rows_back(&mut self, ast: &Ast) -> Option<usize> {
        let number = self.number(ast)?;
        let message = match number.as_constant() {
            Some(k) if k.fract() == 0.0 && (1.0..=1e9).contains(&k) => return Some(k as usize),
            Some(k) => {
                format!("the number of rows to go back is {k}, but must be a whole number from 1")
            }
            None => "the number of rows to go back must be a constant".to_owned(),
        };
        self.fault(&ast.span, message, None);
        None
    }
}
