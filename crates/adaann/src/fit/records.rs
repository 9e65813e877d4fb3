//! The records of a run: one for each update, value of t, and round.

use crate::schedule::Reason;
use serde::Serialize;

/// One parameter update.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct UpdateRecord {
    /// Its number, from 1.
    pub update: usize,
    /// The inverse temperature.
    pub t: f64,
    /// Estimate of E_q[log q − log p_t] from the update's own points, before the update; in the
    /// forward-KL refinement, from the draws at the start of its round.
    pub neg_elbo: f64,
}

/// The record of one value of t, when its training is over.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: usize,
    /// The inverse temperature.
    pub t: f64,
    /// The distance to the next value; 0 at t = 1.
    pub epsilon: f64,
    /// Standard deviation of b over the schedule's draws, if it used them.
    pub std_b: Option<f64>,
    /// Updates made at this t.
    pub updates: usize,
    /// Share of the points of this stage that are non-finite: log density −∞ or NaN.
    pub lost: f64,
    /// Effective share of the last draws at this t, from the weights p_t/q, if draws were taken.
    pub ess: Option<f64>,
    /// The reason for the step to the next value; absent at t = 1.
    pub reason: Option<Reason>,
}

/// Results of the draws at the start of a round, or at the end of the refinement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct RoundRecord {
    /// The number of rounds before.
    pub round: usize,
    /// Effective share of the draws, from the weights p/q. It does not show a mode that the draws
    /// miss.
    pub ess: f64,
    /// The same from the draws of all rounds, once the refinement is over; the round with the largest
    /// value is kept.
    pub ess_of_all: Option<f64>,
    /// Estimate of E_q[log q − log p] from the finite draws; NaN if there are none.
    pub neg_elbo: f64,
    /// Share of the draws where p is 0 or NaN.
    pub lost: f64,
}
