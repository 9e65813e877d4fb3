//! The check at the end of a run: draws are weighted towards the target, and the run is judged.

use adaann::{
    Settings,
    approximation::{Approximation, Sample},
    diagnostics::{self, Examination, Verdict},
    fit::Outcome,
    importance::pareto,
    smc::Observer,
};

/// How far a run is to be trusted.
pub(crate) struct Examined {
    /// Weights of the draws, which sum to 1.
    pub(crate) weights: Vec<f64>,
    /// What was found; nothing if the draws cannot be examined.
    pub(crate) examination: Option<Examination>,
    pub(crate) verdict: Verdict,
}

/// Examines draws of an approximation. A fit is worth keeping whatever becomes of its check, so that
/// a check which fails is a verdict, not an error.
pub(crate) fn examine(
    outcome: &Outcome,
    approximation: &Approximation,
    sample: &Sample,
    settings: &Settings,
    particles: usize,
    observer: &mut dyn Observer,
) -> Examined {
    // Who has stopped the fit does not want to wait for more.
    let particles = if outcome.stopped { 0 } else { particles };
    let wanted = diagnostics::Settings { particles, ..diagnostics::Settings::default() };
    let mut examined =
        match diagnostics::examine(approximation, sample, settings, &wanted, observer) {
            Ok(found) => Examined {
                weights: found.weights.clone(),
                verdict: found.verdict.clone(),
                examination: Some(found),
            },
            Err(error) => Examined {
                weights: weights(sample),
                examination: None,
                verdict: Verdict::not_examined(&error),
            },
        };
    if outcome.stopped {
        let t = outcome.steps.last().map_or(0.0, |step| step.t);
        examined.verdict = examined.verdict.of_stopped(t);
    }
    examined
}

/// Smoothed weights of draws; equal ones where none has a weight.
pub(crate) fn weights(sample: &Sample) -> Vec<f64> {
    let log_ratios: Vec<f64> =
        sample.log_p.iter().zip(&sample.log_q).map(|(log_p, log_q)| log_p - log_q).collect();
    let equal = || vec![1.0 / log_ratios.len() as f64; log_ratios.len()];
    pareto::smooth(&log_ratios).map_or_else(|_| equal(), |smoothed| smoothed.weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::Batch;

    #[test]
    fn weights_sum_to_1_whatever_the_draws() {
        for log_p in [[0.0, 1.0, -2.0], [f64::NAN; 3], [f64::NEG_INFINITY, 700.0, -700.0]] {
            let sample = Sample {
                points: Batch::zeros(1, 3),
                log_p: log_p.to_vec(),
                log_q: vec![0.0, 0.5, 0.0],
            };
            let sum: f64 = weights(&sample).iter().sum();
            assert!((sum - 1.0).abs() < 1e-15, "{log_p:?}: {sum}");
        }
    }
}
