//! Reduces the rows of sums of squares of one form: Σ_rows (c_row·u)² = ‖R u‖² for a QR
//! decomposition of the coefficients, which has as many rows as the form has coefficients.

use crate::program::graph::Graph;
use crate::program::op::{Binary, Node, Op};

/// s of a sum s·form² with a uniform s.
pub(super) fn scale_of_square(graph: &mut Graph, form: Node, sum: Node) -> Option<Node> {
    let (scale, square) = match graph.as_scaled(sum) {
        Some(parts) => parts,
        None => (graph.constant(1.0), sum),
    };
    (graph.op(square) == Op::Binary(Binary::Mul, [form, form])).then_some(scale)
}

/// 1 if no scale is negative, −1 if none is positive.
pub(super) fn common_sign(scales: &[f64]) -> Option<f64> {
    if !scales.iter().all(|scale| scale.is_finite()) {
        None
    } else if scales.iter().all(|scale| *scale >= 0.0) {
        Some(1.0)
    } else if scales.iter().all(|scale| *scale <= 0.0) {
        Some(-1.0)
    } else {
        None
    }
}

/// The Householder triangle of a matrix with more rows than columns, in place and row by row.
/// `None` if it has numbers that are not finite, or whose squares may overflow.
pub(super) fn triangle(matrix: &mut Vec<f64>, width: usize) -> Option<()> {
    const LARGE: f64 = 1e150;
    let rows = matrix.len() / width;
    if !matrix.iter().all(|x| x.abs() < LARGE) {
        return None;
    }
    for column in 0..width {
        let norm =
            (column..rows).map(|row| matrix[row * width + column].powi(2)).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        // v = x − alpha·e, where the sign of alpha avoids cancellation.
        let alpha = -norm.copysign(matrix[column * width + column]);
        let v: Vec<f64> = (column..rows)
            .map(|row| matrix[row * width + column] - if row == column { alpha } else { 0.0 })
            .collect();
        let half_square = norm * (norm + matrix[column * width + column].abs());
        for other in column..width {
            let below = (column..rows).map(|row| row * width + other);
            let dot: f64 = below.clone().zip(&v).map(|(at, v)| matrix[at] * v).sum();
            for (at, v) in below.zip(&v) {
                matrix[at] -= dot / half_square * v;
            }
        }
        for row in column + 1..rows {
            matrix[row * width + column] = 0.0;
        }
    }
    matrix.truncate(width * width);
    Some(())
}
