//! Small dense linear algebra, as Gaussian densities need it.
//!
//! A symmetric or lower-triangular matrix of dimension d is a slice of d·d numbers, row by row.

use crate::{Result, error};

/// Σ a b in four independent sums, which avoids waiting for each addition.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for l in 0..4 {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The lower-triangular factor L with L Lᵀ = `covariance`.
///
/// # Errors
/// If the matrix is not square, symmetric and positive definite.
pub(crate) fn cholesky(dim: usize, covariance: &[f64]) -> Result<Vec<f64>> {
    let refuse =
        |what: String| error::setting("covariance", what, "symmetric and positive definite");
    if covariance.len() != dim * dim {
        return Err(refuse(format!("a list of {} numbers", covariance.len())));
    }
    let mut factor = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let entry = covariance[i * dim + j];
            let mirrored = covariance[j * dim + i];
            // Where large terms cancel, the results differ in their last digits.
            let last = (covariance[i * (dim + 1)] * covariance[j * (dim + 1)]).abs().sqrt();
            let tolerance = 1e-10 * (entry.abs() + mirrored.abs()) + 1e-13 * last;
            if (entry - mirrored).abs() > tolerance {
                return Err(refuse(format!("not symmetric in row {} and column {}", i + 1, j + 1)));
            }
            let dot: f64 = (0..j).map(|k| factor[i * dim + k] * factor[j * dim + k]).sum();
            let rest = entry - dot;
            if i == j {
                // Also refuses NaN.
                if rest.is_nan() || rest <= 0.0 || rest.is_infinite() {
                    return Err(refuse(format!(
                        "not positive definite (pivot {rest} in row {})",
                        i + 1
                    )));
                }
                factor[i * dim + i] = rest.sqrt();
            } else {
                factor[i * dim + j] = rest / factor[j * dim + j];
            }
        }
    }
    Ok(factor)
}

/// The inverse of L Lᵀ.
pub(crate) fn inverse_from_cholesky(dim: usize, factor: &[f64]) -> Vec<f64> {
    let mut inverse = vec![0.0; dim * dim];
    for column in 0..dim {
        let mut x: Vec<f64> = (0..dim).map(|i| f64::from(u8::from(i == column))).collect();
        solve_lower(dim, factor, &mut x);
        solve_lower_transposed(dim, factor, &mut x);
        for i in 0..dim {
            inverse[i * dim + column] = x[i];
        }
    }
    // Rounding makes the two halves differ by an ulp or two.
    for i in 0..dim {
        for j in 0..i {
            let mean = 0.5 * (inverse[i * dim + j] + inverse[j * dim + i]);
            inverse[i * dim + j] = mean;
            inverse[j * dim + i] = mean;
        }
    }
    inverse
}

/// x ← L⁻¹ x
pub(crate) fn solve_lower(dim: usize, factor: &[f64], x: &mut [f64]) {
    for i in 0..dim {
        let dot: f64 = (0..i).map(|k| factor[i * dim + k] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * dim + i];
    }
}

/// x ← L⁻ᵀ x
pub(crate) fn solve_lower_transposed(dim: usize, factor: &[f64], x: &mut [f64]) {
    for i in (0..dim).rev() {
        let dot: f64 = (i + 1..dim).map(|k| factor[k * dim + i] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * dim + i];
    }
}

/// x ← A⁻¹ x by Gaussian elimination with column pivoting. `matrix` holds A, row by row, and is
/// overwritten. The result for a singular A is not finite.
pub(crate) fn solve(dim: usize, matrix: &mut [f64], x: &mut [f64]) {
    for i in 0..dim {
        let size = |row: &usize| matrix[row * dim + i].abs();
        let pivot = (i..dim).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(i);
        (i..dim).for_each(|j| matrix.swap(i * dim + j, pivot * dim + j));
        x.swap(i, pivot);
        for row in i + 1..dim {
            let factor = matrix[row * dim + i] / matrix[i * dim + i];
            (i..dim).for_each(|j| matrix[row * dim + j] -= factor * matrix[i * dim + j]);
            x[row] -= factor * x[i];
        }
    }
    for i in (0..dim).rev() {
        let dot: f64 = (i + 1..dim).map(|j| matrix[i * dim + j] * x[j]).sum();
        x[i] = (x[i] - dot) / matrix[i * dim + i];
    }
}

/// Eigenvalues of a symmetric matrix and a unit eigenvector for each, by Jacobi rotations.
pub(crate) fn symmetric_eigen(dim: usize, matrix: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    // Once the off-diagonal share is small, each sweep squares it.
    const SWEEPS: usize = 60;
    let mut a = matrix.to_vec();
    // The vectors are stored as rows, which are contiguous.
    let mut v = vec![0.0; dim * dim];
    (0..dim).for_each(|i| v[i * dim + i] = 1.0);
    for _ in 0..SWEEPS {
        let mut has_turned = false;
        for p in 0..dim {
            for q in p + 1..dim {
                let off = a[p * dim + q];
                if off.abs() <= f64::EPSILON * 1e-4 * (a[p * dim + p] * a[q * dim + q]).abs().sqrt()
                {
                    continue;
                }
                has_turned = true;
                let theta = (a[q * dim + q] - a[p * dim + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..dim {
                    let (x, y) = (a[k * dim + p], a[k * dim + q]);
                    (a[k * dim + p], a[k * dim + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..dim {
                    let (x, y) = (a[p * dim + k], a[q * dim + k]);
                    (a[p * dim + k], a[q * dim + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[p * dim + k], v[q * dim + k]);
                    (v[p * dim + k], v[q * dim + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if !has_turned {
            break;
        }
    }
    let values = (0..dim).map(|i| a[i * dim + i]).collect();
    (values, v.chunks(dim.max(1)).map(<[f64]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_and_inverse_of_a_known_matrix() {
        // [[4, 2], [2, 5]] = L Lᵀ with L = [[2, 0], [1, 2]], inverse [[5, -2], [-2, 4]]/16.
        let factor = cholesky(2, &[4.0, 2.0, 2.0, 5.0]).unwrap();
        assert_eq!(factor, [2.0, 0.0, 1.0, 2.0]);
        let inverse = inverse_from_cholesky(2, &factor);
        for (x, y) in inverse.iter().zip([5.0, -2.0, -2.0, 4.0]) {
            assert!((x - y / 16.0).abs() < 1e-15);
        }
    }

    /// A matrix whose first pivot is 0.
    #[test]
    fn a_system_is_solved_whatever_its_order() {
        let matrix = [0.0, 2.0, -1.0, 3.0, 0.5, 4.0, 1.0, -1.0, 1.0];
        let solution = [1.5, -2.0, 0.25];
        let row = |i: usize| (0..3).map(|j| matrix[3 * i + j] * solution[j]).sum();
        let mut x: [f64; 3] = std::array::from_fn(row);
        solve(3, &mut matrix.clone(), &mut x);
        assert!(x.iter().zip(solution).all(|(x, s)| (x - s).abs() < 1e-14), "{x:?}");
        let mut x = [1.0, 2.0];
        solve(2, &mut [1.0, 2.0, 2.0, 4.0], &mut x);
        assert!(!x[0].is_finite());
    }

    #[test]
    fn refuses_what_is_no_covariance() {
        for bad in [[1.0, 2.0, 2.0, 1.0], [1.0, 0.5, 0.1, 1.0], [f64::NAN, 0.0, 0.0, 1.0], [0.0; 4]]
        {
            assert!(cholesky(2, &bad).is_err(), "{bad:?}");
        }
        assert!(cholesky(2, &[1.0]).is_err());
    }

    #[test]
    fn eigenvectors_are_turned_into_multiples_of_themselves() {
        // 1, 2 and 4 along (1, -1, 0)/√2, (1, 1, 1)/√3 and (1, 1, -2)/√6
        let [a, b, c] = [[1.0, -1.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, -2.0]];
        let mut matrix = vec![0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                matrix[3 * i + j] =
                    a[i] * a[j] / 2.0 + 2.0 * b[i] * b[j] / 3.0 + 4.0 * c[i] * c[j] / 6.0;
            }
        }
        let (mut values, vectors) = symmetric_eigen(3, &matrix);
        for (value, vector) in values.iter().zip(&vectors) {
            for i in 0..3 {
                let image: f64 = (0..3).map(|j| matrix[3 * i + j] * vector[j]).sum();
                assert!((image - value * vector[i]).abs() < 1e-14);
            }
        }
        values.sort_by(f64::total_cmp);
        for (value, exact) in values.iter().zip([1.0, 2.0, 4.0]) {
            assert!((value - exact).abs() < 1e-14, "{value}");
        }
    }
}
