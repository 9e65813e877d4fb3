//! The support of a coordinate, and the map onto it from the whole line.
//!
//! Flows work on R^d. A coordinate θ with bounds is written θ = T(z), and the density of z gains
//! the Jacobian log T'(z), which belongs to the fixed part of every path and is never tempered.
//! Bounds may depend on earlier coordinates: the map of a whole point is then triangular, and its
//! determinant is still the product of the individual slopes.

use super::Edge;
use crate::{Error, Result, error};
use serde::{Deserialize, Serialize};

/// The support of a coordinate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// The whole line: θ = z.
    #[default]
    Real,
    /// Above a bound: θ = bound + eᶻ.
    Above(f64),
    /// Below a bound: θ = bound − eᶻ.
    Below(f64),
    /// Between two bounds: θ = low + (high − low)/(1 + e⁻ᶻ).
    Between(f64, f64),
    /// Above the coordinate before it: θ = before + eᶻ. An ordered vector is `Real`, `After`,
    /// `After`, and so on; with `Above(0.0)` in front it is positive too.
    After,
    /// A part of a simplex: θ = r/(1 + n e⁻ᶻ), where r is what the earlier parts leave of 1 and n
    /// is the number of parts still to come, so that z = 0 is the middle of the simplex. The last
    /// part is the remainder, and is not a coordinate.
    Share {
        /// The index of the part: from 0 to `of` − 2.
        index: usize,
        /// The number of parts, including the last.
        of: usize,
    },
    /// An element of a row of length 1, as in the Cholesky factor of a correlation matrix: θ = r
    /// tanh z, where r² is what the squares of the earlier elements leave of 1. The last element of
    /// the row is the square root of the remainder, and is not a coordinate.
    Factor {
        /// The index of the element in its row, from 0.
        column: usize,
    },
    /// Between two bounds, at least one of which depends on earlier coordinates; otherwise like
    /// `Above`, `Below` and `Between`. If the bounds have crossed, the interval is empty and the
    /// log Jacobian is −∞.
    Within {
        /// The lower bound.
        low: Edge,
        /// The upper bound.
        high: Edge,
    },
}

impl Support {
    /// Refuses bounds that are not finite or not in order, an `After` without a coordinate before
    /// it, and simplexes with missing parts.
    pub(crate) fn check(supports: &[Self]) -> Result<()> {
        for (d, support) in supports.iter().enumerate() {
            let refuse = |range: &str| {
                let value = format!("{support:?} for coordinate {}", d + 1);
                Err(error::setting("support", value, range))
            };
            let before = d.checked_sub(1).map(|d| &supports[d]);
            match *support {
                Self::Above(bound) | Self::Below(bound) if !bound.is_finite() => {
                    return refuse("bounded by a finite number");
                }
                Self::Between(low, high)
                    if !(low < high && low.is_finite() && high.is_finite()) =>
                {
                    return refuse("bounded by finite numbers in order");
                }
                Self::After
                    if matches!(before, None | Some(Self::Share { .. } | Self::Factor { .. })) =>
                {
                    return refuse("behind a coordinate that is no part of a simplex");
                }
                Self::Factor { column: 1.. } if !matches!((before, support), (Some(Self::Factor { column: a }), Self::Factor { column: b }) if a + 1 == *b) =>
                {
                    return refuse("behind the element before it of its row");
                }
                Self::Within { ref low, ref high } if !(low.is_before(d) && high.is_before(d)) => {
                    return refuse("bounded by finite numbers, or beside earlier coordinates");
                }
                Self::Share { index, of } => {
                    let follows = match index.checked_sub(1) {
                        None => true,
                        Some(index) => before == Some(&Self::Share { index, of }),
                    };
                    if of < 2 || index > of - 2 || !follows {
                        return refuse("a part from 0 to of − 2 that follows the part before it");
                    }
                    let next = Self::Share { index: index + 1, of };
                    if index < of - 2 && supports.get(d + 1) != Some(&next) {
                        return refuse("followed by the next part of its simplex");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The lowest and highest value of a coordinate, over all values of the others.
    pub fn bounds(&self) -> [f64; 2] {
        match *self {
            Self::Real | Self::After => [f64::NEG_INFINITY, f64::INFINITY],
            Self::Above(bound) => [bound, f64::INFINITY],
            Self::Below(bound) => [f64::NEG_INFINITY, bound],
            Self::Between(low, high) => [low, high],
            Self::Share { .. } => [0.0, 1.0],
            Self::Factor { .. } => [-1.0, 1.0],
            Self::Within { ref low, ref high } => {
                let fixed =
                    |edge: &Edge, open: f64| if let Edge::At(at) = edge { *at } else { open };
                [fixed(low, f64::NEG_INFINITY), fixed(high, f64::INFINITY)]
            }
        }
    }

    /// The interval of each coordinate of a point, given those before it.
    pub fn intervals(supports: &[Self], point: &[f64]) -> impl Iterator<Item = [f64; 2]> {
        let (mut before, mut left, mut squares) = (f64::NEG_INFINITY, 1.0, 0.0);
        supports.iter().zip(point).map(move |(support, &theta)| {
            let interval = match *support {
                Self::After => [before, f64::INFINITY],
                Self::Share { index, .. } => {
                    if index == 0 {
                        left = 1.0;
                    }
                    let interval = [0.0, left];
                    left -= theta;
                    interval
                }
                Self::Factor { column } => {
                    if column == 0 {
                        squares = 0.0;
                    }
                    let most = f64::sqrt(1.0 - squares);
                    squares += theta * theta;
                    [-most, most]
                }
                Self::Within { ref low, ref high } => {
                    [low.at(point, f64::NEG_INFINITY), high.at(point, f64::INFINITY)]
                }
                _ => support.bounds(),
            };
            before = theta;
            interval
        })
    }

    /// Whether every coordinate of a point is inside its support; always false for NaN and
    /// infinities.
    pub fn contain(supports: &[Self], point: &[f64]) -> bool {
        Self::intervals(supports, point)
            .zip(point)
            .all(|([low, high], &theta)| low < theta && theta < high)
    }

    /// z with T(z) = θ, given the interval that the earlier coordinates leave.
    pub(super) fn unconstrain(&self, theta: f64, [low, high]: [f64; 2]) -> Result<f64> {
        if !(low < theta && theta < high) {
            return Err(Error::Target(format!(
                "{theta} is outside its support {self}{}",
                match self {
                    Self::After
                    | Self::Share { .. }
                    | Self::Factor { .. }
                    | Self::Within { .. } => format!(", which is ({low}, {high}) here"),
                    _ => String::new(),
                }
            )));
        }
        Ok(match self {
            Self::Real => theta,
            Self::Above(_) | Self::After => (theta - low).ln(),
            Self::Below(_) => (high - theta).ln(),
            Self::Between(..) => ((theta - low) / (high - theta)).ln(),
            Self::Share { .. } => (theta / (high - theta)).ln() + self.parts_to_come().ln(),
            Self::Factor { .. } => 0.5 * ((theta - low) / (high - theta)).ln(),
            Self::Within { high: Edge::Open, .. } => (theta - low).ln(),
            Self::Within { low: Edge::Open, .. } => (high - theta).ln(),
            Self::Within { .. } => ((theta - low) / (high - theta)).ln(),
        })
    }

    /// Whether this coordinate depends on the one before it.
    pub(super) fn builds_on_before(&self) -> bool {
        matches!(self, Self::After | Self::Share { index: 1.., .. } | Self::Factor { column: 1.. })
    }

    /// The number of parts of the simplex after this one, including the last.
    pub(super) fn parts_to_come(&self) -> f64 {
        match *self {
            Self::Share { index, of } => (of - 1 - index) as f64,
            _ => 0.0,
        }
    }
}

impl std::fmt::Display for Support {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::After => write!(f, "(the coordinate before, inf)"),
            Self::Factor { column } => {
                write!(f, "(-1, 1) as element {} of a row of length 1", column + 1)
            }
            Self::Share { index, of } => write!(f, "(0, what part {} of {of} can be)", index + 1),
            Self::Within { low: Edge::Open, high } => write!(f, "(-inf, {high})"),
            Self::Within { low, high } => write!(f, "({low}, {high})"),
            alone => {
                let [low, high] = alone.bounds();
                write!(f, "({low}, {high})")
            }
        }
    }
}
