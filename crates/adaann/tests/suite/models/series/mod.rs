//! Series, compared with models written out row by row, plain arithmetic and closed forms.

mod filters;
mod made;
mod unrolled;

use crate::support::common::Numbers;

/// A line of a file with a column.
fn column(name: &str, values: &[f64]) -> String {
    format!("{name} = {values:?}\n")
}

/// Numbers that resemble financial returns.
fn returns(count: usize, seed: u64) -> Vec<f64> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| 1.5 * numbers.normal() + 0.3).collect()
}
