//! Shapes of values, and the names of their elements.

/// The shape of a number, a vector or a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dims {
    Number,
    Vector(usize),
    /// Rows and columns.
    Matrix(usize, usize),
}

impl Dims {
    /// The number of elements.
    pub(super) fn len(self) -> usize {
        self.rows() * self.width()
    }

    /// The number of rows; a vector is one row.
    pub(super) fn rows(self) -> usize {
        match self {
            Self::Number | Self::Vector(_) => 1,
            Self::Matrix(rows, _) => rows,
        }
    }

    /// The number of elements per row.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Number => 1,
            Self::Vector(width) | Self::Matrix(_, width) => width,
        }
    }

    /// The names of all elements, row by row, with indices from 1.
    pub(super) fn names(self, name: &str) -> Vec<String> {
        match self {
            Self::Number => vec![name.to_owned()],
            Self::Vector(len) => (1..=len).map(|i| format!("{name}[{i}]")).collect(),
            Self::Matrix(rows, columns) => {
                let row = |i| (1..=columns).map(move |j| format!("{name}[{i},{j}]"));
                (1..=rows).flat_map(row).collect()
            }
        }
    }
}
