//! The matrix products behind all dense layers: tiles of a few rows by a few registers, held in
//! registers.
//!
//! A tile of M rows and R registers takes M + R loads for M·R fused products. Twelve accumulators
//! keep both multipliers of a core busy.

use super::GROUP;
use crate::simd::{F64, Lane};
use fearless_simd::Simd;
use std::ops::Range;

/// Accumulators: M rows of R registers.
pub(super) type Tile<S, const M: usize, const R: usize> = [[F64<S>; R]; M];

/// One row of numbers: one per point of a group.
pub(crate) type Row = [f64; GROUP];

/// The source of a tile's left factor.
pub(super) trait Left<const M: usize> {
    /// Entries (0, k) to (M − 1, k), rows counted from the tile's first.
    fn entries(&self, k: usize) -> [f64; M];
}

/// Adds Σ_k left(m, k) · right[k], for registers from column `at` on.
#[inline(always)]
pub(super) fn accumulate<S: Simd, const M: usize, const R: usize>(
    simd: S,
    left: &impl Left<M>,
    right: &[Row],
    at: usize,
    mut tile: Tile<S, M, R>,
) -> Tile<S, M, R> {
    let lanes = <F64<S> as Lane<S>>::LEN;
    // `at` is 0 if a group fits into four registers; the compiler knows this.
    let at = if GROUP <= 4 * lanes { 0 } else { at };
    for k in 0..right.len() {
        let (entries, row) = (left.entries(k), &right[k]);
        if M <= R {
            // Fewer rows than registers: hold the row factors and iterate over the columns.
            let mut factors = [F64::splat(simd, 0.0); M];
            for m in 0..M {
                factors[m] = F64::splat(simd, entries[m]);
            }
            for r in 0..R {
                let x = F64::load(simd, &row[at + r * lanes..]);
                for m in 0..M {
                    tile[m][r] = factors[m].mul_add(x, tile[m][r]);
                }
            }
        } else {
            let mut x = [F64::splat(simd, 0.0); R];
            for r in 0..R {
                x[r] = F64::load(simd, &row[at + r * lanes..]);
            }
            for m in 0..M {
                let factor = F64::splat(simd, entries[m]);
                for r in 0..R {
                    tile[m][r] = factor.mul_add(x[r], tile[m][r]);
                }
            }
        }
    }
    tile
}

/// Rows of a matrix: entry (m, k) of the tile is `rows[m][k]`.
pub(super) struct Rows<'a, const M: usize>([&'a [f64]; M]);

impl<'a, const M: usize> Rows<'a, M> {
    /// M rows from row `first` on of a matrix with `stride` numbers per row, `terms` numbers of
    /// each.
    #[inline(always)]
    pub(super) fn new(matrix: &'a [f64], stride: usize, first: usize, terms: usize) -> Self {
        let mut rows: [&[f64]; M] = [&[]; M];
        for m in 0..M {
            rows[m] = &matrix[(first + m) * stride..][..terms];
        }
        Self(rows)
    }
}

impl<const M: usize> Left<M> for Rows<'_, M> {
    #[inline(always)]
    fn entries(&self, k: usize) -> [f64; M] {
        let mut entries = [0.0; M];
        for m in 0..M {
            entries[m] = self.0[m][k];
        }
        entries
    }
}

/// Columns of a matrix: entry (m, k) of the tile is `matrix[k * stride + m]`.
pub(super) struct Columns<'a> {
    pub(super) matrix: &'a [f64],
    pub(super) stride: usize,
}

impl<const M: usize> Left<M> for Columns<'_> {
    #[inline(always)]
    fn entries(&self, k: usize) -> [f64; M] {
        *self.matrix[k * self.stride..].first_chunk().expect("a column of the matrix")
    }
}

/// Rows of a group of points: entry (m, n) of the tile is `rows[m][n]`.
pub(super) struct Points<'a, const M: usize>(pub(super) &'a [Row; M]);

impl<const M: usize> Left<M> for Points<'_, M> {
    #[inline(always)]
    fn entries(&self, n: usize) -> [f64; M] {
        let mut entries = [0.0; M];
        for m in 0..M {
            // The remainder tells the compiler that n is in range.
            entries[m] = self.0[m][n % GROUP];
        }
        entries
    }
}

/// Work over rows and columns, split into tiles.
pub(super) trait Tiled {
    /// Processes M rows from row `row` on and R registers from column `at` of group `group` on.
    /// Must be `#[inline(always)]`.
    fn tile<S: Simd, const M: usize, const R: usize>(
        &mut self,
        simd: S,
        row: usize,
        group: usize,
        at: usize,
    );
}

/// Splits `rows` and all columns into tiles; the columns are groups of [`GROUP`] and a shorter last
/// group. A register may extend beyond the columns into the last group's padding.
///
/// All groups are processed for one set of rows before the next, so that data of the rows, such as
/// weights, is read once.
#[inline(always)]
pub(super) fn cut<S: Simd>(simd: S, rows: Range<usize>, columns: usize, work: &mut impl Tiled) {
    let lanes = <F64<S> as Lane<S>>::LEN;
    let (whole, rest) = (columns / GROUP, columns % GROUP);
    for at in (0..GROUP).step_by(4 * lanes) {
        // Twelve accumulators, for any number of registers.
        if GROUP >= 4 * lanes {
            strip::<S, 3, 4>(simd, rows.clone(), 0..whole, at, work);
        } else {
            strip::<S, 6, 2>(simd, rows.clone(), 0..whole, at, work);
        }
    }
    for at in (0..rest).step_by(4 * lanes) {
        let last = whole..whole + 1;
        match (rest - at).div_ceil(lanes) {
            1 => strip::<S, 12, 1>(simd, rows.clone(), last, at, work),
            2 => strip::<S, 6, 2>(simd, rows.clone(), last, at, work),
            3 => strip::<S, 4, 3>(simd, rows.clone(), last, at, work),
            _ => strip::<S, 3, 4>(simd, rows.clone(), last, at, work),
        }
    }
}

/// Processes R registers of all rows and some groups.
#[inline(always)]
fn strip<S: Simd, const M: usize, const R: usize>(
    simd: S,
    rows: Range<usize>,
    groups: Range<usize>,
    at: usize,
    work: &mut impl Tiled,
) {
    let mut row = rows.start;
    while rows.end - row >= M {
        for group in groups.clone() {
            work.tile::<S, M, R>(simd, row, group, at);
        }
        row += M;
    }
    if M > 4 {
        while rows.end - row >= 4 {
            for group in groups.clone() {
                work.tile::<S, 4, R>(simd, row, group, at);
            }
            row += 4;
        }
    }
    while rows.end - row >= 2 {
        for group in groups.clone() {
            work.tile::<S, 2, R>(simd, row, group, at);
        }
        row += 2;
    }
    if row < rows.end {
        for group in groups {
            work.tile::<S, 1, R>(simd, row, group, at);
        }
    }
}
