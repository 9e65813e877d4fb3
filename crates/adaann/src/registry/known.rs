//! Exact answers for a density, as a reference for approximations.

use crate::Batch;
use serde::{Deserialize, Serialize};

/// What is known exactly about a density; unknown values are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Known {
    /// log ∫ p of the density as written, including the prior.
    pub log_z: Option<f64>,
    /// Mean of each coordinate.
    pub mean: Option<Vec<f64>>,
    /// Standard deviation of each coordinate.
    pub sd: Option<Vec<f64>>,
    /// The modes, if there are few enough to list.
    pub modes: Vec<Mode>,
    /// The distance that assigns a point to a mode.
    pub distance: Distance,
    /// Coordinates with two modes each, in a density with too many modes to list.
    pub splits: Vec<Split>,
}

/// A mode of a density.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// The point of highest density; any such point if the mode is a ridge.
    pub location: Vec<f64>,
    /// The probability of the points nearer to this mode than to any other.
    pub weight: f64,
    /// Mean of those points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
    /// Standard deviation of each of their coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<Vec<f64>>,
}

impl Mode {
    /// A mode with unknown moments.
    pub fn new(location: Vec<f64>, weight: f64) -> Self {
        Self { location, weight, mean: None, sd: None }
    }

    /// Adds the mean and the standard deviations of its points.
    pub fn with_moments(self, mean: Vec<f64>, sd: Vec<f64>) -> Self {
        Self { mean: Some(mean), sd: Some(sd), ..self }
    }
}

/// The distance between a point and a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// The distance to the mode's location.
    #[default]
    Euclidean,
    /// The difference of the distances from the origin, for modes that are rings.
    Radial,
}

/// A coordinate with a mode on either side of a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The index of the coordinate, from 0.
    pub coordinate: usize,
    /// The point between the modes.
    pub at: f64,
    /// The probability of values above it.
    pub above: f64,
}

impl Known {
    /// The mode that a point belongs to: the nearest. `None` if there are no modes or the point is
    /// not finite.
    pub fn mode_of(&self, point: &[f64]) -> Option<usize> {
        let far = |mode: &Mode| self.distance.between(point, &mode.location);
        let distances = self.modes.iter().map(far).enumerate().filter(|(_, d)| d.is_finite());
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    }
}

impl Distance {
    fn between(self, a: &[f64], b: &[f64]) -> f64 {
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Self::Euclidean => norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()),
            Self::Radial => (norm(a) - norm(b)).abs(),
        }
    }
}

/// The share of the points nearest to each mode, for comparison with [`Mode::weight`].
///
/// Points that are not finite belong to no mode, so the shares may sum to less than 1.
pub fn mode_weights(known: &Known, points: &Batch) -> Vec<f64> {
    let mut counts = vec![0_usize; known.modes.len()];
    for mode in (0..points.len()).filter_map(|i| known.mode_of(&points.point(i))) {
        counts[mode] += 1;
    }
    counts.iter().map(|&count| count as f64 / points.len() as f64).collect()
}

/// The share of the points above each split, for comparison with [`Split::above`].
pub fn split_shares(known: &Known, points: &Batch) -> Vec<f64> {
    let share = |split: &Split| {
        let above = points.row(split.coordinate).iter().filter(|&&x| x > split.at).count();
        above as f64 / points.len() as f64
    };
    known.splits.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(locations: &[[f64; 2]]) -> Vec<Mode> {
        locations.iter().map(|at| Mode::new(at.to_vec(), 0.5)).collect()
    }

    #[test]
    fn points_are_counted_at_their_nearest_mode() {
        let mut known = Known { modes: modes(&[[-1.0, 0.0], [3.0, 0.0]]), ..Known::default() };
        let points = [[0.9, 5.0], [1.1, 5.0], [4.0, 0.0], [-3.0, 0.0], [f64::NAN, 0.0], [0.0, 0.0]];
        let batch = Batch::from_points(2, &points);
        assert_eq!(mode_weights(&known, &batch), [0.5, 1.0 / 3.0]);
        known.distance = Distance::Radial;
        // Radii 5.08, 5.12, 4, 3 belong to 3; the origin to 1.
        assert_eq!(mode_weights(&known, &batch), [1.0 / 6.0, 4.0 / 6.0]);
        assert_eq!(Known::default().mode_of(&[0.0]), None);
    }

    #[test]
    fn splits_count_what_is_above() {
        let splits = vec![Split { coordinate: 1, at: 0.5, above: 0.7 }];
        let known = Known { splits, ..Known::default() };
        let batch = Batch::from_points(2, &[[9.0, 0.4], [9.0, 0.6], [0.0, 1.0], [0.0, -1.0]]);
        assert_eq!(split_shares(&known, &batch), [0.5]);
    }
}
