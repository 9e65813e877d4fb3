//! Shared by all printers of formulas: parentheses, and the digits of numbers.

use crate::model::expression::{Ast, Kind, Level, Operator};
use crate::model::trajectory_functions::TrajectoryFunction;

/// The precedence of a printed formula.
pub(super) fn level(ast: &Ast) -> Level {
    match ast.kind {
        Kind::Number(value) if value.is_sign_negative() => Level::Negation,
        _ => ast.level(),
    }
}

/// Does an operand need parentheses on its side of an operator?
///
/// `exact` keeps parentheses that only determine the order in which a sum or product is computed.
pub(super) fn needs_parentheses(
    operator: Operator,
    operand: &Ast,
    is_right: bool,
    exact: bool,
) -> bool {
    let (own, inner) = (operator.level(), level(operand));
    match (own, is_right) {
        (Level::Power, false) => inner < Level::Whole,
        (Level::Power, true) => inner < Level::Negation,
        (Level::Comparison, _) => inner <= own,
        (_, false) => inner < own,
        // a - (-b), a·(-b): avoid two consecutive signs.
        (Level::Sum | Level::Product, true) if inner == Level::Negation => true,
        (_, true) if inner == own && !exact => {
            let regroups =
                matches!(operator, Operator::Add | Operator::Multiply) && !is_product(operand);
            !regroups && own > Level::Comparison
        }
        (_, true) => inner <= own,
    }
}

/// Is it a product of matrices, whose factors must stay together?
fn is_product(ast: &Ast) -> bool {
    matches!(ast.kind, Kind::Binary { operator: Operator::MatMul, .. })
}

/// A number with as many digits as necessary.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() || (1e-4..1e15).contains(&size) {
        return value.to_string();
    }
    format!("{value:e}")
}

/// The function, formula and times of a call of a function of trajectories.
pub(super) fn of_trajectory<'a>(
    name: &str,
    arguments: &'a [Ast],
) -> Option<(TrajectoryFunction, &'a Ast, &'a [Ast])> {
    let function = TrajectoryFunction::named(name)?;
    let (formula, times) = arguments.split_first()?;
    (times.len() == function.times()).then_some((function, formula, times))
}

/// The number of rows that a call of `before` goes back, if it fits into a subscript.
pub(super) fn rows_back(arguments: &[Ast]) -> Option<f64> {
    match arguments {
        [_] => Some(1.0),
        [_, Ast { kind: Kind::Number(back), .. }] => Some(*back),
        _ => None,
    }
}
