//! Constants of a model file: plain numbers, or formulas of other constants and of whole columns.

use super::diagnostic::Report;
use super::evaluate::{Evaluator, MOST_NUMBERS};
use super::expression::{Ast, Fault, Kind};
use super::file::{Constant, Formula, Name};
use super::names::{Meaning, each_name, in_order};
use super::outline::Outline;
use super::scope::Place;
use super::value::{Plain, Value, constants};
use crate::program::Expr;

impl Outline {
    pub(super) fn evaluate_constants(&mut self, report: &mut Report) {
        let nothing = Ast { kind: Kind::Number(0.0), span: 0..0 };
        let mut formulas: Vec<&Ast> = self
            .file
            .constants
            .iter()
            .map(|(_, constant)| match constant {
                Constant::Formula(formula) => &formula.ast,
                _ => &nothing,
            })
            .collect();
        let count = formulas.len();
        // Constants may depend on derived columns, and derived columns on constants.
        let derived: Vec<(usize, Name, Formula)> = self.derived();
        formulas.extend(derived.iter().map(|(_, _, formula)| &formula.ast));
        let place = |column: usize| derived.iter().position(|(own, ..)| *own == column);
        let needs = |ast: &&Ast| {
            let mut needed = Vec::new();
            each_name(ast, &mut |name| match self.names.find(name) {
                Some(Meaning::Constant(i)) => needed.push(i),
                Some(Meaning::Column(column)) => {
                    needed.extend(place(column).map(|derived| count + derived));
                }
                Some(Meaning::Columns(group)) => needed
                    .extend(self.group(group).iter().filter_map(|&c| place(c)).map(|d| count + d)),
                _ => {}
            });
            needed
        };
        let (order, cycle) = in_order(&formulas.iter().map(needs).collect::<Vec<_>>());
        if let Some(cycle) = cycle {
            let first = cycle[0];
            let (what, name) = match first.checked_sub(count) {
                None => ("constant", &self.file.constants[first].0),
                Some(own) => ("column", &derived[own].1),
            };
            let message = format!("the {what} `{}` depends on itself", name.text);
            report.error(&self.source, name.span.clone(), message, None);
        }
        self.constants = vec![Plain::Unknown; count];
        let mut faults = Vec::new();
        for &i in &order {
            if let Some(own) = i.checked_sub(count) {
                let (column, name, formula) = &derived[own];
                self.derive(*column, name, formula, &mut faults, report);
                continue;
            }
            let plain = match &self.file.constants[i].1 {
                Constant::Number(x) => Plain::Number(*x),
                Constant::Vector(x) => Plain::Vector(x.clone()),
                Constant::Matrix(x) => Plain::Matrix(x.clone()),
                Constant::Formula(formula) => self.constant(&formula.ast, &mut faults),
                Constant::File(_) => {
                    let table = self.tables.iter().find(|table| table.constant == i);
                    table.map_or(Plain::Unknown, |table| table.numbers.clone())
                }
            };
            self.constants[i] = plain;
        }
        self.say(faults, report);
    }

    /// The value of a formula of constants; adds its mistakes to `faults`.
    pub(super) fn constant(&self, ast: &Ast, faults: &mut Vec<Fault>) -> Plain {
        let mut scope = self.scope(&[]);
        scope.budget = Some(MOST_NUMBERS.max(10 * self.data.len()));
        let mut used = Vec::new();
        each_name(ast, &mut |name| {
            if let Some(Meaning::Column(column)) = self.names.find(name) {
                used.push(column);
            }
        });
        scope.columns = vec![Value::Unknown; self.data.columns.len()];
        for column in used {
            let values = self.data.columns[column].iter();
            // Sums and means skip missing values.
            let present = values.filter(|x| !x.is_nan()).map(|&x| x.into()).collect();
            scope.columns[column] = Value::Vector(present);
        }
        scope.time = self.time.map(|column| {
            Value::Vector(self.data.columns[column].iter().map(|&x| x.into()).collect())
        });
        let (names, place, gather) = (&self.names, Place::Constant, None);
        let value = Evaluator { names, scope: &mut scope, place, faults, gather }.evaluate(ast);
        let plain = |x: &[Expr<'_>]| constants(x).unwrap_or_default();
        match value {
            Value::Number(x) => x.as_constant().map_or(Plain::Unknown, Plain::Number),
            Value::Vector(x) => Plain::Vector(plain(&x)),
            Value::Matrix(rows) => Plain::Matrix(rows.iter().map(|row| plain(row)).collect()),
            Value::Unknown => Plain::Unknown,
            other => {
                let message = format!("expected a number, found {}", other.kind());
                faults.push(Fault { span: ast.span.clone(), message, help: None });
                Plain::Unknown
            }
        }
    }

    /// The value of a formula of constants; reports its mistakes.
    pub(super) fn constant_value(&self, formula: &Formula, report: &mut Report) -> Plain {
        let mut faults = Vec::new();
        let value = self.constant(&formula.ast, &mut faults);
        self.say(faults, report);
        value
    }

    /// A formula of constants that must be a number.
    pub(super) fn plain_number(&self, formula: &Formula, report: &mut Report) -> Option<f64> {
        match self.constant_value(formula, report) {
            Plain::Number(x) => Some(x),
            Plain::Unknown => None,
            _ => {
                let message = "expected a number, found a vector";
                report.error(&self.source, formula.span.clone(), message, None);
                None
            }
        }
    }
}
