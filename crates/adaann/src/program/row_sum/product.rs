//! The two products of a form with the samples: a few rows of coefficients by a few registers.

use crate::program::Block;
use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Registers of a tile. Four rows of them make eight accumulators, which leaves registers for
/// factors on every instruction set.
const REGISTERS: usize = 2;

/// η_r = c₀_r + Σ_j c_rj·u_j for each row r of `to`; the matrix has its coefficients row by row.
#[inline(always)]
pub(super) fn forward<S: Simd>(
    simd: S,
    matrix: &[f64],
    offsets: &[f64],
    u: &[Block],
    to: &mut [Block],
) {
    let mut row = 0;
    while to.len() - row >= 4 {
        forward_tile::<S, 4>(simd, &matrix[row * u.len()..], &offsets[row..], u, &mut to[row..]);
        row += 4;
    }
    while row < to.len() {
        forward_tile::<S, 1>(simd, &matrix[row * u.len()..], &offsets[row..], u, &mut to[row..]);
        row += 1;
    }
}

#[inline(always)]
fn forward_tile<S: Simd, const M: usize>(
    simd: S,
    matrix: &[f64],
    offsets: &[f64],
    u: &[Block],
    to: &mut [Block],
) {
    let lanes = F64::<S>::LEN;
    let mut rows: [&[f64]; M] = [&[]; M];
    for m in 0..M {
        rows[m] = &matrix[m * u.len()..][..u.len()];
    }
    for at in (0..size_of::<Block>() / 8).step_by(REGISTERS * lanes) {
        let mut tile = [[F64::splat(simd, 0.0); REGISTERS]; M];
        for m in 0..M {
            tile[m] = [F64::splat(simd, offsets[m]); REGISTERS];
        }
        for j in 0..u.len() {
            let mut x = [F64::splat(simd, 0.0); REGISTERS];
            for k in 0..REGISTERS {
                x[k] = F64::load(simd, &u[j][at + k * lanes..]);
            }
            for m in 0..M {
                let factor = F64::splat(simd, rows[m][j]);
                for k in 0..REGISTERS {
                    tile[m][k] = factor.mul_add(x[k], tile[m][k]);
                }
            }
        }
        for m in 0..M {
            for k in 0..REGISTERS {
                tile[m][k].store(&mut to[m][at + k * lanes..]);
            }
        }
    }
}

/// Adds Σ_r c_rj·slope_r to each sum j.
#[inline(always)]
pub(super) fn backward<S: Simd>(simd: S, matrix: &[f64], slopes: &[&Block], sums: &mut [Block]) {
    let width = sums.len();
    let mut first = 0;
    while width - first >= 4 {
        backward_tile::<S, 4>(simd, &matrix[first..], width, slopes, &mut sums[first..]);
        first += 4;
    }
    while first < width {
        backward_tile::<S, 1>(simd, &matrix[first..], width, slopes, &mut sums[first..]);
        first += 1;
    }
}

#[inline(always)]
fn backward_tile<S: Simd, const M: usize>(
    simd: S,
    matrix: &[f64],
    width: usize,
    slopes: &[&Block],
    sums: &mut [Block],
) {
    let lanes = F64::<S>::LEN;
    for at in (0..size_of::<Block>() / 8).step_by(REGISTERS * lanes) {
        let mut tile = [[F64::splat(simd, 0.0); REGISTERS]; M];
        for m in 0..M {
            for k in 0..REGISTERS {
                tile[m][k] = F64::load(simd, &sums[m][at + k * lanes..]);
            }
        }
        for r in 0..slopes.len() {
            let factors: &[f64; M] =
                matrix[r * width..].first_chunk().expect("a row of the matrix");
            let mut x = [F64::splat(simd, 0.0); REGISTERS];
            for k in 0..REGISTERS {
                x[k] = F64::load(simd, &slopes[r][at + k * lanes..]);
            }
            for m in 0..M {
                let factor = F64::splat(simd, factors[m]);
                for k in 0..REGISTERS {
                    tile[m][k] = factor.mul_add(x[k], tile[m][k]);
                }
            }
        }
        for m in 0..M {
            for k in 0..REGISTERS {
                tile[m][k].store(&mut sums[m][at + k * lanes..]);
            }
        }
    }
}

/// Adds coefficient·from to each sample.
#[inline(always)]
pub(super) fn add_scaled<S: Simd>(simd: S, coefficient: f64, from: &Block, to: &mut Block) {
    let (lanes, factor) = (F64::<S>::LEN, F64::splat(simd, coefficient));
    for at in (0..from.len()).step_by(lanes) {
        let sum = factor.mul_add(F64::load(simd, &from[at..]), F64::load(simd, &to[at..]));
        sum.store(&mut to[at..]);
    }
}
