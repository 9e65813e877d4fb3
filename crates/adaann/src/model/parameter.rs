//! Parameters of a model: their coordinates, where they live, and their priors.

use super::value::Value;
use crate::program::Expr;
use crate::target::Support;

/// A parameter: a number, or a vector of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// The length of a vector; none for a number.
    pub(super) size: Option<usize>,
    pub(super) shape: Shape,
    /// The bounds that the file gives.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Its first coordinate.
    pub(super) first: usize,
}

/// How the elements of a parameter are tied to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Free,
    /// Each above the one before.
    Ordered,
    /// Positive with sum 1; the last one is no coordinate.
    Simplex,
}

impl Parameter {
    /// How many numbers it has.
    pub(super) fn len(&self) -> usize {
        self.size.unwrap_or(1)
    }

    /// How many coordinates it has.
    pub(super) fn coordinates(&self) -> usize {
        if self.shape == Shape::Simplex { self.len() - 1 } else { self.len() }
    }

    /// The names of all its numbers.
    pub(super) fn names(&self) -> Vec<String> {
        element_names(&self.name, self.size)
    }

    /// Its value, from all coordinates.
    pub(super) fn value<'g>(&self, theta: &[Expr<'g>]) -> Value<'g> {
        let mut own = theta[self.first..][..self.coordinates()].to_vec();
        if self.shape == Shape::Simplex {
            // Rounding may leave nothing, of which there is no logarithm.
            let rest = 1.0 - own.iter().sum::<Expr<'g>>();
            own.push(rest.max(f64::MIN_POSITIVE));
        }
        if self.size.is_some() { Value::Vector(own) } else { Value::Number(own[0]) }
    }

    /// Its coordinates, from all its numbers.
    pub(super) fn coordinates_of<'n>(&self, numbers: &'n [f64]) -> &'n [f64] {
        &numbers[..self.coordinates()]
    }

    /// Where its coordinates live, given the bounds of its numbers.
    pub(super) fn supports(&self, low: f64, high: f64) -> Vec<Support> {
        let simple = match (low.is_finite(), high.is_finite()) {
            (false, false) => Support::Real,
            (true, false) => Support::Above(low),
            (false, true) => Support::Below(high),
            (true, true) => Support::Between(low, high),
        };
        match self.shape {
            Shape::Free => vec![simple; self.len()],
            Shape::Ordered => {
                let mut supports = vec![Support::After; self.len()];
                supports[0] = simple;
                supports
            }
            Shape::Simplex => {
                let of = self.len();
                (0..of - 1).map(|index| Support::Share { index, of }).collect()
            }
        }
    }
}

/// The names of a number or of the elements of a vector, from 1.
pub(super) fn element_names(name: &str, size: Option<usize>) -> Vec<String> {
    match size {
        None => vec![name.to_owned()],
        Some(size) => (1..=size).map(|i| format!("{name}[{i}]")).collect(),
    }
}
