//! Reweights particles from one density to the next.

use super::state::State;
use crate::{
    Error, Result,
    importance::log_sum_exp,
    non_finite,
    path::Parts,
    schedule::{Draws, Position, Reason, Rule, ScheduleError, Step},
    weight::effective_size,
};

/// The least effective sample size, as a fraction of the one the rule predicts.
const FORESEEN: f64 = 0.5;

impl State {
    /// Takes the rule's next step between two densities. The rule sees the log of their ratio, which
    /// is b if they are the ends of a path; the guard may shorten the step. Updates the weights and
    /// log Z.
    pub(super) fn advance(
        &mut self,
        rule: &dyn Rule,
        at: Position,
        [from, to]: [Parts; 2],
    ) -> Result<Step> {
        let b = self.log_ratios(from, to);
        let weights = self.weights();
        let step = match rule.next(at, &Draws { b: &b, weights: Some(&weights) }) {
            // The densities are equal up to a constant: go straight to the end.
            Err(ScheduleError::NoSpread { .. }) => Step::new(at, 1.0, Reason::End)?,
            step => step?,
        };
        let step = if rule.needs_draws() { self.shortened(step, at, &b, &weights) } else { step };
        self.log_z += self.reweight(&b, step.epsilon)?;
        Ok(step)
    }

    /// The step, halved by the guard until the weights no longer rest on far fewer particles than the
    /// spread of b predicts.
    fn shortened(&self, step: Step, at: Position, b: &[f64], weights: &[f64]) -> Step {
        let mut epsilon = self.pace * step.epsilon;
        if let Some(std_b) = step.std_b {
            // For a normal b the fraction is exp(−(ε S)²).
            let foreseen = |epsilon: f64| (-(epsilon * std_b).powi(2)).exp();
            while conditional_ess(b, weights, epsilon) < FORESEEN * foreseen(epsilon)
                && at.t + 0.5 * epsilon > at.t
            {
                epsilon *= 0.5;
            }
        }
        match epsilon < step.epsilon {
            true => Step { t: at.t + epsilon, epsilon, ..step },
            false => step,
        }
    }

    /// Log ratio of two densities at every particle.
    pub(super) fn log_ratios(&self, from: Parts, to: Parts) -> Vec<f64> {
        let ratio = to.minus(from);
        let particles = &self.particles;
        (0..particles.len())
            .map(|i| match particles.log_density(from, i) {
                here if non_finite::is_non_finite(here) => here,
                _ => particles.log_density(ratio, i),
            })
            .collect()
    }

    /// Multiplies the weights by exp(ε b); returns the log of their sum, the increment of log Z.
    fn reweight(&mut self, b: &[f64], epsilon: f64) -> Result<f64> {
        for (weight, b) in self.log_weights.iter_mut().zip(b) {
            *weight = non_finite::log_density(*weight + epsilon * b);
        }
        let gained = log_sum_exp(self.log_weights.iter().copied());
        if !gained.is_finite() {
            return Err(Error::Target(
                "no particle has a finite log density; start from a base (base-mean, base-sd) that \
                 lies inside the support"
                    .into(),
            ));
        }
        self.log_weights.iter_mut().for_each(|weight| *weight -= gained);
        Ok(gained)
    }

    /// The weights' effective sample size, as a fraction of the particles.
    pub(super) fn ess_share(&self) -> f64 {
        let squares: f64 = self.log_weights.iter().map(|w| (2.0 * w).exp()).sum();
        effective_size(1.0, squares) / self.particles.len() as f64
    }
}

/// (Σ W w)²/Σ W w² with w = exp(ε b), over the particles with a finite b: 1 at ε = 0.
fn conditional_ess(b: &[f64], weights: &[f64], epsilon: f64) -> f64 {
    let usable = || b.iter().zip(weights).filter(|(b, _)| !non_finite::is_non_finite(**b));
    let largest = usable().map(|(b, _)| *b).fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for (b, weight) in usable() {
        let w = (epsilon * (b - largest)).exp();
        total += weight;
        first += weight * w;
        second += weight * w * w;
    }
    effective_size(first, second * total)
}
