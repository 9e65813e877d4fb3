//! What names stand for while a formula is evaluated.

use super::expression::Span;
use super::names::{Meaning, Reach};
use super::value::Value;
use crate::program::Expr;

/// Where a formula stands, and so which names it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A constant, a bound or a size: other constants, and columns as vectors.
    Constant,
    /// A prior, or the density.
    Shared,
    /// A quantity that is the same for all rows.
    Quantity,
    /// A state's start: parameters, and what all rows of a subject share.
    Start,
    /// The rate of a state: the same, time and states.
    Rate,
    /// What is asked about along a trajectory: all that a rate knows.
    Path,
    /// A line of the likelihood: everything, at one row of the data.
    Row,
    /// What a series starts with: all but states, at the first row.
    First,
}

impl Place {
    /// Why a name that reaches so far cannot be used here.
    pub(super) fn refuses(self, reach: Reach) -> Option<&'static str> {
        match self {
            Self::Quantity if reach.trajectories => None,
            _ if reach.trajectories => {
                Some("it is of whole trajectories, which are known of draws alone")
            }
            Self::Constant if reach.parameters => Some("a constant cannot depend on parameters"),
            Self::Shared | Self::Quantity | Self::Start if reach.states => {
                Some("states change with time, and this is the same for all times")
            }
            Self::Shared | Self::Quantity if reach.columns || reach.time => {
                Some("it differs between the rows of the data, and this is the same for all rows")
            }
            Self::Start if reach.within_subject || reach.time => Some(
                "it differs between the rows of the data, and a start is the same for all of them",
            ),
            Self::Rate if reach.within_subject => {
                Some("rates know time, states and parameters, but not the rows of the data")
            }
            Self::Path if reach.within_subject => Some(
                "along a trajectory there are time, states, parameters and what all rows of a subject \
                 share, but not the rows of the data",
            ),
            Self::First if reach.states => Some(
                "before the first row there are no states: a start names parameters and columns",
            ),
            _ => None,
        }
    }

    /// Is it at a row of the data?
    pub(super) fn is_at_row(self) -> bool {
        matches!(self, Self::Row | Self::First)
    }
}

/// A column so many rows before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lag {
    pub(super) column: usize,
    pub(super) back: usize,
}

/// The value of a column at an earlier row.
#[derive(Clone, Copy)]
pub(super) struct Lagged<'g> {
    pub(super) lag: Lag,
    /// 0 where there is none.
    pub(super) value: Expr<'g>,
    /// 1 where there is one, 0 elsewhere.
    pub(super) is_there: Expr<'g>,
}

/// The values of names, by their numbers.
#[derive(Default)]
pub(super) struct Scope<'g> {
    pub(super) constants: Vec<Value<'g>>,
    /// Vectors outside the rows, numbers inside.
    pub(super) columns: Vec<Value<'g>>,
    /// For each name of several columns, which ones.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) parameters: Vec<Value<'g>>,
    /// Those that are there by now.
    pub(super) quantities: Vec<Option<Value<'g>>>,
    pub(super) states: Vec<Expr<'g>>,
    /// States of a series: of the row, or of the row before where they are moved on.
    pub(super) carried: Vec<Value<'g>>,
    /// Columns at earlier rows.
    pub(super) lags: Vec<Lagged<'g>>,
    pub(super) inputs: Vec<Expr<'g>>,
    /// Numbers of whole trajectories, by the calls that ask for them.
    pub(super) trajectories: Vec<(Span, Value<'g>)>,
    /// How many numbers may still be computed; no limit if none.
    pub(super) budget: Option<usize>,
    /// A vector outside the rows, a number inside.
    pub(super) time: Option<Value<'g>>,
}

impl<'g> Scope<'g> {
    /// What a name stands for here.
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

    /// Several columns as one vector of the row.
    fn group(&self, columns: &[usize]) -> Value<'g> {
        let number = |&column: &usize| match self.columns.get(column) {
            Some(Value::Number(x)) => Some(*x),
            _ => None,
        };
        columns.iter().map(number).collect::<Option<_>>().map_or(Value::Unknown, Value::Vector)
    }
}
