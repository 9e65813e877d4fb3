//! What a run reports: a record for each update, value of t, and round.

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
    /// forward-KL refinement from the draws that its round began with.
    pub neg_elbo: f64,
}

/// One value of t, when its training is over.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: usize,
    /// The inverse temperature.
    pub t: f64,
    /// How far the next value lies above it; 0 at t = 1.
    pub epsilon: f64,
    /// Standard deviation of b over the schedule's draws, if it looked at them.
    pub std_b: Option<f64>,
    /// Updates made at this t.
    pub updates: usize,
    /// Share of the points of this stage that were lost: log density −∞ or not a number.
    pub lost: f64,
    /// Share of the last draws taken at this t that counts as draws of p_t: the effective sample size
    /// of the weights p_t/q, if draws were taken.
    pub ess: Option<f64>,
    /// What decided the step to the next value; absent at t = 1.
    pub reason: Option<Reason>,
}

/// What the draws that a round begins with, or the refinement ends with, say of the flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct RoundRecord {
    /// Rounds done before.
    pub round: usize,
    /// Share of the draws that counts as draws of p: the effective sample size of the weights p/q.
    /// Draws that miss a mode do not know of it.
    pub ess: f64,
    /// The same from the draws of all rounds, when the refinement is over: the round where it is
    /// largest is kept.
    pub ess_of_all: Option<f64>,
    /// Estimate of E_q[log q − log p] from the draws that are not lost; NaN if all are.
    pub neg_elbo: f64,
    /// Share of the draws where p is 0 or not a number.
    pub lost: f64,
}
