//! Bounds that move with earlier coordinates.

use crate::Batch;
use serde::{Deserialize, Serialize};

/// A bound: absent, constant, or linear in earlier coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// No bound.
    Open,
    /// A number.
    At(f64),
    /// offset + Σ factor · θ of earlier coordinates.
    Beside {
        /// The constant term.
        offset: f64,
        /// Coordinates, each with its factor.
        terms: Vec<(usize, f64)>,
    },
}

impl Edge {
    /// A bound at a number, or no bound if the number is infinite.
    pub fn new(bound: f64) -> Self {
        if bound.is_infinite() { Self::Open } else { Self::At(bound) }
    }

    /// The bound's value at a point; `open` if there is no bound.
    pub fn at(&self, point: &[f64], open: f64) -> f64 {
        match self {
            Self::Open => open,
            Self::At(bound) => *bound,
            Self::Beside { offset, terms } => {
                offset + terms.iter().map(|&(of, factor)| factor * point[of]).sum::<f64>()
            }
        }
    }

    /// Whether the bound depends on other coordinates.
    pub fn is_moving(&self) -> bool {
        matches!(self, Self::Beside { .. })
    }

    /// Whether the bound may belong to coordinate `d`, i.e. uses only coordinates before it.
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

    /// The coordinates that the bound depends on, each with its factor.
    pub(super) fn moves(&self) -> &[(usize, f64)] {
        match self {
            Self::Beside { terms, .. } => terms,
            _ => &[],
        }
    }

    /// The bound's value at each point, given the earlier coordinates.
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
