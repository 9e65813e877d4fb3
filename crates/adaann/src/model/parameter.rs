//! Parameters of a model: their coordinates and supports.

use super::dims::Dims;
use super::value::Value;
use crate::program::{Expr, in_triangle};
use crate::target::{Edge, Support};

/// A parameter: a number, or a vector or matrix of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) dims: Dims,
    pub(super) shape: Shape,
    /// The bounds given in the file.
    pub(super) low: Edge,
    pub(super) high: Edge,
    /// The index of its first coordinate.
    pub(super) first: usize,
}

/// The constraint between the elements of a parameter; in a matrix, between those of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Free,
    /// Each element is larger than the previous one.
    Ordered,
    /// Positive with sum 1; the last element is not a coordinate.
    Simplex,
    /// A correlation matrix. Coordinates are the elements of its Cholesky factor below the diagonal.
    Correlation,
    /// The Cholesky factor of a correlation matrix, with the same coordinates.
    CorrelationFactor,
}

impl Parameter {
    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.dims.len()
    }

    /// The number of coordinates.
    pub(super) fn coordinates(&self) -> usize {
        match self.shape {
            Shape::Free | Shape::Ordered => self.len(),
            Shape::Simplex => self.dims.rows() * (self.dims.width() - 1),
            Shape::Correlation | Shape::CorrelationFactor => {
                self.dims.rows() * (self.dims.rows() - 1) / 2
            }
        }
    }

    /// The names of its coordinates.
    pub(super) fn coordinate_names(&self) -> Vec<String> {
        let (name, width) = (&self.name, self.dims.width());
        let names = self.dims.names(name);
        match self.shape {
            Shape::Free | Shape::Ordered => names,
            Shape::Simplex => {
                names.chunks(width).flat_map(|row| row[..width - 1].to_vec()).collect()
            }
            Shape::CorrelationFactor => below_diagonal(width, |i, j| format!("{name}[{i},{j}]")),
            // In its first column the factor contains the correlations themselves.
            Shape::Correlation => below_diagonal(width, |i, j| match j {
                1 => format!("{name}[{i},{j}]"),
                _ => format!("cholesky({name})[{i},{j}]"),
            }),
        }
    }

    /// The elements that are neither coordinates nor constants, by name.
    pub(super) fn behind<'g>(&self, value: &Value<'g>) -> Vec<(String, Expr<'g>)> {
        let (width, coordinates) = (self.dims.width(), self.coordinate_names());
        let all = self.dims.names(&self.name).into_iter().zip(value.numbers()).enumerate();
        let is_behind = |i: usize, name: &String| match self.shape {
            Shape::Free | Shape::Ordered => false,
            Shape::Simplex => i % width == width - 1,
            Shape::Correlation => i / width > i % width && !coordinates.contains(name),
            Shape::CorrelationFactor => i / width == i % width && i > 0,
        };
        all.filter(|(i, (name, _))| is_behind(*i, name)).map(|(_, one)| one).collect()
    }

    /// Its value, from all coordinates.
    pub(super) fn value<'g>(&self, theta: &[Expr<'g>]) -> Value<'g> {
        self.value_of(&theta[self.first..][..self.coordinates()])
    }

    /// Its value, from its own coordinates.
    pub(super) fn value_of<'g>(&self, own: &[Expr<'g>]) -> Value<'g> {
        let width = self.dims.width();
        let rows: Vec<Vec<Expr<'g>>> = match self.shape {
            Shape::Free | Shape::Ordered => own.chunks(width).map(<[_]>::to_vec).collect(),
            Shape::Simplex => own.chunks(width - 1).map(with_last_part).collect(),
            Shape::CorrelationFactor => factor(width, own),
            Shape::Correlation => {
                let l = factor(width, own);
                let dot = |i: usize, j: usize| -> Expr<'g> {
                    if i == j {
                        1.0.into()
                    } else {
                        (0..=i.min(j)).map(|k| l[i][k] * l[j][k]).sum()
                    }
                };
                (0..width).map(|i| (0..width).map(|j| dot(i, j)).collect()).collect()
            }
        };
        match self.dims {
            Dims::Number => Value::Number(own[0]),
            Dims::Vector(_) => Value::Vector(rows.concat()),
            Dims::Matrix(..) => Value::Matrix(rows),
        }
    }

    /// The coordinates, from all elements; for a correlation matrix and for its factor, from the
    /// factor.
    pub(super) fn coordinates_of(&self, numbers: &[f64]) -> Vec<f64> {
        let width = self.dims.width();
        match self.shape {
            Shape::Free | Shape::Ordered => numbers.to_vec(),
            Shape::Simplex => {
                numbers.chunks(width).flat_map(|row| &row[..width - 1]).copied().collect()
            }
            Shape::Correlation | Shape::CorrelationFactor => {
                let row = |i: usize| &numbers[in_triangle(i, 0)..][..i];
                (0..width).flat_map(row).copied().collect()
            }
        }
    }

    /// The supports of its coordinates, given the bounds of its elements.
    pub(super) fn supports(&self, low: &Edge, high: &Edge) -> Vec<Support> {
        let simple = match (low, high) {
            (Edge::Open, Edge::Open) => Support::Real,
            (&Edge::At(low), Edge::Open) => Support::Above(low),
            (Edge::Open, &Edge::At(high)) => Support::Below(high),
            (&Edge::At(low), &Edge::At(high)) => Support::Between(low, high),
            _ => Support::Within { low: low.clone(), high: high.clone() },
        };
        let (rows, width) = (self.dims.rows(), self.dims.width());
        match self.shape {
            Shape::Free => vec![simple; self.len()],
            Shape::Ordered => {
                let mut row = vec![Support::After; width];
                row[0] = simple;
                vec![row; rows].concat()
            }
            Shape::Simplex => {
                let row: Vec<Support> =
                    (0..width - 1).map(|index| Support::Share { index, of: width }).collect();
                vec![row; rows].concat()
            }
            Shape::Correlation | Shape::CorrelationFactor => {
                let row = |i: usize| (0..i).map(|column| Support::Factor { column });
                (0..width).flat_map(row).collect()
            }
        }
    }
}

/// The Cholesky factor of a correlation matrix from its elements below the diagonal; rows have
/// length 1.
pub(super) fn factor<'g>(n: usize, below: &[Expr<'g>]) -> Vec<Vec<Expr<'g>>> {
    let mut below = below.iter().copied();
    (0..n)
        .map(|i| {
            let mut row: Vec<Expr<'g>> = below.by_ref().take(i).collect();
            let squares: Expr<'g> = row.iter().map(|x| x.square()).sum();
            // Keep the value positive, since rounding may give 0 and its logarithm is needed.
            row.push((1.0 - squares).max(f64::MIN_POSITIVE).sqrt());
            row.resize(n, 0.0.into());
            row
        })
        .collect()
}

/// A simplex from all parts but the last.
fn with_last_part<'g>(parts: &[Expr<'g>]) -> Vec<Expr<'g>> {
    // Keep the value positive, since rounding may give 0 and its logarithm is needed.
    let rest = 1.0 - parts.iter().sum::<Expr<'g>>();
    parts.iter().copied().chain([rest.max(f64::MIN_POSITIVE)]).collect()
}

/// A value for each position below the diagonal, with rows and columns counted from 1.
fn below_diagonal<T>(n: usize, of: impl Fn(usize, usize) -> T) -> Vec<T> {
    let of = &of;
    (1..=n).flat_map(|i| (1..i).map(move |j| of(i, j))).collect()
}
