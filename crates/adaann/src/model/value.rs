//! What a formula can stand for: numbers, vectors, matrices, conditions and distributions.

use super::dims::Dims;
use crate::distribution::{Family, Spread};
use crate::program::{Condition, Expr, Way};

/// The value of a formula.
#[derive(Clone)]
pub(super) enum Value<'g> {
    Number(Expr<'g>),
    Vector(Vec<Expr<'g>>),
    /// Row by row, all rows equally long.
    Matrix(Vec<Vec<Expr<'g>>>),
    Truth(Truth<'g>),
    Law(Law<'g>),
    /// Something that was found wrong before: what is made of it is no further error.
    Unknown,
}

/// A value that is known.
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
    /// A distribution of single numbers; arguments are numbers, or vectors for a vector.
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
    /// Of correlation matrices, or of their Cholesky factors.
    Lkj {
        eta: Expr<'g>,
        is_factor: bool,
    },
    Mixture {
        weights: Vec<Expr<'g>>,
        parts: Vec<Self>,
    },
    /// One whose numbers are not always seen themselves.
    Censored {
        part: Box<Self>,
        limits: Censoring<'g>,
    },
    /// One between bounds, both included, normalised again.
    Truncated {
        part: Box<Self>,
        lower: Option<Expr<'g>>,
        upper: Option<Expr<'g>>,
    },
    /// 1, 2, ... by the logarithms of their probabilities.
    Categorical {
        log_p: Vec<Expr<'g>>,
        /// Is there a sense in which 2 is between 1 and 3?
        is_ordered: bool,
    },
    /// 0 with the probability p, else a count of the part; of a hurdle one above 0.
    WithZeros {
        p: Expr<'g>,
        part: Box<Self>,
        is_hurdle: bool,
    },
}

/// Where a number is not seen itself.
#[derive(Clone)]
pub(super) struct Censoring<'g> {
    /// What is here or below is only known to be so.
    pub(super) lower: Option<Expr<'g>>,
    /// What is here or above is only known to be so.
    pub(super) upper: Option<Expr<'g>>,
    /// Where it holds, the number is only known to be at most what was written down.
    pub(super) left: Option<Truth<'g>>,
    /// Where it holds, the number is only known to be at least what was written down.
    pub(super) right: Option<Truth<'g>>,
    /// The number is above what was written down, and at most this; nothing but the former if it is NaN.
    pub(super) until: Option<Expr<'g>>,
}

impl<'g> Truth<'g> {
    /// a = b, which holds for no NaN.
    pub(super) fn equal(a: Expr<'g>, b: Expr<'g>) -> Self {
        Self::And(Box::new([Self::Compare(a.le(b)), Self::Compare(a.ge(b))]))
    }

    /// `yes` where it holds, `no` elsewhere.
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
    /// What it is, in words for messages.
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

    /// How many numbers it holds; at least 1.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Vector(elements) => elements.len().max(1),
            Self::Matrix(rows) => rows.iter().map(Vec::len).sum::<usize>().max(1),
            Self::Number(_) | Self::Truth(_) | Self::Law(_) | Self::Unknown => 1,
        }
    }

    /// Its shape; nothing that is no number has one.
    pub(super) fn dims(&self) -> Dims {
        match self {
            Self::Vector(elements) => Dims::Vector(elements.len()),
            Self::Matrix(rows) => Dims::Matrix(rows.len(), rows.first().map_or(0, Vec::len)),
            Self::Number(_) | Self::Truth(_) | Self::Law(_) | Self::Unknown => Dims::Number,
        }
    }

    /// The same, where a condition is the number 1 if it holds and 0 if not.
    pub(super) fn into_numbers(self) -> Self {
        match self {
            Self::Truth(truth) => Self::Number(truth.select(1.0.into(), 0.0.into())),
            other => other,
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Its numbers, in order; none of a condition or a distribution.
    pub(super) fn numbers(&self) -> Vec<Expr<'g>> {
        match self {
            Self::Number(x) => vec![*x],
            Self::Vector(elements) => elements.clone(),
            Self::Matrix(rows) => rows.concat(),
            Self::Truth(_) | Self::Law(_) | Self::Unknown => Vec::new(),
        }
    }

    /// Element `i` of a vector, or the number that stands for each element.
    pub(super) fn element(&self, i: usize) -> Option<Expr<'g>> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Vector(elements) => elements.get(i).copied(),
            _ => None,
        }
    }
}

/// The number that all of some values are constant for, as plain numbers.
pub(super) fn constants(values: &[Expr<'_>]) -> Option<Vec<f64>> {
    values.iter().map(|x| x.as_constant()).collect()
}
