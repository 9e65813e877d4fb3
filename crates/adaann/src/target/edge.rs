//! Bounds that move with earlier coordinates.

use crate::Batch;
use serde::{Deserialize, Serialize};

/// A bound: nowhere, a number, or a number and multiples of earlier coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// No bound.
    Open,
    /// A number.
    At(f64),
    /// offset + Σ factor · θ of earlier coordinates.
    Beside {
        /// The number.
        offset: f64,
        /// Coordinates, each with its factor.
        terms: Vec<(usize, f64)>,
    },
}

impl Edge {
    /// A bound at a number, or none if that is infinite.
    pub fn new(bound: f64) -> Self {
        if bound.is_infinite() { Self::Open } else { Self::At(bound) }
    }

    /// Where it is at a point; `open` if it is nowhere.
    pub fn at(&self, point: &[f64], open: f64) -> f64 {
        match self {
            Self::Open => open,
            Self::At(bound) => *bound,
            Self::Beside { offset, terms } => {
                offset + terms.iter().map(|&(of, factor)| factor * point[of]).sum::<f64>()
            }
        }
    }

    /// Does it move?
    pub fn is_moving(&self) -> bool {
        matches!(self, Self::Beside { .. })
    }

    /// Can it be a bound of coordinate number `d`?
    pub(super) fn is_before(&self, d: usize) -> bool {
        match self {
            Self::Open => true,
            Self::At(bound) => bound.is_finite(),
            Self::Beside { offset, terms } => {
                let is_earlier = |&(of, factor): &(usize, f64)| of < d && factor.is_finite();
                offset.is_finite() && terms.iter().all(is_earlier)
            }
        }
    }

    /// The coordinates that it moves with, and how fast with each.
    pub(super) fn moves(&self) -> &[(usize, f64)] {
        match self {
            Self::Beside { terms, .. } => terms,
            _ => &[],
        }
    }

    /// Where it is, point by point, once the earlier coordinates are known.
    pub(super) fn fill(&self, theta: &Batch, to: &mut [f64]) {
        match self {
            Self::Open => {}
            Self::At(bound) => to.fill(*bound),
            Self::Beside { offset, terms } => {
                to.fill(*offset);
                for &(of, factor) in terms {
                    for (to, theta) in to.iter_mut().zip(theta.padded_row(of)) {
                        *to += factor * theta;
                    }
                }
            }
        }
    }
}

impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open => write!(f, "inf"),
            Self::At(bound) => write!(f, "{bound}"),
            Self::Beside { offset, terms } => {
                write!(f, "{offset}")?;
                for (of, factor) in terms {
                    write!(f, " + {factor} times coordinate {}", of + 1)?;
                }
                Ok(())
            }
        }
    }
}
