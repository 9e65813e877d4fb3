//! Data as a table: named columns of numbers.

/// Named columns of numbers; NaN where a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The rows, each with a number for every column.
    pub rows: Vec<Vec<f64>>,
}
