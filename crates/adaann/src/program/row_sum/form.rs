//! An affine form of crossing values, with separate coefficients for each row.

use super::compress;
use super::product::{add_scaled, backward, forward};
use super::row_graph::RowGraph;
use crate::program::affine::coefficients;
use crate::program::op::Node;
use crate::program::split::{Numbered, RowInput, Source};
use crate::program::{Block, Rows};
use fearless_simd::Simd;
use std::ops::Range;

/// η_row = c₀_row + Σ_j c_row,j·u_j + Σ_gathers c_row·v[index_row]
#[derive(Debug)]
pub(super) struct Form {
    /// The indices of the crossing values u_j.
    dense: Vec<usize>,
    /// c_row,j, row by row.
    matrix: Vec<f64>,
    offsets: Vec<f64>,
    gathered: Vec<Gathered>,
}

/// The index of the crossing value that each row takes, and its coefficient.
#[derive(Debug)]
struct Gathered {
    elements: Vec<u32>,
    coefficients: Vec<f64>,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(super) struct FormRoom {
    /// u_j for a block of samples, contiguous.
    u: Rows,
    /// Accumulated slopes in u_j.
    sums: Rows,
}

impl Form {
    /// Tabulates an affine node.
    pub(super) fn new(row: &mut RowGraph<'_>, node: Node, crossing: &mut Numbered<Node>) -> Self {
        let found = coefficients(&mut row.graph, node);
        let (mut dense, mut dense_nodes, mut gathered) = (Vec::new(), Vec::new(), Vec::new());
        for (input, coefficient) in found.terms {
            match row.sources[input] {
                Source::Crossing(of) => {
                    dense.push(crossing.number(of) as usize);
                    dense_nodes.push(coefficient);
                }
                Source::Row(RowInput::Gather(gather)) => gathered.push(Gathered {
                    elements: row.data.gathered(gather).map(|of| crossing.number(of)).collect(),
                    coefficients: finite(row.tabulate(&[coefficient])),
                }),
                Source::Row(_) => unreachable!("a sum over rows has no states"),
            }
        }
        Self {
            dense,
            matrix: finite(row.tabulate(&dense_nodes)),
            offsets: row.tabulate(&[found.offset]),
            gathered,
        }
    }

    /// Elementary operations of both products: with the values and with the slopes.
    pub(super) fn cost(&self) -> f64 {
        let terms = self.dense.len() + self.gathered.len();
        4.0 * (self.rows() * terms) as f64
    }

    pub(super) fn rows(&self) -> usize {
        self.offsets.len()
    }

    /// Replaces the rows by fewer with the same Σ_rows |scale|·η² and returns the sign of the
    /// scales. Leaves them unchanged if that does not reduce their number, or if the scales have
    /// both signs.
    pub(super) fn compress(&mut self, scales: &[f64]) -> Option<f64> {
        let width = self.dense.len() + 1;
        if !self.gathered.is_empty() || self.rows() <= width {
            return None;
        }
        let sign = compress::common_sign(scales)?;
        let mut rows = Vec::with_capacity(self.rows() * width);
        for (row, scale) in scales.iter().enumerate() {
            let root = scale.abs().sqrt();
            let own = &self.matrix[row * (width - 1)..][..width - 1];
            rows.extend(own.iter().chain([&self.offsets[row]]).map(|x| root * x));
        }
        compress::triangle(&mut rows, width)?;
        self.matrix = rows.chunks_exact(width).flat_map(|row| &row[..width - 1]).copied().collect();
        self.offsets = rows.chunks_exact(width).map(|row| row[width - 1]).collect();
        Some(sign)
    }

    pub(super) fn room(&self) -> FormRoom {
        let rows = Rows::zeros(self.dense.len());
        FormRoom { u: rows.clone(), sums: rows }
    }

    /// Copies the crossing values of a block of samples.
    #[inline(always)]
    pub(super) fn load(&self, room: &mut FormRoom, crossing: &[Block]) {
        for j in 0..self.dense.len() {
            room.u[j] = crossing[self.dense[j]];
        }
        room.sums.as_flattened_mut().fill(0.0);
    }

    /// η of some rows.
    #[inline(always)]
    pub(super) fn forward<S: Simd>(
        &self,
        simd: S,
        room: &FormRoom,
        crossing: &[Block],
        rows: Range<usize>,
        to: &mut [Block],
    ) {
        let matrix = &self.matrix[rows.start * self.dense.len()..];
        forward(simd, matrix, &self.offsets[rows.clone()], &room.u, to);
        for gathered in &self.gathered {
            for (row, to) in rows.clone().zip(&mut *to) {
                let element = &crossing[gathered.elements[row] as usize];
                add_scaled(simd, gathered.coefficients[row], element, to);
            }
        }
    }

    /// Accumulates slopes in the crossing values from those in η of some rows: here for the values
    /// that all rows use, in `slopes` for gathered ones.
    #[inline(always)]
    pub(super) fn backward<S: Simd>(
        &self,
        simd: S,
        room: &mut FormRoom,
        rows: Range<usize>,
        of_rows: &[&Block],
        slopes: &mut [Block],
    ) {
        let matrix = &self.matrix[rows.start * self.dense.len()..];
        backward(simd, matrix, of_rows, &mut room.sums);
        for gathered in &self.gathered {
            for (row, slope) in rows.clone().zip(of_rows) {
                let to = &mut slopes[gathered.elements[row] as usize];
                add_scaled(simd, gathered.coefficients[row], slope, to);
            }
        }
    }

    /// Adds the sums to the slopes of the crossing values.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&self, simd: S, room: &FormRoom, slopes: &mut [Block]) {
        for j in 0..self.dense.len() {
            add_scaled(simd, 1.0, &room.sums[j], &mut slopes[self.dense[j]]);
        }
    }
}

/// Replaces ln 0 by the lowest finite number. h ln 0 is still so far below 0 that 0^h = e^(h ln 0)
/// is 0, and its slope 0·ln 0 in h is the limit 0 instead of NaN.
fn finite(mut coefficients: Vec<f64>) -> Vec<f64> {
    let logs_of_zero = coefficients.iter_mut().filter(|c| **c == f64::NEG_INFINITY);
    logs_of_zero.for_each(|c| *c = -f64::MAX);
    coefficients
}
