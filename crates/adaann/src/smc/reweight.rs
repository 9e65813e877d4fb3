//! From one density to the next by weights alone.

use super::state::State;
use crate::{
    Error, Result,
    importance::log_sum_exp,
    lost,
    path::Parts,
    schedule::{Draws, Position, Rule, Step},
    weight::effective_size,
};

impl State {
    /// The next step of a rule on the way between two densities: it looks at the log of their ratio,
    /// which is b if they are the ends of a path. Moves the weights and log Z along.
    pub(super) fn advance(
        &mut self,
        rule: &dyn Rule,
        at: Position,
        [from, to]: [Parts; 2],
    ) -> Result<Step> {
        let b = self.log_ratios(from, to);
        let step = rule.next(at, &Draws { b: &b, weights: Some(&self.weights()) })?;
        self.log_z += self.reweight(&b, step.epsilon)?;
        Ok(step)
    }

    /// log of the ratio of two densities at every particle.
    fn log_ratios(&self, from: Parts, to: Parts) -> Vec<f64> {
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
