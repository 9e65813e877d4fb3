//! Forward-KL refinement, a last stage that covers the target's mass: training on the flow's own
//! draws, weighted by p/q.
//!
//! Algorithm 1 minimises E_q[log q − log p], which tolerates a q that is too narrow. This stage uses
//! a divergence in the other direction, which requires q to cover p: KL(p‖q), whose gradient is that
//! of −E_p[log q], or the second Rényi divergence, log E_q[(p/q)²], which is minus the logarithm of
//! the effective sample size. Both are means over draws of the flow q₀ at the start of a round. For
//! the first, points are resampled by the weights w = p/q₀. For the second, they are resampled by w²
//! and then weighted by q₀/q; its gradient is that of −E_q₀[(p/q₀)(p/q) log q] at a fixed p/q.
//! Weights are truncated at the mean of w times √S for S draws (Ionides 2008), so that no single draw
//! dominates.

use crate::{Result, error};
use serde::{Deserialize, Serialize};

/// Settings of the forward-KL refinement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForwardKl {
    /// Number of rounds of fresh draws and training on them.
    pub rounds: usize,
    /// S: draws of a round, each an evaluation of the target. As many more judge the last round.
    pub draws: usize,
    /// Updates of a round.
    pub updates: usize,
    /// Points in an update, resampled from the round's draws.
    pub batch: usize,
    /// The divergence to minimise.
    pub divergence: Divergence,
    /// The learning rate, which falls to 0 as half a cosine over the stage.
    pub lr: f64,
}

impl Default for ForwardKl {
    fn default() -> Self {
        Self {
            rounds: 10,
            draws: 10_000,
            updates: 200,
            batch: 500,
            divergence: Divergence::ForwardKl,
            lr: 0.001,
        }
    }
}

/// A divergence that is large where q is small and p is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divergence {
    /// KL(p‖q)
    #[default]
    ForwardKl,
    /// log E_q[(p/q)²]: stricter in the tails.
    Alpha2,
}

/// The most draws of a round; more would not fit into memory.
const MOST_DRAWS: usize = 100_000_000;

impl ForwardKl {
    pub(super) fn check(&self) -> Result<()> {
        let counts = [
            ("forward-kl", self.rounds, 1),
            ("forward-kl-draws", self.draws, 2),
            ("forward-kl-updates", self.updates, 1),
            ("forward-kl-batch", self.batch, 1),
        ];
        for (name, count, least) in counts {
            if !(least..=MOST_DRAWS).contains(&count) {
                let range = format!("from {least} to {MOST_DRAWS}");
                return Err(error::setting(name, count, range));
            }
        }
        if !(self.lr > 0.0 && self.lr.is_finite()) {
            return Err(error::setting("forward-kl-lr", self.lr, "positive and finite"));
        }
        Ok(())
    }

    /// The number of updates of the whole stage.
    pub fn total_updates(&self) -> usize {
        self.rounds.saturating_mul(self.updates)
    }
}

impl Divergence {
    /// The weights by which points are resampled.
    pub(super) fn weights(self, log_weights: &[f64]) -> Vec<f64> {
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights: Vec<f64> = log_weights.iter().map(|w| (w - largest).exp()).collect();
        let count = weights.len() as f64;
        let most = weights.iter().sum::<f64>() / count * count.sqrt();
        for weight in &mut weights {
            *weight = weight.min(most);
            if self == Self::Alpha2 {
                *weight *= *weight;
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four draws with weights 1, 0, 0 and e⁻¹ none exceeds √4 times the mean. Of sixteen draws
    /// with one weight of 1 and the rest 0, the large weight is truncated to 4/16.
    #[test]
    fn weights_are_cut_and_squared() {
        let lost = f64::NEG_INFINITY;
        let log_weights = [700.0, lost, lost, 699.0];
        let few = Divergence::ForwardKl.weights(&log_weights);
        let most = 2.0 * (1.0 + (-1.0_f64).exp()) / 4.0;
        assert_eq!(few[..3], [most, 0.0, 0.0]);
        assert_eq!(few[3], (-1.0_f64).exp());
        let squared = Divergence::Alpha2.weights(&log_weights);
        assert!(squared.iter().zip(&few).all(|(square, w)| *square == w * w));
        let mut many = vec![lost; 16];
        many[5] = -800.0;
        assert_eq!(Divergence::ForwardKl.weights(&many)[5], 4.0 / 16.0);
    }
}
