//! Values of formulas: numbers, vectors, matrices, conditions and distributions.

use super::dims::Dims;
use crate::distribution::{Family, Spread};
use crate::program::{Condition, Expr, Way};

/// The value of a formula.
#[derive(Clone)]
pub(super) enum Value<'g> {
    Number(Expr<'g>),
    Vector(Vec<Expr<'g>>),
    /// Row by row, with rows of equal length.
    Matrix(Vec<Vec<Expr<'g>>>),
    Truth(Truth<'g>),
    Law(Law<'g>),
    /// The result of a mistake that has been reported; using it is no further mistake.
    Unknown,
}

/// A value in plain numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plain {
    Number(f64),
    Vector(Vec<f64>),
    Matrix(Vec<Vec<f64>>),
    Unknown,
}

/// A condition.
#[derive(Clone)]
pub(super) enum Truth<'g> {
    Compare(Condition<'g>),
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    Not(Box<Self>),
}

/// A distribution with its arguments.
#[derive(Clone)]
pub(super) enum Law<'g> {
    /// A distribution of single numbers; vector arguments make it a distribution of vectors.
    Of {
        family: Family,
        arguments: Vec<Value<'g>>,
    },
    MultiNormal {
        mean: Vec<Expr<'g>>,
        spread: Spread<'g>,
        way: Way,
    },
    Dirichlet {
        concentrations: Vec<Expr<'g>>,
    },
    /// A distribution of correlation matrices, or of their Cholesky factors.
    Lkj {
        eta: Expr<'g>,
        is_factor: bool,
    },
    Mixture {
        weights: Vec<Expr<'g>>,
        parts: Vec<Self>,
    },
    /// A distribution of censored measurements.
    Censored {
        part: Box<Self>,
        limits: Censoring<'g>,
    },
    /// A distribution restricted to bounds, both included, and renormalised.
    Truncated {
        part: Box<Self>,
        lower: Option<Expr<'g>>,
        upper: Option<Expr<'g>>,
    },
    /// 1, 2, ... with these log probabilities.
    Categorical {
        log_p: Vec<Expr<'g>>,
        /// Are the categories ordered?
        is_ordered: bool,
    },
    /// 0 with probability p, otherwise a count from the part; for a hurdle, a count above 0.
    WithZeros {
        p: Expr<'g>,
        part: Box<Self>,
        is_hurdle: bool,
    },
}

/// The limits beyond which only bounds are known.
#[derive(Clone)]
pub(super) struct Censoring<'g> {
    /// Values at or below this limit are known only to be there.
    pub(super) lower: Option<Expr<'g>>,
    /// Values at or above this limit are known only to be there.
    pub(super) upper: Option<Expr<'g>>,
    /// Where this holds, the value is known only to be at most the recorded one.
    pub(super) left: Option<Truth<'g>>,
    /// Where this holds, the value is known only to be at least the recorded one.
    pub(super) right: Option<Truth<'g>>,
    /// The value is above the recorded one and at most this; if this is NaN, it is only above the
    /// recorded one.
    pub(super) until: Option<Expr<'g>>,
}

impl<'g> Truth<'g> {
    /// a = b, which is false for NaN.
    pub(super) fn equal(a: Expr<'g>, b: Expr<'g>) -> Self {
        Self::And(Box::new([Self::Compare(a.le(b)), Self::Compare(a.ge(b))]))
    }

    /// `yes` where the condition holds, otherwise `no`.
    pub(super) fn select(&self, yes: Expr<'g>, no: Expr<'g>) -> Expr<'g> {
        match self {
            Self::Compare(condition) => condition.select(yes, no),
            Self::And(both) => {
                let second = both[1].select(yes, no);
                both[0].select(second, no)
            }
            Self::Or(either) => {
                let second = either[1].select(yes, no);
                either[0].select(yes, second)
            }
            Self::Not(condition) => condition.select(no, yes),
        }
    }
}

impl<'g> Value<'g> {
    /// The kind of value, for messages.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Number(_) => "a number".into(),
            Self::Vector(elements) => format!("a vector of {}", elements.len()),
            Self::Matrix(rows) => {
                format!("a matrix of {} × {}", rows.len(), rows.first().map_or(0, Vec::len))
            }
            Self::Truth(_) => "a condition".into(),
            Self::Law(_) => "a distribution".into(),
            Self::Unknown => "something unknown".into(),
        }
    }

    /// The number of elements, at least 1.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Vector(elements) => elements.len().max(1),
            Self::Matrix(rows) => rows.iter().map(Vec::len).sum::<usize>().max(1),
            Self::Number(_) | Self::Truth(_) | Self::Law(_) | Self::Unknown => 1,
        }
    }

    /// The shape; values without elements count as numbers.
    pub(super) fn dims(&self) -> Dims {
        match self {
            Self::Vector(elements) => Dims::Vector(elements.len()),
            Self::Matrix(rows) => Dims::Matrix(rows.len(), rows.first().map_or(0, Vec::len)),
            Self::Number(_) | Self::Truth(_) | Self::Law(_) | Self::Unknown => Dims::Number,
        }
    }

    /// The same value, with a condition converted to 1 or 0.
    pub(super) fn into_numbers(self) -> Self {
        match self {
            Self::Truth(truth) => Self::Number(truth.select(1.0.into(), 0.0.into())),
            other => other,
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The elements in order; none for a condition or a distribution.
    pub(super) fn numbers(&self) -> Vec<Expr<'g>> {
        match self {
            Self::Number(x) => vec![*x],
            Self::Vector(elements) => elements.clone(),
            Self::Matrix(rows) => rows.concat(),
            Self::Truth(_) | Self::Law(_) | Self::Unknown => Vec::new(),
        }
    }

    /// Element `i` of a vector; a number stands for every element.
    pub(super) fn element(&self, i: usize) -> Option<Expr<'g>> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Vector(elements) => elements.get(i).copied(),
            _ => None,
        }
    }
}

/// The values as plain numbers, if all of them are constants.
pub(super) fn constants(values: &[Expr<'_>]) -> Option<Vec<f64>> {
    values.iter().map(|x| x.as_constant()).collect()
}
