//! The Cholesky factor of a square, and its inverse, in place and tile by tile.

use super::square::{Lot, Square, TILE, Tile, minus_product, minus_rows};
use super::values::{Values, in_triangle};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Copies a triangle of operands, starting with operand `first`, into a square.
#[inline(always)]
pub(super) fn lay_down<S: Simd>(
    simd: S,
    values: &Values<'_>,
    first: usize,
    at: usize,
    n: usize,
    square: &mut Square<'_>,
) {
    let (zero, one) = (F64::<S>::splat(simd, 0.0), F64::<S>::splat(simd, 1.0));
    for i in 0..square.side {
        for j in 0..=i {
            let element = if i < n {
                values.load(simd, first + in_triangle(i, j), at)
            } else if i == j {
                one
            } else {
                zero
            };
            square.put(i, j, element);
        }
    }
}

/// A ← L, with 1/L_ii in `reciprocals`; returns where a pivot was not positive.
#[inline(always)]
pub(super) fn factorise<S: Simd>(
    simd: S,
    a: &mut Square<'_>,
    reciprocals: &mut [Lot],
) -> <F64<S> as Lane<S>>::Mask {
    let (zero, one) = (F64::<S>::splat(simd, 0.0), F64::<S>::splat(simd, 1.0));
    let mut is_indefinite = zero.lt(zero);
    for j in (0..a.side).step_by(TILE) {
        let mut d = minus_rows(simd, a.tile(simd, j, j), a, [j, j], j);
        let mut reciprocal = [one; TILE];
        for c in 0..TILE {
            is_indefinite |= d[c][c].le(zero);
            let root = d[c][c].sqrt();
            reciprocal[c] = one / root;
            d[c][c] = root;
            for r in c + 1..TILE {
                d[r][c] = d[r][c] * reciprocal[c];
            }
            for r in c + 1..TILE {
                for q in c + 1..r + 1 {
                    d[r][q] = d[r][c].neg_mul_add(d[q][c], d[r][q]);
                }
            }
        }
        for r in 0..TILE {
            for c in 0..r + 1 {
                a.put(j + r, j + c, d[r][c]);
            }
            reciprocal[r].store(&mut reciprocals[j + r]);
        }
        for i in (j + TILE..a.side).step_by(TILE) {
            let mut tile = minus_rows(simd, a.tile(simd, i, j), a, [i, j], j);
            for c in 0..TILE {
                for r in 0..TILE {
                    let mut x = tile[r][c];
                    for q in 0..c {
                        x = tile[r][q].neg_mul_add(d[c][q], x);
                    }
                    tile[r][c] = x * reciprocal[c];
                }
            }
            a.put_tile(i, j, &tile);
        }
    }
    is_indefinite
}

/// L ← M = L⁻¹, with zeros above the diagonal inside its tiles.
#[inline(always)]
pub(super) fn invert<S: Simd>(simd: S, l: &mut Square<'_>, reciprocals: &[Lot]) {
    let zero = F64::<S>::splat(simd, 0.0);
    for i in (0..l.side).step_by(TILE) {
        let d = l.tile(simd, i, i);
        let mut reciprocal = [zero; TILE];
        for r in 0..TILE {
            reciprocal[r] = F64::load(simd, &reciprocals[i + r]);
        }
        // M_ij = −(Σ_{j ≤ k < i} L_ik M_kj) / L_ii; of L's row only the part after j is still
        // needed.
        for j in (0..i).step_by(TILE) {
            let sums = minus_product(simd, [[zero; TILE]; TILE], (l, i), (l, j), [j, i]);
            let tile = substitute(sums, &d, &reciprocal);
            l.put_tile(i, j, &tile);
        }
        let mut identity = [[zero; TILE]; TILE];
        for r in 0..TILE {
            identity[r][r] = F64::splat(simd, 1.0);
        }
        let tile = substitute(identity, &d, &reciprocal);
        l.put_tile(i, i, &tile);
    }
}

/// D⁻¹ · tile, for a lower-triangular D.
#[inline(always)]
fn substitute<S: Simd>(mut tile: Tile<S>, d: &Tile<S>, reciprocal: &[F64<S>; TILE]) -> Tile<S> {
    for r in 0..TILE {
        for c in 0..TILE {
            let mut x = tile[r][c];
            for q in 0..r {
                x = d[r][q].neg_mul_add(tile[q][c], x);
            }
            tile[r][c] = x * reciprocal[r];
        }
    }
    tile
}
