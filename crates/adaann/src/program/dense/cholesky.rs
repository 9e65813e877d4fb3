//! The Cholesky factor as a routine, with its reverse rule.
//!
//! With L in blocks of columns, the slopes in A are computed from the last block to the first. G is
//! symmetric, with the slopes T in blocks below the diagonal, and Σ_{J > K} G_IJ L_JK collects the
//! contributions of all later blocks to L_IK (I. Murray, Differentiation of the Cholesky
//! decomposition, 2016, reordered).

use super::factor::{factorise, lay_down};
use super::square::{Square, TILE, Tile, lots, minus_product};
use super::values::{Values, in_triangle, triangle};
use crate::batch::Block;
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

#[inline(always)]
pub(super) fn forward<S: Simd>(simd: S, n: usize, mut values: Values<'_>, scratch: &mut [Block]) {
    for at in (0..values.samples).step_by(F64::<S>::LEN) {
        let (mut a, rest) = Square::take(n, lots(scratch));
        lay_down(simd, &values, 0, at, n, &mut a);
        factorise(simd, &mut a, rest);
        for i in 0..n {
            for j in 0..i + 1 {
                values.store(in_triangle(i, j), at, a.at::<S>(simd, i, j));
            }
        }
    }
}

#[inline(always)]
pub(super) fn backward<S: Simd>(simd: S, n: usize, mut values: Values<'_>, scratch: &mut [Block]) {
    let half = F64::<S>::splat(simd, 0.5);
    for at in (0..values.samples).step_by(F64::<S>::LEN) {
        let (mut l, rest) = Square::take(n, lots(scratch));
        let (mut g, _) = Square::take(n, rest);
        let side = l.side;
        lay_down(simd, &values, 0, at, n, &mut l);
        for k in (0..side).step_by(TILE).rev() {
            let d = l.tile(simd, k, k);
            for i in (k + TILE..side).step_by(TILE) {
                let given = slopes(simd, &values, at, n, [i, k]);
                let sums = minus_product(simd, given, (&g, i), (&l, k), [k + TILE, side]);
                // T D = sums
                let mut t = sums;
                for c in (0..TILE).rev() {
                    for r in 0..TILE {
                        let mut x = t[r][c];
                        for q in c + 1..TILE {
                            x = t[r][q].neg_mul_add(d[q][c], x);
                        }
                        t[r][c] = x / d[c][c];
                    }
                }
                for r in 0..TILE {
                    for c in 0..TILE {
                        g.put(i + r, k + c, t[r][c]);
                        g.put(k + c, i + r, t[r][c]);
                    }
                }
            }
            let given = slopes(simd, &values, at, n, [k, k]);
            let sums = minus_product(simd, given, (&g, k), (&l, k), [k + TILE, side]);
            let tile = back_tile(&d, sums);
            for r in 0..TILE {
                g.put(k + r, k + r, tile[r][r] + tile[r][r]);
                for c in 0..r {
                    g.put(k + r, k + c, tile[r][c]);
                    g.put(k + c, k + r, tile[r][c]);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                values.store(in_triangle(i, j), at, g.at::<S>(simd, i, j));
            }
            values.store(in_triangle(i, i), at, half * g.at::<S>(simd, i, i));
        }
    }
}

/// The given slopes in a tile of L; 0 outside the matrix and above the diagonal.
#[inline(always)]
fn slopes<S: Simd>(
    simd: S,
    values: &Values<'_>,
    at: usize,
    n: usize,
    [i, k]: [usize; 2],
) -> Tile<S> {
    let mut tile = [[F64::splat(simd, 0.0); TILE]; TILE];
    for r in 0..TILE {
        for c in 0..TILE {
            if i + r < n && k + c <= i + r {
                let input = triangle(n) + in_triangle(i + r, k + c);
                tile[r][c] = values.load(simd, input, at);
            }
        }
    }
    tile
}

/// Converts slopes in the factor D of one tile to slopes in the tile, element by element from the
/// last.
#[inline(always)]
fn back_tile<S: Simd>(d: &Tile<S>, mut slopes: Tile<S>) -> Tile<S> {
    for j in (0..TILE).rev() {
        for i in (j + 1..TILE).rev() {
            let t = slopes[i][j] / d[j][j];
            slopes[i][j] = t;
            slopes[j][j] = t.neg_mul_add(d[i][j], slopes[j][j]);
            for k in 0..j {
                slopes[i][k] = t.neg_mul_add(d[j][k], slopes[i][k]);
                slopes[j][k] = t.neg_mul_add(d[i][k], slopes[j][k]);
            }
        }
        let t = slopes[j][j] / d[j][j];
        for k in 0..j {
            slopes[j][k] = t.neg_mul_add(d[j][k], slopes[j][k]);
        }
        slopes[j][j] = t * F64::splat(t.token(), 0.5);
    }
    slopes
}
