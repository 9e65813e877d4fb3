//! Estimates from the draws of a run: weighted towards the target, and unweighted.

use crate::folder::summary::{label, number, numbers};
use adaann::{
    Batch,
    importance::{Coordinate, QUANTILES, Quantity},
    registry::{Known, Mode, Split},
};
use serde::{Deserialize, Serialize};

/// Weighted draws.
#[derive(Clone, Copy)]
pub(crate) struct Draws<'a> {
    pub(crate) points: &'a Batch,
    /// They sum to 1.
    pub(crate) weights: &'a [f64],
}

/// A parameter of the target.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Mean of the weighted draws, with its Monte Carlo standard error.
    #[serde(deserialize_with = "number")]
    pub(crate) mean: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) mean_error: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) sd: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) sd_error: f64,
    /// Quantiles at 5, 25, 50, 75 and 95 per cent.
    #[serde(deserialize_with = "numbers")]
    pub(crate) quantiles: Vec<f64>,
    /// Over the unweighted draws, if there is a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mean_q: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sd_q: Option<f64>,
    /// Exact values, if the target knows them.
    pub(crate) true_mean: Option<f64>,
    pub(crate) true_sd: Option<f64>,
}

impl Parameter {
    /// Estimates from weighted draws, without exact values. A quantity that is NaN at a draw of positive weight
    /// has no weighted estimates.
    pub(crate) fn new(name: &str, values: &[f64], weights: &[f64]) -> Self {
        Self::of_quantity(name, values, Quantity::new(values, weights).ok())
    }

    /// The same, with errors that account for dependent draws.
    pub(crate) fn of_quantity(name: &str, values: &[f64], quantity: Option<Quantity>) -> Self {
        let (mean_q, sd_q) = mean_and_sd(values);
        let mut parameter = Self {
            name: name.to_owned(),
            mean: f64::NAN,
            mean_error: f64::NAN,
            sd: f64::NAN,
            sd_error: f64::NAN,
            quantiles: vec![f64::NAN; QUANTILES.len()],
            mean_q: Some(mean_q),
            sd_q: Some(sd_q),
            true_mean: None,
            true_sd: None,
        };
        if let Some(quantity) = quantity {
            let Coordinate { mean, sd, quantiles } = quantity.coordinate();
            (parameter.mean, parameter.mean_error) = (mean.value, mean.error);
            (parameter.sd, parameter.sd_error) = (sd.value, sd.error);
            parameter.quantiles = quantiles.iter().map(|quantile| quantile.value).collect();
        }
        parameter
    }

    /// Removes the unweighted estimates, unless these are draws of a q.
    #[must_use]
    pub(crate) fn with_q(self, has_q: bool) -> Self {
        if has_q { self } else { Self { mean_q: None, sd_q: None, ..self } }
    }
}

/// A known mode, with the share of the draws that belong to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModeWeight {
    pub(crate) location: Vec<f64>,
    /// Among the weighted draws, and among the unweighted ones.
    #[serde(deserialize_with = "number")]
    pub(crate) weight: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) weight_q: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) true_weight: f64,
    /// The location as text.
    #[serde(skip)]
    pub(crate) label: String,
}

/// A coordinate with a mode on either side of a point, and the share of the draws above it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SplitShare {
    pub(crate) parameter: String,
    #[serde(deserialize_with = "number")]
    pub(crate) at: f64,
    /// Of the weighted draws, and of the unweighted ones.
    #[serde(deserialize_with = "number")]
    pub(crate) above: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) above_q: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) true_above: f64,
}

/// The shares of the known modes.
pub(crate) fn known_modes(known: &Known, draws: Draws) -> Vec<ModeWeight> {
    if known.modes.is_empty() {
        return Vec::new();
    }
    let Draws { points, weights } = draws;
    let mut shares = vec![(0.0, 0.0); known.modes.len()];
    for (i, weight) in weights.iter().enumerate() {
        if let Some(mode) = known.mode_of(&points.point(i)) {
            shares[mode].0 += weight;
            shares[mode].1 += 1.0 / weights.len() as f64;
        }
    }
    let mode = |(mode, (weight, weight_q)): (&Mode, (f64, f64))| ModeWeight {
        label: label(known, &mode.location),
        location: mode.location.clone(),
        weight,
        weight_q,
        true_weight: mode.weight,
    };
    known.modes.iter().zip(shares).map(mode).collect()
}

/// The shares above the known splits.
pub(crate) fn known_splits(known: &Known, names: &[String], draws: Draws) -> Vec<SplitShare> {
    let Draws { points, weights } = draws;
    let split = |split: &Split| {
        let above =
            points.row(split.coordinate).iter().zip(weights).filter(|(x, _)| **x > split.at);
        SplitShare {
            parameter: names[split.coordinate].clone(),
            at: split.at,
            above: above.clone().map(|(_, weight)| weight).sum(),
            above_q: above.count() as f64 / weights.len() as f64,
            true_above: split.above,
        }
    };
    known.splits.iter().map(split).collect()
}

pub(super) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_definition() {
        assert_eq!(mean_and_sd(&[1.0, 2.0, 6.0]), (3.0, 7f64.sqrt()));
    }

    #[test]
    fn weights_move_the_mean_and_leave_that_of_the_flow() {
        let parameter = Parameter::new("a", &[1.0, 2.0, 6.0], &[0.5, 0.5, 0.0]);
        assert_eq!((parameter.mean, parameter.sd, parameter.mean_q), (1.5, 0.5, Some(3.0)));
        let lost = Parameter::new("a", &[1.0, f64::NAN], &[0.5, 0.5]);
        assert!(lost.mean.is_nan() && lost.quantiles.iter().all(|q| q.is_nan()));
        // A draw of weight 0 may be NaN.
        assert_eq!(Parameter::new("a", &[1.0, f64::NAN], &[1.0, 0.0]).mean, 1.0);
    }

    #[test]
    fn shares_are_weighted_and_not() {
        let modes_at = |at: f64, weight| Mode::new(vec![at], weight);
        let known = Known {
            modes: vec![modes_at(-1.0, 0.3), modes_at(2.0, 0.7)],
            splits: vec![Split { coordinate: 0, at: 0.0, above: 0.7 }],
            ..Known::default()
        };
        let points = Batch::from_points(1, &[[-1.0], [3.0], [2.0], [1.9]]);
        let draws = Draws { points: &points, weights: &[0.75, 0.125, 0.125, 0.0] };
        let found = known_modes(&known, draws);
        assert_eq!((found[0].weight, found[0].weight_q), (0.75, 0.25));
        assert_eq!((found[1].weight, found[1].weight_q), (0.25, 0.75));
        let found = known_splits(&known, &["x".into()], draws);
        assert_eq!((found[0].above, found[0].above_q), (0.25, 0.75));
    }
}
