//! The covariance matrix under p from weighted draws of q.

use crate::importance::estimates::{refuse_nan, total};
use crate::{Batch, Result};

/// The covariance matrix of weighted points, d·d numbers row by row: Σ W (x − m)(x − m)ᵀ.
///
/// # Errors
/// As [`Quantity::new`](super::Quantity::new).
pub fn covariance(points: &Batch, weights: &[f64]) -> Result<Vec<f64>> {
    let total = total(weights, points.len())?;
    let dim = points.dim();
    // Points of weight 0 may have any value.
    let used_weights: Vec<f64> = weights.iter().filter(|w| **w > 0.0).map(|w| w / total).collect();
    let mut deviations: Vec<Vec<f64>> = Vec::with_capacity(dim);
    for d in 0..dim {
        refuse_nan(points.row(d), weights)?;
        let used = points.row(d).iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let mut values: Vec<f64> = used.map(|(x, _)| *x).collect();
        let mean = dot(&values, &used_weights);
        values.iter_mut().for_each(|x| *x -= mean);
        deviations.push(values);
    }
    let mut matrix = vec![0.0; dim * dim];
    for i in 0..dim {
        let weighted: Vec<f64> =
            deviations[i].iter().zip(&used_weights).map(|(x, w)| x * w).collect();
        for j in 0..=i {
            let entry = dot(&weighted, &deviations[j]);
            matrix[i * dim + j] = entry;
            matrix[j * dim + i] = entry;
        }
    }
    Ok(matrix)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covariance_by_hand() {
        // W = 1/4, 1/4, 1/2; means 1 and 0; deviations (−1, 2), (3, 0), (−1, −1).
        let points = Batch::from_points(2, &[[0.0, 2.0], [4.0, 0.0], [0.0, -1.0]]);
        assert_eq!(covariance(&points, &[1.0, 1.0, 2.0]).unwrap(), [3.0, 0.0, 0.0, 1.5]);
    }

    #[test]
    fn points_without_weight_may_be_anything() {
        let points = Batch::from_points(2, &[[f64::NAN, 0.0], [1.0, 5.0], [3.0, 9.0]]);
        assert_eq!(covariance(&points, &[0.0, 1.0, 1.0]).unwrap(), [1.0, 2.0, 2.0, 4.0]);
    }

    #[test]
    fn what_is_refused() {
        let points = Batch::from_points(2, &[[0.0, 2.0], [4.0, f64::NAN]]);
        let error = covariance(&points, &[1.0, 1.0]).unwrap_err().to_string();
        assert!(error.contains("draw 2 is NaN"), "{error}");
        assert!(covariance(&points, &[1.0]).is_err());
        assert!(covariance(&Batch::zeros(2, 0), &[]).is_err());
    }
}
