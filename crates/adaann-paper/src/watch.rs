//! Measures during annealing how far a flow lags behind the density that it follows.

use adaann::{
    approximation::Approximation, fit::StepRecord, flow::Flow, registry::Known, target::Target,
};
use serde::{Deserialize, Serialize};

/// Steps between measurements.
const EVERY: usize = 20;

/// Draws of a measurement.
const DRAWS: usize = 2_000;

/// The radius of a mode, in standard deviations of p^t.
const REACH: f64 = 6.0;

/// Measurements of the flow at one value of t.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Look {
    /// Number of the step.
    pub step: usize,
    /// The inverse temperature.
    pub t: f64,
    /// Standard deviation of log p over draws of the flow.
    pub std_log_p: f64,
    /// The same over the draws near a mode.
    pub std_log_p_near: f64,
    /// Share of the draws near neither mode, on the way from one to the other.
    pub between: f64,
    /// Share of the draws near neither mode, elsewhere.
    pub beyond: f64,
    /// The width of the draws near a mode: the mean square distance from it, in standard deviations of p^t. It is 1 for
    /// a flow that equals p^t.
    pub width: f64,
}

/// Watches one trial.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    known: &'a Known,
    looks: Vec<Look>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(known: &'a Known) -> Self {
        Self { known, looks: Vec::new() }
    }

    pub(crate) fn into_looks(self) -> Vec<Look> {
        self.looks
    }

    /// Measures every `EVERY` steps, and at t = 1.
    pub(crate) fn look(&mut self, record: &StepRecord, flow: &Flow, target: &dyn Target) {
        if !record.step.is_multiple_of(EVERY) && record.t < 1.0 {
            return;
        }
        let sample = Approximation::new(target, flow.clone())
            .and_then(|approximation| approximation.sample(DRAWS, record.step as u64));
        // If the target fails, the run stops anyway.
        let Ok(sample) = sample else { return };
        let (mut all, mut near, mut squares) = (Vec::new(), Vec::new(), Vec::new());
        let mut between = 0.0;
        for i in (0..DRAWS).filter(|&i| sample.log_p()[i].is_finite()) {
            let point = sample.x().point(i);
            let Some(index) = self.known.mode_of(&point) else { continue };
            let mode = &self.known.modes[index];
            let Some(sd) = &mode.sd else { continue };
            // Near a mode, p^t is a Gaussian wider by a factor of 1/√t.
            let scaled = |d: usize| (point[d] - mode.location[d]) / sd[d] * record.t.sqrt();
            let square: Vec<f64> = (0..point.len()).map(|d| scaled(d).powi(2)).collect();
            all.push(sample.log_p()[i]);
            if square.iter().sum::<f64>() <= REACH * REACH {
                near.push(sample.log_p()[i]);
                squares.extend(square);
            } else if self.is_between(&point) {
                between += 1.0;
            }
        }
        if near.is_empty() {
            return;
        }
        let count = all.len() as f64;
        self.looks.push(Look {
            step: record.step,
            t: record.t,
            std_log_p: deviation(&all),
            std_log_p_near: deviation(&near),
            between: between / count,
            beyond: 1.0 - (near.len() as f64 + between) / count,
            width: squares.iter().sum::<f64>() / squares.len() as f64,
        });
    }
}

impl Watch<'_> {
    /// Does a point lie between the two modes, along the line through them?
    fn is_between(&self, point: &[f64]) -> bool {
        let [from, to] = &self.known.modes[..] else { return false };
        let along = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let way: Vec<f64> = to.location.iter().zip(&from.location).map(|(b, a)| b - a).collect();
        let gone: Vec<f64> = point.iter().zip(&from.location).map(|(x, a)| x - a).collect();
        (0.0..1.0).contains(&(along(&gone, &way) / along(&way, &way)))
    }
}

fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::registry::Mode;

    #[test]
    fn between_is_along_the_line_of_the_modes() {
        let modes = vec![Mode::new(vec![-1.0, 0.0], 0.5), Mode::new(vec![3.0, 0.0], 0.5)];
        let known = Known { modes, ..Known::default() };
        let watch = Watch::new(&known);
        assert!(watch.is_between(&[0.0, 9.0]) && watch.is_between(&[2.9, -5.0]));
        assert!(!watch.is_between(&[-1.1, 0.0]) && !watch.is_between(&[3.1, 0.0]));
        assert!((deviation(&[1.0, 2.0, 3.0, 4.0]) - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
