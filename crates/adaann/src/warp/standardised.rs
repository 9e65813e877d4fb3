//! Weighted points in units of their own spread.

use crate::{Batch, linear, weight::ess};

/// Weighted points in units of their own spread, one row per coordinate.
pub(super) struct Standardised {
    pub(super) rows: Vec<Vec<f64>>,
    /// The weights, which sum to 1.
    pub(super) weights: Vec<f64>,
    pub(super) effective: f64,
    pub(super) mean: Vec<f64>,
    pub(super) sd: Vec<f64>,
}

impl Standardised {
    /// Standardises the points, evenly thinned to at most `most`; `None` if a coordinate is
    /// constant.
    pub(super) fn new(z: &Batch, weights: &[f64], most: usize) -> Option<Self> {
        // Thin evenly, to treat all points alike.
        let every = z.len().div_ceil(most).max(1);
        let chosen = |row: &[f64]| -> Vec<f64> { row.iter().step_by(every).copied().collect() };
        let weights = chosen(weights);
        let total: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let effective = ess(&weights);
        let (mut rows, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
        for d in 0..z.dim() {
            let row = chosen(&z.row(d)[..z.len()]);
            let mean = linear::dot(&weights, &row);
            let square: f64 = row.iter().zip(&weights).map(|(x, w)| w * (x - mean).powi(2)).sum();
            let sd = square.sqrt();
            if !(sd.is_finite() && sd > 0.0) {
                return None;
            }
            rows.push(row.iter().map(|x| (x - mean) / sd).collect());
            means.push(mean);
            sds.push(sd);
        }
        Some(Self { rows, weights, effective, mean: means, sd: sds })
    }
}
