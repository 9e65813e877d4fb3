//! What the ladder came to.

use super::{Method, Rung};
use crate::{
    diagnostics::Examination,
    fit::Outcome,
    flow::Flow,
    importance::{Estimate, Sample},
};

/// What the ladder came to.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The method that made it.
    pub method: Method,
    /// q, as a flow.
    pub flow: Flow,
    /// The weighted sample that stands for the target.
    pub sample: Sample,
    /// The seed of the stream that its draws are numbered in; none of chains, which are no draws of q.
    pub stream: Option<u64>,
    /// log ∫p; none where it cannot be had, as of chains in many dimensions.
    pub log_z: Option<Estimate>,
    /// A line for each rung.
    pub rungs: Vec<Rung>,
    /// Points at which the target was evaluated, without those of the check.
    pub evaluations: usize,
    /// The check, unless none was asked for or there was no time for it.
    pub examination: Option<Examination>,
    /// Points at which the target was evaluated for the check, also where it came to no end.
    pub check_evaluations: usize,
    /// The training of the flow, if one was annealed.
    pub fit: Option<Outcome>,
    /// Did it end because it had spent what it was given?
    pub spent: bool,
    /// Did the observer stop it?
    pub stopped: bool,
}
