//! The log density of a multivariate normal from its covariance A, and its slopes if they are read.
//!
//! With L Lᵀ = A, u = L⁻¹ r and α = A⁻¹ r it is −½ uᵀu − Σ log L_ii − n/2 log 2π. Its slope in r is
//! −α, and that in A is ½(α αᵀ − A⁻¹), where off-diagonal elements count twice.

use super::factor::{factorise, invert, lay_down};
use super::square::{Square, TILE, columns, lots};
use super::values::{Values, in_triangle};
use crate::batch::Block;
use crate::simd::{F64, HALF_LN_TAU, Lane, Math};
use fearless_simd::Simd;

#[inline(always)]
pub(super) fn run<S: Simd>(simd: S, n: usize, mut values: Values<'_>, scratch: &mut [Block]) {
    let with_slopes = values.reads_from(1);
    let zero = F64::<S>::splat(simd, 0.0);
    for at in (0..values.samples).step_by(F64::<S>::LEN) {
        let (mut square, rest) = Square::take(n, lots(scratch));
        let side = square.side;
        let (reciprocals, rest) = rest.split_at_mut(side);
        let (u, rest) = rest.split_at_mut(side);
        let alpha = &mut rest[..side];
        lay_down(simd, &values, n, at, n, &mut square);
        let is_indefinite = factorise(simd, &mut square, reciprocals);
        let (mut squares, mut logs) = (zero, zero);
        for i in 0..side {
            let mut x = if i < n { values.load(simd, i, at) } else { zero };
            for k in 0..i {
                x = square.at(simd, i, k).neg_mul_add(F64::load(simd, &u[k]), x);
            }
            let x = x * F64::load(simd, &reciprocals[i]);
            x.store(&mut u[i]);
            squares = x.mul_add(x, squares);
            logs = logs + square.at(simd, i, i).ln();
        }
        let constant = F64::splat(simd, -(n as f64) * HALF_LN_TAU);
        let value = F64::splat(simd, -0.5).mul_add(squares, constant) - logs;
        let nothing = F64::splat(simd, f64::NEG_INFINITY);
        values.store(0, at, F64::select(is_indefinite, nothing, value));
        if !with_slopes {
            continue;
        }
        invert(simd, &mut square, reciprocals);
        for j in 0..side {
            let mut x = zero;
            for i in j..side {
                x = square.at(simd, i, j).mul_add(F64::load(simd, &u[i]), x);
            }
            x.store(&mut alpha[j]);
            if j < n {
                values.store(1 + j, at, -x);
            }
        }
        for i in (0..side).step_by(TILE) {
            for j in (0..i + 1).step_by(TILE) {
                let inverse = columns(simd, &square, [i, j], i);
                for r in 0..TILE {
                    let left = F64::<S>::load(simd, &alpha[i + r]);
                    for c in 0..TILE {
                        let (row, column) = (i + r, j + c);
                        if row < n && column <= row {
                            let right = F64::load(simd, &alpha[column]);
                            let slope = left.mul_add(right, -inverse[r][c]);
                            let factor = F64::splat(simd, if row == column { 0.5 } else { 1.0 });
                            values.store(1 + n + in_triangle(row, column), at, factor * slope);
                        }
                    }
                }
            }
        }
    }
}
