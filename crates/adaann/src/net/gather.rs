//! The gradient of a dense layer's weights: Σ_n g_n x_nᵀ over the points.

use super::{
    GROUP, Records,
    dense::{Dense, Place},
    tile::{Points, Row, Tile, Tiled, accumulate, cut},
};
use crate::simd::{F64, Kernel, Lane};
use fearless_simd::{Simd, SimdBase};

/// Adds the gradients of W and b to `sums`, or overwrites them if they are `fresh`. Entries beyond
/// the reach are undefined.
pub(super) struct Gather<'a> {
    pub(super) dense: &'a Dense,
    pub(super) place: Place,
    pub(super) records: Records,
    pub(super) tape: &'a [Row],
    pub(super) cotangents: &'a [Row],
    /// One row per point of the groups.
    pub(super) scratch: &'a mut [Row],
    pub(super) fresh: bool,
    pub(super) sums: &'a mut [f64],
}

impl Kernel for Gather<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { dense, place, records, tape, cotangents, scratch, fresh, sums } = self;
        let (g_matrix, g_bias) = sums.split_at_mut(dense.inputs * dense.outputs());
        // Transpose the side with fewer rows from rows of units to rows of points.
        let turn_inputs = dense.inputs <= dense.outputs();
        let (turned, turned_at, turned_len, held, held_at) = if turn_inputs {
            (tape, place.input, dense.inputs, cotangents, place.output)
        } else {
            (cotangents, place.output, dense.outputs(), tape, place.input)
        };
        let (held_stride, turned_stride) =
            if turn_inputs { (dense.inputs, 1) } else { (1, dense.inputs) };
        if turned_len == 1 {
            // A single row needs no transposition: sum along the lanes.
            let held_len = dense.inputs.max(dense.outputs());
            for row in (0..held_len).step_by(4) {
                let places = (held_at + row, turned_at);
                let mut sums = [0.0; 4];
                if row + 4 <= held_len {
                    sums = dots::<S, 4>(simd, records, held, turned, places);
                } else {
                    for m in 0..held_len - row {
                        let places = (places.0 + m, places.1);
                        [sums[m]] = dots::<S, 1>(simd, records, held, turned, places);
                    }
                }
                for m in 0..4.min(held_len - row) {
                    let to = &mut g_matrix[(row + m) * held_stride];
                    *to = if fresh { sums[m] } else { *to + sums[m] };
                }
            }
        }
        let tiled_len = if turned_len == 1 { 0 } else { turned_len };
        for first in (0..tiled_len).step_by(GROUP) {
            let width = GROUP.min(turned_len - first);
            for group in 0..records.groups() {
                let units = &turned[group * records.rows + turned_at + first..][..width];
                transpose(simd, units, &mut scratch[group * GROUP..][..GROUP]);
            }
            let rows = if turn_inputs {
                dense.first_reader[first]..dense.outputs()
            } else {
                0..dense.reach[first + width - 1]
            };
            let mut outer = Outer {
                held,
                held_at,
                held_stride,
                turned: scratch,
                turned_stride,
                records,
                fresh,
                width,
                g_matrix: &mut g_matrix[first * turned_stride..],
            };
            cut(simd, rows, width, &mut outer);
        }
        if fresh {
            g_bias.fill(0.0);
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

/// Σ_n a_n b_n for M rows a and one row b, at the given places of the records.
#[inline(always)]
fn dots<S: Simd, const M: usize>(
    simd: S,
    records: Records,
    a: &[Row],
    b: &[Row],
    (a_at, b_at): (usize, usize),
) -> [f64; M] {
    let lanes = <F64<S> as Lane<S>>::LEN;
    let mut sums = [F64::splat(simd, 0.0); M];
    let mut rest = [0.0; M];
    for group in 0..records.groups() {
        let a = a[group * records.rows + a_at..].first_chunk::<M>().expect("rows of the record");
        let b = &b[group * records.rows + b_at];
        let len = records.len(group);
        if len == GROUP {
            for at in (0..GROUP).step_by(lanes) {
                let b = F64::load(simd, &b[at..]);
                for m in 0..M {
                    sums[m] = F64::load(simd, &a[m][at..]).mul_add(b, sums[m]);
                }
            }
        } else {
            // Skip the padding.
            for n in 0..len {
                for m in 0..M {
                    rest[m] += a[m][n] * b[n];
                }
            }
        }
    }
    for m in 0..M {
        rest[m] += sums[m].add_lanes();
    }
    rest
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

/// Σ_n a_n b_nᵀ for the units of one side and up to [`GROUP`] units of the other.
struct Outer<'a> {
    /// One side, stored in records.
    held: &'a [Row],
    held_at: usize,
    /// Distance between its units' entries in the matrix.
    held_stride: usize,
    /// The transposed side, one row per point.
    turned: &'a [Row],
    turned_stride: usize,
    records: Records,
    fresh: bool,
    /// Units of the transposed side.
    width: usize,
    g_matrix: &'a mut [f64],
}

impl Tiled for Outer<'_> {
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const R: usize>(
        &mut self,
        simd: S,
        row: usize,
        _: usize,
        at: usize,
    ) {
        let lanes = <F64<S> as Lane<S>>::LEN;
        let mut tile: Tile<S, M, R> = [[F64::splat(simd, 0.0); R]; M];
        for group in 0..self.records.groups() {
            let held = &self.held[group * self.records.rows + self.held_at + row..];
            let held = Points(held.first_chunk::<M>().expect("rows of the record"));
            let turned = &self.turned[group * GROUP..][..self.records.len(group)];
            tile = accumulate(simd, &held, turned, at, tile);
        }
        let end = self.width.min(at + R * lanes);
        for m in 0..M {
            let to = &mut self.g_matrix[(row + m) * self.held_stride..];
            if self.turned_stride == 1 && end == at + R * lanes {
                let to = &mut to[at..end];
                for r in 0..R {
                    let to = &mut to[r * lanes..];
                    let sum =
                        if self.fresh { tile[m][r] } else { F64::load(simd, to) + tile[m][r] };
                    sum.store(to);
                }
                continue;
            }
            let mut sums = [0.0; GROUP];
            for r in 0..R {
                tile[m][r].store(&mut sums[at + r * lanes..]);
            }
            for i in at..end {
                let to = &mut to[i * self.turned_stride];
                *to = if self.fresh { sums[i] } else { *to + sums[i] };
            }
        }
    }
}

/// Transposes rows of units to rows of points; missing units are 0.
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
            // log₂(lanes) shuffles of halves transpose a square.
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
