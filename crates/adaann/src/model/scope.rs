//! The values of names while a formula is evaluated.

use super::expression::Span;
use super::names::{Meaning, Reach};
use super::value::Value;
use crate::program::Expr;

/// The place of a formula, which determines the names that it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A constant, a bound or a size: other constants, and columns as vectors.
    Constant,
    /// A prior, or the density.
    Shared,
    /// A quantity that is the same for all rows.
    Quantity,
    /// A state's start: parameters, and columns that the rows of a subject share.
    Start,
    /// The rate of a state: the same, and also time and states.
    Rate,
    /// A formula along a trajectory: the same as for a rate.
    Path,
    /// A line of the likelihood: everything, at one row of the data.
    Row,
    /// The start of a series: everything except states, at the first row.
    First,
}

impl Place {
    /// Why a name with these dependencies cannot be used here.
    pub(super) fn refuses(self, reach: Reach) -> Option<&'static str> {
        match self {
            Self::Quantity if reach.trajectories => None,
            _ if reach.trajectories => {
                Some("it depends on whole trajectories, which are computed only for draws")
            }
            Self::Constant if reach.parameters => Some("a constant cannot depend on parameters"),
            Self::Shared | Self::Quantity | Self::Start if reach.states => {
                Some("states change with time, but this formula is the same for all times")
            }
            Self::Shared | Self::Quantity if reach.columns || reach.time => Some(
                "it differs between the rows of the data, but this formula is the same for all rows",
            ),
            Self::Start if reach.within_subject || reach.time => Some(
                "it differs between the rows of the data, but a start is the same for all of them",
            ),
            Self::Rate if reach.within_subject => Some(
                "rates can depend on time, states, parameters and columns that the rows of a subject \
                 share, but not on other columns",
            ),
            Self::Path if reach.within_subject => Some(
                "formulas along a trajectory can depend on time, states, parameters and columns that the rows of a subject \
                 share, but not on other columns",
            ),
            Self::First if reach.states => Some(
                "before the first row there are no states: a start can depend only on parameters and \
                 columns",
            ),
            _ => None,
        }
    }

    /// Is it evaluated at a row of the data?
    pub(super) fn is_at_row(self) -> bool {
        matches!(self, Self::Row | Self::First)
    }
}

/// A column at an earlier row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lag {
    pub(super) column: usize,
    pub(super) back: usize,
}

/// The value of a column at an earlier row.
#[derive(Clone, Copy)]
pub(super) struct Lagged<'g> {
    pub(super) lag: Lag,
    /// The value; 0 if there is none.
    pub(super) value: Expr<'g>,
    /// 1 if there is a value, otherwise 0.
    pub(super) is_there: Expr<'g>,
}

/// The values of names, by their index.
#[derive(Default)]
pub(super) struct Scope<'g> {
    pub(super) constants: Vec<Value<'g>>,
    /// Vectors outside rows, numbers at a row.
    pub(super) columns: Vec<Value<'g>>,
    /// For each named group, its columns.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) parameters: Vec<Value<'g>>,
    /// Those that have been evaluated.
    pub(super) quantities: Vec<Option<Value<'g>>>,
    pub(super) states: Vec<Expr<'g>>,
    /// The states of a series: those of the row, or those of the previous row while they are
    /// updated.
    pub(super) carried: Vec<Value<'g>>,
    /// Columns at earlier rows.
    pub(super) lags: Vec<Lagged<'g>>,
    pub(super) inputs: Vec<Expr<'g>>,
    /// Values of whole trajectories, by the calls that need them.
    pub(super) trajectories: Vec<(Span, Value<'g>)>,
    /// The number of values that may still be computed; None for no limit.
    pub(super) budget: Option<usize>,
    /// A vector outside rows, a number at a row.
    pub(super) time: Option<Value<'g>>,
}

impl<'g> Scope<'g> {
    /// The value of a name.
    pub(super) fn value(&self, meaning: Meaning) -> Value<'g> {
        let found = match meaning {
            Meaning::Constant(i) => self.constants.get(i).cloned(),
            Meaning::Column(i) => self.columns.get(i).cloned(),
            Meaning::Columns(i) => self.groups.get(i).map(|columns| self.group(columns)),
            Meaning::Parameter(i) => self.parameters.get(i).cloned(),
            Meaning::Quantity(i) => self.quantities.get(i).cloned().flatten(),
            Meaning::State(i) => self.states.get(i).map(|&x| Value::Number(x)),
            Meaning::Carried(i) => self.carried.get(i).cloned(),
            Meaning::Input(i) => self.inputs.get(i).map(|&x| Value::Number(x)),
            Meaning::Time => self.time.clone(),
            Meaning::Unread => None,
        };
        found.unwrap_or(Value::Unknown)
    }

    /// A group of columns as a vector, at a row.
    fn group(&self, columns: &[usize]) -> Value<'g> {
        let number = |&column: &usize| match self.columns.get(column) {
            Some(Value::Number(x)) => Some(*x),
            _ => None,
        };
        columns.iter().map(number).collect::<Option<_>>().map_or(Value::Unknown, Value::Vector)
    }
}
