//! A square matrix for each sample in a register, in whole tiles, and products of its tiles.
//!
//! Beyond the matrix, the tiles hold the identity, so that no partial tiles occur.

use crate::batch::{Block, PAD};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Rows and columns of a tile: sixteen independent sums, which fit the registers.
pub(super) const TILE: usize = 4;

/// One number for each sample in a register; narrower registers leave the rest unused.
pub(super) type Lot = [f64; 8];

/// A tile in registers.
pub(super) type Tile<S> = [[F64<S>; TILE]; TILE];

/// n in whole tiles.
pub(super) const fn side(n: usize) -> usize {
    n.next_multiple_of(TILE)
}

/// Blocks for some squares and three rows.
pub(super) const fn blocks(n: usize, squares: usize) -> usize {
    (squares * side(n) * side(n) + 3 * side(n)).div_ceil(PAD / 8)
}

pub(super) struct Square<'a> {
    lots: &'a mut [Lot],
    pub(super) side: usize,
}

impl<'a> Square<'a> {
    /// Takes one square from a shared buffer.
    #[inline(always)]
    pub(super) fn take(n: usize, lots: &'a mut [Lot]) -> (Self, &'a mut [Lot]) {
        let side = side(n);
        let (own, others) = lots.split_at_mut(side * side);
        (Self { lots: own, side }, others)
    }

    #[inline(always)]
    pub(super) fn at<S: Simd>(&self, simd: S, row: usize, column: usize) -> F64<S> {
        F64::load(simd, &self.lots[row * self.side + column])
    }

    #[inline(always)]
    pub(super) fn put<S: Simd>(&mut self, row: usize, column: usize, value: F64<S>) {
        value.store(&mut self.lots[row * self.side + column]);
    }

    /// The first numbers of a row.
    #[inline(always)]
    fn row(&self, row: usize, len: usize) -> &[Lot] {
        &self.lots[row * self.side..][..len]
    }

    #[inline(always)]
    pub(super) fn tile<S: Simd>(&self, simd: S, row: usize, column: usize) -> Tile<S> {
        let mut tile = [[F64::splat(simd, 0.0); TILE]; TILE];
        for r in 0..TILE {
            for c in 0..TILE {
                tile[r][c] = self.at(simd, row + r, column + c);
            }
        }
        tile
    }

    #[inline(always)]
    pub(super) fn put_tile<S: Simd>(&mut self, row: usize, column: usize, tile: &Tile<S>) {
        for r in 0..TILE {
            for c in 0..TILE {
                self.put(row + r, column + c, tile[r][c]);
            }
        }
    }
}

/// Views blocks as a buffer for squares and rows.
#[inline(always)]
pub(super) fn lots(scratch: &mut [Block]) -> &mut [Lot] {
    scratch.as_flattened_mut().as_chunks_mut().0
}

/// tile − Σ_{k < len} a[i + r][k] a[j + c][k]
#[inline(always)]
pub(super) fn minus_rows<S: Simd>(
    simd: S,
    mut tile: Tile<S>,
    a: &Square<'_>,
    [i, j]: [usize; 2],
    len: usize,
) -> Tile<S> {
    let left = [a.row(i, len), a.row(i + 1, len), a.row(i + 2, len), a.row(i + 3, len)];
    let right = [a.row(j, len), a.row(j + 1, len), a.row(j + 2, len), a.row(j + 3, len)];
    for k in 0..len {
        let mut y = [F64::splat(simd, 0.0); TILE];
        for c in 0..TILE {
            y[c] = F64::load(simd, &right[c][k]);
        }
        for r in 0..TILE {
            let x = F64::load(simd, &left[r][k]);
            for c in 0..TILE {
                tile[r][c] = x.neg_mul_add(y[c], tile[r][c]);
            }
        }
    }
    tile
}

/// tile − Σ_{first ≤ k < end} a[i + r][k] b[k][j + c]
#[inline(always)]
pub(super) fn minus_product<S: Simd>(
    simd: S,
    mut tile: Tile<S>,
    (a, i): (&Square<'_>, usize),
    (b, j): (&Square<'_>, usize),
    [first, end]: [usize; 2],
) -> Tile<S> {
    let left = [a.row(i, end), a.row(i + 1, end), a.row(i + 2, end), a.row(i + 3, end)];
    for k in first..end {
        let row = &b.row(k, b.side)[j..j + TILE];
        let mut y = [F64::splat(simd, 0.0); TILE];
        for c in 0..TILE {
            y[c] = F64::load(simd, &row[c]);
        }
        for r in 0..TILE {
            let x = F64::load(simd, &left[r][k]);
            for c in 0..TILE {
                tile[r][c] = x.neg_mul_add(y[c], tile[r][c]);
            }
        }
    }
    tile
}

/// Σ_{k ≥ first} a[k][i + r] a[k][j + c]
#[inline(always)]
pub(super) fn columns<S: Simd>(
    simd: S,
    a: &Square<'_>,
    [i, j]: [usize; 2],
    first: usize,
) -> Tile<S> {
    let mut tile = [[F64::splat(simd, 0.0); TILE]; TILE];
    for k in first..a.side {
        let row = a.row(k, a.side);
        let (left, right) = (&row[i..i + TILE], &row[j..j + TILE]);
        let mut y = [F64::splat(simd, 0.0); TILE];
        for c in 0..TILE {
            y[c] = F64::load(simd, &right[c]);
        }
        for r in 0..TILE {
            let x = F64::load(simd, &left[r]);
            for c in 0..TILE {
                tile[r][c] = x.mul_add(y[c], tile[r][c]);
            }
        }
    }
    tile
}
