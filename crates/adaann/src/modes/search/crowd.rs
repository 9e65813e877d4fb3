//! Peaks that are too many to list, as on a ridge or a shell, represented by the Gaussian of their positions.

use super::summit::Summit;
use crate::linear;

/// A point is far from a crowd if it is this many widths further out than a typical point, which is √d widths from the
/// middle.
const FAR: f64 = 4.0;

/// The Gaussian of the positions of many peaks.
pub(super) struct Crowd(Summit);

impl Crowd {
    /// Mean and covariance of the mixture of the peaks' Gaussians, all with equal weight. None without a peak, or if
    /// the covariance is not positive definite.
    pub(super) fn of(peaks: &[&Summit]) -> Option<Self> {
        let dim = peaks.first()?.z.len();
        let count = peaks.len() as f64;
        let mean: Vec<f64> =
            (0..dim).map(|d| peaks.iter().map(|peak| peak.z[d]).sum::<f64>() / count).collect();
        // n points in d dimensions do not determine all correlations: those between positions shrink by n/(n + d).
        let known = count / (count + dim as f64);
        let entry = |at: usize| {
            let (i, j) = (at / dim, at % dim);
            let kept = if i == j { 1.0 } else { known };
            // In this order of factors the sum is symmetric in i and j to the last bit.
            let of = |peak: &&Summit| {
                let apart = (peak.z[i] - mean[i]) * (peak.z[j] - mean[j]);
                peak.covariance[at] + kept * apart
            };
            peaks.iter().map(of).sum::<f64>() / count
        };
        let covariance: Vec<f64> = (0..dim * dim).map(entry).collect();
        Summit::of_gaussian(mean, covariance).map(Self)
    }

    /// Is a point away from the whole crowd?
    pub(super) fn is_far_from(&self, z: &[f64]) -> bool {
        let y = self.0.whitened(z);
        linear::dot(&y, &y).sqrt() > (z.len() as f64).sqrt() + FAR
    }

    /// The Gaussian, of mass 1.
    pub(super) fn into_summit(self) -> Summit {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Peaks on a circle of radius 3, each of width 0.1.
    fn circle() -> Vec<Summit> {
        let place = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / 24.0;
            vec![7.0 + 3.0 * angle.cos(), 3.0 * angle.sin()]
        };
        let narrow = vec![0.01, 0.0, 0.0, 0.01];
        (0..24).map(|k| Summit::of_gaussian(place(k), narrow.clone()).unwrap()).collect()
    }

    #[test]
    fn a_crowd_covers_its_peaks_and_what_lies_between_them() {
        let circle = circle();
        let peaks: Vec<&Summit> = circle.iter().collect();
        let crowd = Crowd::of(&peaks).unwrap();
        assert!(circle.iter().all(|peak| !crowd.is_far_from(&peak.z)));
        assert!(!crowd.is_far_from(&[7.0, 0.0]));
        // The positions have a standard deviation of 3/√2.
        let edge = (2.0_f64.sqrt() + FAR) * (4.5_f64 + 0.01).sqrt();
        assert!(crowd.is_far_from(&[7.0 + 1.01 * edge, 0.0]));
        assert!(!crowd.is_far_from(&[7.0 + 0.99 * edge, 0.0]));
        assert!(Crowd::of(&[]).is_none());
    }
}
