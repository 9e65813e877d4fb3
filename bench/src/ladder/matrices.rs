//! Linear algebra for targets with known answers: square matrices, row by row.

use adaann::support::rng::{Purpose, Stream};

/// Standard normal numbers, determined by a seed.
pub(crate) fn normals(seed: u64, count: usize) -> Vec<f64> {
    let stream = Stream::new(seed, Purpose::Data);
    (0..count as u64).map(|at| stream.normal_at(at)).collect()
}

/// A Aᵀ
pub(crate) fn with_transpose(dim: usize, a: &[f64]) -> Vec<f64> {
    let dot = |i: usize, j: usize| -> f64 {
        a[i * dim..][..dim].iter().zip(&a[j * dim..][..dim]).map(|(x, y)| x * y).sum()
    };
    (0..dim * dim).map(|at| dot(at / dim, at % dim)).collect()
}

/// Aᵀ
pub(crate) fn transpose(dim: usize, a: &[f64]) -> Vec<f64> {
    (0..dim * dim).map(|at| a[at % dim * dim + at / dim]).collect()
}

/// The lower triangle L such that L Lᵀ is the matrix, which must be positive definite.
pub(crate) fn cholesky(dim: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i * dim + k] * factor[j * dim + k]).sum();
            let rest = matrix[i * dim + j] - known;
            assert!(i != j || rest > 0.0, "the matrix is positive definite");
            factor[i * dim + j] = if i == j { rest.sqrt() } else { rest / factor[j * dim + j] };
        }
    }
    factor
}

/// A rotation, determined by a seed: normal rows, orthogonalised twice by Gram-Schmidt to limit rounding.
pub(crate) fn rotation(dim: usize, seed: u64) -> Vec<f64> {
    let mut rows = normals(seed, dim * dim);
    for i in 0..dim {
        let (before, row) = rows.split_at_mut(i * dim);
        let row = &mut row[..dim];
        for _ in 0..2 {
            for other in before.chunks_exact(dim) {
                let along: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
                row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_makes_its_matrix_and_a_rotation_keeps_lengths() {
        let a = normals(1, 25);
        let matrix = with_transpose(5, &a);
        let again = with_transpose(5, &cholesky(5, &matrix));
        assert!(matrix.iter().zip(&again).all(|(x, y)| (x - y).abs() < 1e-13));
        let one = with_transpose(5, &rotation(5, 2));
        assert!((0..25).all(|at| (one[at] - f64::from(u8::from(at % 6 == 0))).abs() < 1e-14));
        assert_eq!(transpose(2, &[1.0, 2.0, 3.0, 4.0]), [1.0, 3.0, 2.0, 4.0]);
    }
}
