//! A last stage that covers the target's mass: training on the flow's own draws, weighted by p/q.
//!
//! Algorithm 1 makes E_q[log q − log p] small, which forgives a q that is too narrow. Here the
//! divergence is taken the other way, where q must be wherever p is: KL(p‖q), whose gradient is that
//! of −E_p[log q], or the second Rényi divergence, log E_q[(p/q)²], which is minus the logarithm of
//! the effective sample size. Both are means over draws of the flow q₀ that a round begins with:
//! points resampled by the weights w = p/q₀ for the first, by w² and then weighted by q₀/q for the
//! second, whose gradient is that of −E_q₀[(p/q₀)(p/q) log q] at a fixed p/q. Weights are cut at the
//! mean of w times √S for S draws (Ionides 2008), so that no single draw decides.

use super::{
    Event, Observer, UpdateRecord,
    lessons::{Lessons, Pool, Trainer},
    multiple_importance::MultipleImportance,
    run::Run,
    shard::Drawn,
};
use crate::{
    Batch, Result, error,
    rng::{Purpose, Stream},
    schedule::{Phase, weight_ess},
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Settings of the mass-covering stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForwardKl {
    /// How often fresh draws are taken and trained on.
    pub rounds: usize,
    /// S: draws of a round, each an evaluation of the target. The last round is judged by as many.
    pub draws: usize,
    /// Updates of a round.
    pub updates: usize,
    /// Points in an update, resampled from the round's draws.
    pub batch: usize,
    /// What falls.
    pub divergence: Divergence,
    /// The learning rate, which falls to 0 by half a cosine over the stage.
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

/// What the draws that a round begins with, or the stage ends with, say of the flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundRecord {
    /// Rounds done before.
    pub round: usize,
    /// Share of the draws that counts as draws of p: the effective sample size of the weights p/q.
    /// Draws that miss a mode do not know of it.
    pub ess: f64,
    /// The same from the draws of all rounds, when the stage is over: the round where it is largest
    /// is kept.
    pub ess_of_all: Option<f64>,
    /// Estimate of E_q[log q − log p] from the draws that are not lost; NaN if all are.
    pub neg_elbo: f64,
    /// Share of the draws where p is 0 or not a number.
    pub lost: f64,
}

/// Draws of a round; more would not fit the memory.
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

    /// Updates of the whole stage.
    pub fn total_updates(&self) -> usize {
        self.rounds.saturating_mul(self.updates)
    }
}

impl Run<'_> {
    /// The stage. The parameters that it ends with are those of the round with the largest effective
    /// sample size over the draws of all rounds, those before the first included. `Break` says that
    /// the observer stopped it.
    pub(super) fn forward_kl(
        &mut self,
        forward_kl: &ForwardKl,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        // The inverse is that of the flow in double precision.
        self.flow = self.flow.clone().into_double();
        let stream = Stream::new(self.settings.seed, Purpose::ForwardKl);
        let lessons = Lessons {
            updates: forward_kl.total_updates(),
            batch: forward_kl.batch,
            lr: forward_kl.lr,
            clip: self.settings.refine_clip,
            stream,
        };
        let mut trainer = Trainer::new(&self.flow, &lessons);
        let mut shards = self.shards(forward_kl.draws);
        let points = Some(Batch::zeros(self.flow.dim(), forward_kl.draws));
        let mut drawn = Drawn { points, ..Drawn::default() };
        let mut seen = MultipleImportance::default();
        let mut told = ControlFlow::Continue(());
        for round in 0..=forward_kl.rounds {
            shards.draw(&self.flow, &self.density, &stream, round as u64, &mut drawn)?;
            self.outcome.target_evaluations += forward_kl.draws;
            let log_weights = log_weights(&drawn);
            let record = judge(round, &drawn, &log_weights);
            let points = drawn.points.as_ref().expect("the points are kept");
            seen.add(&self.flow, points, drawn.a.iter().zip(&drawn.b).map(|(a, b)| a + b));
            self.outcome.rounds.push(record);
            told = observer.observe(&Event::Round(&record));
            // Without a draw where p is positive there is nothing to learn from.
            if round == forward_kl.rounds || record.ess == 0.0 || told.is_break() {
                break;
            }
            let weights = forward_kl.divergence.weights(&log_weights);
            // The gradient of the second divergence has the flow's own 1/q in it: with that of the
            // draws alone, training would end at p²/q and only turn the error around.
            let log_q = (forward_kl.divergence == Divergence::Alpha2).then_some(&drawn.log_q[..]);
            let pool = Pool::new(points, &weights, log_q)?;
            let trace = &mut self.outcome.trace;
            told = trainer.train(&mut self.flow, &pool, forward_kl.updates, &mut || {
                let update = trace.len() + 1;
                let record = UpdateRecord { update, t: 1.0, neg_elbo: record.neg_elbo };
                trace.push(record);
                observer.observe(&Event::Update { record: &record, phase: Phase::ForwardKl })
            })?;
            if told.is_break() {
                break;
            }
        }
        let shares = seen.judge(&mut self.flow)?;
        for (record, share) in self.outcome.rounds.iter_mut().zip(shares) {
            record.ess_of_all = Some(share);
        }
        Ok(told)
    }
}

/// log p − log q at each draw; −∞ where it is not a number.
fn log_weights(drawn: &Drawn) -> Vec<f64> {
    let of = |((a, b), log_q): ((&f64, &f64), &f64)| {
        let log_weight = a + b - log_q;
        if log_weight < f64::INFINITY { log_weight } else { f64::NEG_INFINITY }
    };
    drawn.a.iter().zip(&drawn.b).zip(&drawn.log_q).map(of).collect()
}

fn judge(round: usize, drawn: &Drawn, log_weights: &[f64]) -> RoundRecord {
    let finite = || log_weights.iter().filter(|log_weight| log_weight.is_finite());
    let kept = finite().count() as f64;
    RoundRecord {
        round,
        ess: weight_ess(1.0, &drawn.a, &drawn.b, &drawn.log_q),
        ess_of_all: None,
        neg_elbo: -finite().sum::<f64>() / kept,
        lost: 1.0 - kept / log_weights.len() as f64,
    }
}

impl Divergence {
    /// By which weights points are resampled.
    fn weights(self, log_weights: &[f64]) -> Vec<f64> {
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

    /// Of four draws with weights 1, 0, 0 and e⁻¹ none exceeds √4 times the mean; of sixteen with one
    /// weight of 1 and the rest 0 the large one is cut to 4/16.
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
