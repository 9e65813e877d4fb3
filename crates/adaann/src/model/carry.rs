//! The states of a series as plain numbers, row by row, for predictions and simulated data.

use super::evaluate::Evaluator;
use super::expression::Ast;
use super::outline::Outline;
use super::scope::{Place, Scope};
use super::value::Value;
use crate::program::Expr;

impl Outline {
    /// Moves the states on to a row; its columns and the earlier columns are already in the scope.
    pub(super) fn carry_on(&self, scope: &mut Scope<'static>, begins: bool) {
        let Some(series) = self.file.series.as_ref().filter(|series| !series.states.is_empty())
        else {
            return;
        };
        // At this point the states are still those of the previous row.
        self.evaluate_quantities(scope, &mut Vec::new(), |reach| reach.is_of_rows());
        let place = if begins { Place::First } else { Place::Row };
        let mut moved = Vec::with_capacity(series.states.len());
        for (state, &size) in series.states.iter().zip(&self.series.sizes) {
            let ast = if begins { &state.start.ast } else { &state.next.ast };
            moved.push(self.state(scope, place, ast, size));
        }
        scope.carried = moved;
    }

    /// The value of a state by its formula; NaN if the formula has no value.
    fn state(
        &self,
        scope: &mut Scope<'static>,
        place: Place,
        ast: &Ast,
        size: Option<usize>,
    ) -> Value<'static> {
        let (names, mut faults) = (&self.names, Vec::new());
        let value =
            Evaluator { names, scope, place, faults: &mut faults, gather: None }.evaluate(ast);
        let nothing = || f64::NAN.into();
        match size {
            None => Value::Number(value.element(0).unwrap_or_else(nothing)),
            Some(size) => Value::Vector(
                (0..size).map(|i| value.element(i).unwrap_or_else(nothing)).collect::<Vec<Expr>>(),
            ),
        }
    }
}
