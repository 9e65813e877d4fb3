//! From one density to the next by weights alone.

use super::state::State;
use crate::{
    Error, Result,
    importance::log_sum_exp,
    lost,
    path::Parts,
    schedule::{Draws, Position, Reason, Rule, ScheduleError, Step},
    weight::effective_size,
};

/// The least share of the effective sample size that the rule foresees.
const FORESEEN: f64 = 0.5;

impl State {
    /// The next step of a rule on the way between two densities: it looks at the log of their ratio,
    /// which is b if they are the ends of a path; the guard may shorten it. Moves the weights and
    /// log Z along.
    pub(super) fn advance(
        &mut self,
        rule: &dyn Rule,
        at: Position,
        [from, to]: [Parts; 2],
    ) -> Result<Step> {
        let b = self.log_ratios(from, to);
        let weights = self.weights();
        let step = match rule.next(at, &Draws { b: &b, weights: Some(&weights) }) {
            // The densities are the same but for a constant: there is nothing to be done on the way.
            Err(ScheduleError::NoSpread { .. }) => Step::new(at, 1.0, Reason::End)?,
            step => step?,
        };
        let step = if rule.needs_draws() { self.shortened(step, at, &b, &weights) } else { step };
        self.log_z += self.reweight(&b, step.epsilon)?;
        Ok(step)
    }

    /// The step, as short as the guard asks for: half of it, or less, where the weights would rest on
    /// far fewer particles than the spread of b foresees.
    fn shortened(&self, step: Step, at: Position, b: &[f64], weights: &[f64]) -> Step {
        let mut epsilon = self.pace * step.epsilon;
        if let Some(std_b) = step.std_b {
            // For a normal b the share is exp(−(ε S)²).
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

    /// log of the ratio of two densities at every particle.
    pub(super) fn log_ratios(&self, from: Parts, to: Parts) -> Vec<f64> {
        let ratio = to.minus(from);
        let particles = &self.particles;
        (0..particles.len())
            .map(|i| match particles.log_density(from, i) {
                here if lost::is_lost(here) => here,
                _ => particles.log_density(ratio, i),
            })
            .collect()
    }

    /// Multiplies the weights by exp(ε b); returns the log of their sum, which is what log Z gains.
    fn reweight(&mut self, b: &[f64], epsilon: f64) -> Result<f64> {
        for (weight, b) in self.log_weights.iter_mut().zip(b) {
            *weight = lost::log_density(*weight + epsilon * b);
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

    /// The weights' effective sample size, as a share of the particles.
    pub(super) fn ess_share(&self) -> f64 {
        let squares: f64 = self.log_weights.iter().map(|w| (2.0 * w).exp()).sum();
        effective_size(1.0, squares) / self.particles.len() as f64
    }
}

/// (Σ W w)²/Σ W w² with w = exp(ε b), over the particles that have a b: 1 at ε = 0.
fn conditional_ess(b: &[f64], weights: &[f64], epsilon: f64) -> f64 {
    let usable = || b.iter().zip(weights).filter(|(b, _)| !lost::is_lost(**b));
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
