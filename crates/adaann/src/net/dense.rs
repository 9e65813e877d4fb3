//! One dense layer: y = W x + b over groups of points, and its backward pass.

use super::{
    GROUP, Records,
    tile::{Columns, Points, Row, Rows, Tile, Tiled, accumulate, cut},
};
use crate::simd::{F64, Kernel, Lane};
use fearless_simd::{Simd, SimdBase};
use std::ops::Range;

/// The shape of a layer. Output i reads inputs 0 to `reach[i]` − 1; reaches never fall from one
/// output to the next, so that masked layers are staircases and their zeros are skipped.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub(super) inputs: usize,
    reach: Vec<usize>,
    /// For each input, and one past the last: the first output that reads it.
    first_reader: Vec<usize>,
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

    /// Does every output read every input?
    pub(super) fn is_full(&self) -> bool {
        self.reach.iter().all(|reach| *reach == self.inputs)
    }

    /// How many inputs output `i` reads.
    pub(super) fn reach(&self, i: usize) -> usize {
        self.reach[i]
    }

    /// Numbers of W, row by row, and of b after it.
    pub(super) fn parameter_len(&self) -> usize {
        (self.inputs + 1) * self.outputs()
    }

    /// W and b of the layer's parameters.
    #[inline(always)]
    fn split<'a>(&self, parameters: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        parameters.split_at(self.inputs * self.outputs())
    }
}

/// Where a layer finds its blocks in a record: inputs stand before outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) input: usize,
    pub(super) output: usize,
}

/// Outputs `rows` of the layer, none below `floor`: 0 for rectified ones, −∞ for any.
pub(super) struct Apply<'a> {
    pub(super) dense: &'a Dense,
    /// W with zeros beyond the reach, and b.
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
        for group in 0..self.records.groups() {
            let record = &mut self.tape[group * self.records.rows..][..self.records.rows];
            let (before, after) = record.split_at_mut(self.place.output);
            let mut product = Product {
                dense: self.dense,
                matrix,
                bias,
                floor: self.floor,
                input: &before[self.place.input..][..self.dense.inputs],
                output: &mut after[..self.dense.outputs()],
            };
            cut(simd, self.rows.clone(), self.records.len(group), &mut product);
        }
    }
}

struct Product<'a> {
    dense: &'a Dense,
    matrix: &'a [f64],
    bias: &'a [f64],
    floor: f64,
    input: &'a [Row],
    output: &'a mut [Row],
}

impl Tiled for Product<'_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(&mut self, simd: S, row: usize, at: usize) {
        let mut tile: Tile<S, M, R> = [[F64::splat(simd, 0.0); R]; M];
        for m in 0..M {
            tile[m] = [F64::splat(simd, self.bias[row + m]); R];
        }
        let input = &self.input[..self.dense.reach[row + M - 1]];
        let rows = Rows::<M>::new(self.matrix, self.dense.inputs, row, input.len());
        let tile = accumulate(simd, &rows, input, at, tile);
        let floor = F64::splat(simd, self.floor);
        for m in 0..M {
            for r in 0..R {
                let lanes = &mut self.output[row + m][at + r * <F64<S> as Lane<S>>::LEN..];
                tile[m][r].max(floor).store(lanes);
            }
        }
    }
}

/// What the cotangents of an input do with what stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// Replace it.
    Place,
    /// Replace it; 0 where the input, a rectified unit, is 0.
    Rectified,
    /// Add to it.
    Sum,
}

/// Cotangents of inputs `columns` from those of all outputs that read them: Wᵀ g.
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
        for group in 0..self.records.groups() {
            let record = group * self.records.rows..(group + 1) * self.records.rows;
            let (before, after) = self.cotangents[record.clone()].split_at_mut(self.place.output);
            let mut pulled = Pulled {
                dense: self.dense,
                matrix,
                into: self.into,
                input: &self.tape[record][self.place.input..][..self.dense.inputs],
                g_input: &mut before[self.place.input..][..self.dense.inputs],
                g_output: &after[..self.dense.outputs()],
            };
            cut(simd, self.columns.clone(), self.records.len(group), &mut pulled);
        }
    }
}

struct Pulled<'a> {
    dense: &'a Dense,
    matrix: &'a [f64],
    into: Into,
    input: &'a [Row],
    g_input: &'a mut [Row],
    g_output: &'a [Row],
}

impl Tiled for Pulled<'_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(&mut self, simd: S, row: usize, at: usize) {
        let lanes = <F64<S> as Lane<S>>::LEN;
        let zero = F64::splat(simd, 0.0);
        let mut tile: Tile<S, M, R> = [[zero; R]; M];
        if self.into == Into::Sum {
            for m in 0..M {
                for r in 0..R {
                    tile[m][r] = F64::load(simd, &self.g_input[row + m][at + r * lanes..]);
                }
            }
        }
        let first = self.dense.first_reader[row];
        let readers = &self.g_output[first..];
        // With no reader the matrix may end before the column begins.
        let matrix = self.matrix.get(first * self.dense.inputs + row..).unwrap_or(&[]);
        let columns = Columns { matrix, stride: self.dense.inputs };
        let tile = accumulate(simd, &columns, readers, at, tile);
        for m in 0..M {
            for r in 0..R {
                let mut g = tile[m][r];
                if self.into == Into::Rectified {
                    let h = F64::load(simd, &self.input[row + m][at + r * lanes..]);
                    g = F64::select(zero.lt(h), g, zero);
                }
                g.store(&mut self.g_input[row + m][at + r * lanes..]);
            }
        }
    }
}

/// Adds the cotangents of W and b to `sums`. Entries beyond the reach receive numbers without
/// meaning.
pub(super) struct Gather<'a> {
    pub(super) dense: &'a Dense,
    pub(super) place: Place,
    pub(super) records: Records,
    pub(super) tape: &'a [Row],
    pub(super) cotangents: &'a [Row],
    /// A row for each point of the groups.
    pub(super) scratch: &'a mut [Row],
    pub(super) sums: &'a mut [f64],
}

impl Kernel for Gather<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { dense, place, records, tape, cotangents, scratch, sums } = self;
        let (g_matrix, g_bias) = sums.split_at_mut(dense.inputs * dense.outputs());
        for first in (0..dense.inputs).step_by(GROUP) {
            let width = GROUP.min(dense.inputs - first);
            for group in 0..records.groups() {
                let input = &tape[group * records.rows + place.input + first..][..width];
                transpose(simd, input, &mut scratch[group * GROUP..][..GROUP]);
            }
            let mut outer = Outer {
                stride: dense.inputs,
                first,
                width,
                output: place.output,
                records,
                cotangents,
                points: scratch,
                g_matrix,
            };
            cut(simd, dense.first_reader[first]..dense.outputs(), width, &mut outer);
        }
        for group in 0..records.groups() {
            let g_output = &cotangents[group * records.rows + place.output..][..dense.outputs()];
            let len = records.len(group);
            for i in 0..dense.outputs() {
                g_bias[i] += total(simd, &g_output[i], len);
            }
        }
    }
}

/// The sum of the first `len` numbers of a row.
#[inline(always)]
fn total<S: Simd>(simd: S, row: &Row, len: usize) -> f64 {
    let lanes = <F64<S> as Lane<S>>::LEN;
    if len == GROUP {
        let mut sum = F64::load(simd, row);
        for at in (lanes..GROUP).step_by(lanes) {
            sum = sum + F64::load(simd, &row[at..]);
        }
        return sum.add_lanes();
    }
    let mut sum = 0.0;
    for n in 0..len {
        sum += row[n];
    }
    sum
}

/// Σ_n g_n x_nᵀ for all outputs and up to [`GROUP`] inputs.
struct Outer<'a> {
    stride: usize,
    first: usize,
    width: usize,
    output: usize,
    records: Records,
    cotangents: &'a [Row],
    /// The inputs, a row for each point.
    points: &'a [Row],
    g_matrix: &'a mut [f64],
}

impl Tiled for Outer<'_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(&mut self, simd: S, row: usize, at: usize) {
        let lanes = <F64<S> as Lane<S>>::LEN;
        let mut tile: Tile<S, M, R> = [[F64::splat(simd, 0.0); R]; M];
        for group in 0..self.records.groups() {
            let g = &self.cotangents[group * self.records.rows + self.output + row..];
            let g = Points(g.first_chunk::<M>().expect("rows of the record"));
            let points = &self.points[group * GROUP..][..self.records.len(group)];
            tile = accumulate(simd, &g, points, at, tile);
        }
        for m in 0..M {
            let to = &mut self.g_matrix[(row + m) * self.stride + self.first..][..self.width];
            for r in 0..R {
                let column = at + r * lanes;
                if column + lanes <= self.width {
                    let to = &mut to[column..];
                    (F64::load(simd, to) + tile[m][r]).store(to);
                } else {
                    let mut rest = [0.0; 8];
                    tile[m][r].store(&mut rest);
                    for i in column..self.width {
                        to[i] += rest[i - column];
                    }
                }
            }
        }
    }
}

/// Turns rows of units into rows of points; units that are not there are 0.
#[inline(always)]
fn transpose<S: Simd>(simd: S, units: &[Row], points: &mut [Row]) {
    let lanes = <F64<S> as Lane<S>>::LEN;
    for unit in (0..units.len()).step_by(lanes) {
        for point in (0..GROUP).step_by(lanes) {
            let mut square = [F64::splat(simd, 0.0); 8];
            for i in 0..lanes {
                if unit + i < units.len() {
                    square[i] = F64::load(simd, &units[unit + i][point..]);
                }
            }
            // log₂(lanes) shuffles of halves turn a square.
            let mut size = 1;
            while size < lanes {
                let before = square;
                for i in 0..lanes / 2 {
                    let (low, high) = before[i].0.interleave(before[i + lanes / 2].0);
                    (square[2 * i], square[2 * i + 1]) = (F64(low), F64(high));
                }
                size *= 2;
            }
            for i in 0..lanes {
                square[i].store(&mut points[point + i][unit..]);
            }
        }
    }
}
