//! One dense layer: y = W x + b over groups of points, and the cotangents of x.

use super::{
    Records,
    tile::{Columns, Row, Rows, Tile, Tiled, accumulate, cut},
};
use crate::simd::{F64, Kernel, Lane};
use fearless_simd::Simd;
use std::ops::Range;

/// The shape of a layer. Output i reads inputs 0 to `reach[i]` − 1. Reaches never decrease from one
/// output to the next, so that masked matrices are staircases and their zeros are skipped.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub(super) inputs: usize,
    pub(super) reach: Vec<usize>,
    /// For each input, the first output that reads it; one more entry after the last input.
    pub(super) first_reader: Vec<usize>,
}

impl Dense {
    pub(super) fn new(inputs: usize, reach: Vec<usize>) -> Self {
        debug_assert!(reach.is_sorted() && reach.last().is_none_or(|last| *last <= inputs));
        let first_reader =
            (0..=inputs).map(|input| reach.partition_point(|reach| *reach <= input)).collect();
        Self { inputs, reach, first_reader }
    }

    pub(super) fn outputs(&self) -> usize {
        self.reach.len()
    }

    /// Whether every output reads every input.
    pub(super) fn is_full(&self) -> bool {
        self.reach.iter().all(|reach| *reach == self.inputs)
    }

    /// Number of parameters: W, row by row, then b.
    pub(super) fn parameter_len(&self) -> usize {
        (self.inputs + 1) * self.outputs()
    }

    /// Splits the layer's parameters into W and b.
    #[inline(always)]
    fn split<'a>(&self, parameters: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        parameters.split_at(self.inputs * self.outputs())
    }
}

/// The places of a layer's blocks in a record; inputs come before outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) input: usize,
    pub(super) output: usize,
}

/// Computes outputs `rows` of the layer, clipped below at `floor`: 0 for rectified units, −∞ for
/// others.
pub(super) struct Apply<'a> {
    pub(super) dense: &'a Dense,
    /// W, with zeros beyond the reach, and b.
    pub(super) parameters: &'a [f64],
    pub(super) rows: Range<usize>,
    pub(super) floor: f64,
    pub(super) place: Place,
    pub(super) records: Records,
    pub(super) tape: &'a mut [Row],
}

impl Kernel for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (matrix, bias) = self.dense.split(self.parameters);
        let (rows, points) = (self.rows.clone(), self.records.points);
        cut(simd, rows, points, &mut Product { apply: self, matrix, bias });
    }
}

struct Product<'a, 'b> {
    apply: Apply<'a>,
    matrix: &'b [f64],
    bias: &'b [f64],
}

impl Tiled for Product<'_, '_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(
        &mut self,
        simd: S,
        row: usize,
        group: usize,
        at: usize,
    ) {
        let Apply { dense, place, records, floor, .. } = self.apply;
        let record = &mut self.apply.tape[group * records.rows..][..records.rows];
        let (before, after) = record.split_at_mut(place.output);
        let mut tile: Tile<S, M, R> = [[F64::splat(simd, 0.0); R]; M];
        for m in 0..M {
            tile[m] = [F64::splat(simd, self.bias[row + m]); R];
        }
        let input = &before[place.input..][..dense.reach[row + M - 1]];
        let rows = Rows::<M>::new(self.matrix, dense.inputs, row, input.len());
        let tile = accumulate(simd, &rows, input, at, tile);
        let floor = F64::splat(simd, floor);
        let output = &mut after[row..row + M];
        for m in 0..M {
            for r in 0..R {
                let lanes = &mut output[m][at + r * <F64<S> as Lane<S>>::LEN..];
                tile[m][r].max(floor).store(lanes);
            }
        }
    }
}

/// How the cotangents of an input combine with the existing numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// Overwrite them.
    Place,
    /// Overwrite them; 0 where the input, a rectified unit, is 0.
    Rectified,
    /// Add to them.
    Sum,
}

/// Computes the cotangents of inputs `columns` from those of all outputs that read them: Wᵀ g.
pub(super) struct Pull<'a> {
    pub(super) dense: &'a Dense,
    pub(super) parameters: &'a [f64],
    pub(super) columns: Range<usize>,
    pub(super) into: Into,
    pub(super) place: Place,
    pub(super) records: Records,
    pub(super) tape: &'a [Row],
    pub(super) cotangents: &'a mut [Row],
}

impl Kernel for Pull<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (matrix, _) = self.dense.split(self.parameters);
        let (columns, points) = (self.columns.clone(), self.records.points);
        cut(simd, columns, points, &mut Pulled { pull: self, matrix });
    }
}

struct Pulled<'a, 'b> {
    pull: Pull<'a>,
    matrix: &'b [f64],
}

impl Tiled for Pulled<'_, '_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(
        &mut self,
        simd: S,
        row: usize,
        group: usize,
        at: usize,
    ) {
        let Pull { dense, place, records, into, tape, .. } = self.pull;
        let lanes = <F64<S> as Lane<S>>::LEN;
        let record = group * records.rows..(group + 1) * records.rows;
        let input = &tape[record.clone()][place.input + row..][..M];
        let (before, after) = self.pull.cotangents[record].split_at_mut(place.output);
        let g_input = &mut before[place.input + row..][..M];
        let zero = F64::splat(simd, 0.0);
        let mut tile: Tile<S, M, R> = [[zero; R]; M];
        if into == Into::Sum {
            for m in 0..M {
                for r in 0..R {
                    tile[m][r] = F64::load(simd, &g_input[m][at + r * lanes..]);
                }
            }
        }
        let first = dense.first_reader[row];
        let readers = &after[first..dense.outputs()];
        // If no output reads a column, the matrix may end before the column begins.
        let matrix = self.matrix.get(first * dense.inputs + row..).unwrap_or(&[]);
        let columns = Columns { matrix, stride: dense.inputs };
        let tile = accumulate(simd, &columns, readers, at, tile);
        for m in 0..M {
            for r in 0..R {
                let mut g = tile[m][r];
                if into == Into::Rectified {
                    let h = F64::load(simd, &input[m][at + r * lanes..]);
                    g = F64::select(zero.lt(h), g, zero);
                }
                g.store(&mut g_input[m][at + r * lanes..]);
            }
        }
    }
}
