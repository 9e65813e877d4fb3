//! The draws on which a round of the forward-KL refinement is trained and judged.

use super::RoundRecord;
use crate::{Batch, flow::Flow, schedule::weight_ess, simd::Buffer, train::Drawn, weight};
use serde::{Deserialize, Serialize};

/// The flow at the start of a round, and its draws.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) parameters: Buffer,
    pub(super) points: Batch,
    /// log p at each point, up to a constant; −∞ where p has no density.
    pub(super) log_p: Buffer,
    pub(super) log_q: Buffer,
    /// Effective share of the draws.
    pub(super) ess: f64,
}

impl Round {
    pub(super) fn new(flow: &Flow, points: Batch, drawn: &Drawn) -> Self {
        let lost = f64::NEG_INFINITY;
        let log_p = drawn.a.iter().zip(&drawn.b).map(|(a, b)| a + b);
        let log_p = log_p.map(|log_p| if log_p.is_finite() { log_p } else { lost });
        Self {
            parameters: flow.parameters().into(),
            points,
            log_p: log_p.collect::<Vec<_>>()[..].into(),
            log_q: drawn.log_q[..].into(),
            ess: weight_ess(1.0, &drawn.a, &drawn.b, &drawn.log_q),
        }
    }

    /// log p − log q at each draw; −∞ where it is NaN.
    pub(super) fn log_weights(&self) -> Vec<f64> {
        let of = |(log_p, log_q): (&f64, &f64)| {
            let log_weight = weight::log_weight(*log_p, *log_q);
            if log_weight < f64::INFINITY { log_weight } else { f64::NEG_INFINITY }
        };
        self.log_p.iter().zip(&*self.log_q).map(of).collect()
    }

    /// The results of the draws, after `round` rounds.
    pub(super) fn record(&self, round: usize) -> RoundRecord {
        let log_weights = self.log_weights();
        let finite = || log_weights.iter().filter(|log_weight| log_weight.is_finite());
        let kept = finite().count() as f64;
        RoundRecord {
            round,
            ess: self.ess,
            ess_of_all: None,
            neg_elbo: -finite().sum::<f64>() / kept,
            lost: 1.0 - kept / log_weights.len() as f64,
        }
    }
}
