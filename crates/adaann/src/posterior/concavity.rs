//! Proves that a recorded posterior is log-concave, from its graph and its data.

use super::recorded::{Line, Recorded};
use crate::program::{RowInput, Shape, shapes};
use crate::target::Support;

impl Recorded {
    /// Whether log prior + log likelihood is proved to be concave, in the parameters themselves or,
    /// with log|J| added, in their unconstrained values. The data enter as numbers: the column's
    /// values in the rows of a line give the sign of its factors.
    pub(crate) fn is_log_concave(&self, supports: &[Support]) -> bool {
        // The term of a series' last row is a function of all rows before.
        if self.series.as_ref().is_some_and(|series| series.last.is_some()) {
            return false;
        }
        let has_line = supports.iter().all(Shape::has_concave_jacobian);
        self.is_concave(supports, false) || has_line && self.is_concave(supports, true)
    }

    fn is_concave(&self, supports: &[Support], on_the_line: bool) -> bool {
        let parameter =
            |input: u32| supports.get(input as usize).map(|s| Shape::of_parameter(s, on_the_line));
        let free = shapes(&self.graph, |input| parameter(input).unwrap_or(Shape::UNKNOWN));
        let is_concave = |line: &Line| {
            let row = |input: u32| {
                let of_row = input as usize - self.parameters;
                self.of_row(self.row_inputs[of_row], &line.rows, &free)
            };
            let all = shapes(&self.graph, |input| parameter(input).unwrap_or_else(|| row(input)));
            line.rows.is_empty() || all[line.log_density.index()].is_concave()
        };
        let parts = [self.log_prior, self.direct];
        parts.iter().all(|part| free[part.index()].is_concave())
            && self.lines.iter().all(is_concave)
    }

    /// The shape of an input over some rows.
    fn of_row(&self, input: RowInput, rows: &[u32], free: &[Shape]) -> Shape {
        let numbers = |column: &[f64]| {
            let of = |row: &u32| column.get(*row as usize).copied().unwrap_or(f64::NAN);
            let is_non_finite = rows.iter().any(|row| of(row).is_nan());
            let low = rows.iter().map(of).fold(f64::INFINITY, f64::min);
            let high = rows.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            if is_non_finite { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) }
        };
        let number = |(low, high)| Shape::number(low, high);
        match input {
            RowInput::Column(column) => number(numbers(&self.columns[column])),
            RowInput::Time => {
                let times = self.system.as_ref().map_or(&[][..], |system| &system.times);
                number(numbers(times))
            }
            RowInput::Gather(gather) => {
                let of = &self.gathers[gather];
                let taken = rows.iter().map(|row| of.vector[of.index[*row as usize] as usize]);
                taken.map(|node| free[node.index()]).reduce(Shape::either).unwrap_or(Shape::UNKNOWN)
            }
            RowInput::State(_)
            | RowInput::Carried(_)
            | RowInput::Stretch(_)
            | RowInput::Event(_)
            | RowInput::Trajectory(_) => Shape::UNKNOWN,
        }
    }
}
