//! The frame of the known modes: a wide Gaussian around all of them.

use super::found::Searched;
use crate::flow::BaseSpec;

/// The factor by which the frame is wider than the modes that it covers, in standard deviations.
const WIDER: f64 = 2.0;

/// A Gaussian around all modes that matter, wider than their mixture: mean and covariance of the mixture of their
/// Gaussians, all with equal weight. None if no mode is known, or if there are too many.
pub fn frame(searched: &Searched) -> Option<BaseSpec> {
    let peaks: Vec<_> = searched.that_matter().filter(|summit| summit.is_peak).collect();
    let dim = peaks.first().filter(|_| !searched.is_endless)?.z.len();
    let count = peaks.len() as f64;
    let mean: Vec<f64> =
        (0..dim).map(|d| peaks.iter().map(|peak| peak.z[d]).sum::<f64>() / count).collect();
    let entry = |at: usize| {
        let (i, j) = (at / dim, at % dim);
        let of = |peak: &&super::Summit| {
            peak.covariance[at] + (peak.z[i] - mean[i]) * (peak.z[j] - mean[j])
        };
        WIDER * WIDER * peaks.iter().map(of).sum::<f64>() / count
    };
    let matrix: Vec<f64> = (0..dim * dim).map(entry).collect();
    Some(BaseSpec { mean, matrix, ..BaseSpec::default() })
}
