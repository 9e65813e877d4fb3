//! Bounds that move with an earlier coordinate.

use crate::Batch;
use serde::{Deserialize, Serialize};

/// A bound: nowhere, a number, or a multiple of an earlier coordinate and a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// No bound.
    Open,
    /// A number.
    At(f64),
    /// offset + factor · θ of an earlier coordinate.
    Beside {
        /// Which coordinate.
        of: usize,
        /// What it is multiplied by.
        factor: f64,
        /// What is added.
        offset: f64,
    },
}

impl Edge {
    /// Where it is at a point; `open` if it is nowhere.
    pub fn at(self, point: &[f64], open: f64) -> f64 {
        match self {
            Self::Open => open,
            Self::At(bound) => bound,
            Self::Beside { of, factor, offset } => offset + factor * point[of],
        }
    }

    /// Can it be a bound of coordinate number `d`?
    pub(super) fn is_before(self, d: usize) -> bool {
        match self {
            Self::Open => true,
            Self::At(bound) => bound.is_finite(),
            Self::Beside { of, factor, offset } => {
                of < d && factor.is_finite() && offset.is_finite()
            }
        }
    }

    /// The coordinate that it moves with, and how fast.
    pub(super) fn moves(self) -> Option<(usize, f64)> {
        match self {
            Self::Beside { of, factor, .. } => Some((of, factor)),
            _ => None,
        }
    }

    /// Where it is, point by point, once the earlier coordinates are known.
    pub(super) fn fill(self, theta: &Batch, to: &mut [f64]) {
        match self {
            Self::Open => {}
            Self::At(bound) => to.fill(bound),
            Self::Beside { of, factor, offset } => {
                for (to, theta) in to.iter_mut().zip(theta.padded_row(of)) {
                    *to = offset + factor * theta;
                }
            }
        }
    }
}

impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Open => write!(f, "inf"),
            Self::At(bound) => write!(f, "{bound}"),
            Self::Beside { of, factor, offset } => {
                write!(f, "{offset} + {factor} times coordinate {}", of + 1)
            }
        }
    }
}
