//! The result of the ladder.

use super::{Method, Rung};
use crate::{
    diagnostics::Examination,
    fit::Outcome,
    flow::Flow,
    importance::{Estimate, Sample},
};

/// The result of the ladder.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The method that made it.
    pub method: Method,
    /// q, as a flow.
    pub flow: Flow,
    /// The weighted sample of the target.
    pub sample: Sample,
    /// The seed of the stream that numbers its draws; none for chains, whose draws are not draws of q.
    pub stream: Option<u64>,
    /// log ∫p; none if it is unknown, as for chains in many dimensions.
    pub log_z: Option<Estimate>,
    /// The rungs in order.
    pub rungs: Vec<Rung>,
    /// The evaluations of the target, without those of the check.
    pub evaluations: usize,
    /// The check; none if it was not requested or there was no time for it.
    pub examination: Option<Examination>,
    /// The evaluations of the target for the check, including a failed check.
    pub check_evaluations: usize,
    /// The training of the flow, if one was annealed.
    pub fit: Option<Outcome>,
    /// Did it end because its budget was spent?
    pub spent: bool,
    /// Did the observer stop it?
    pub stopped: bool,
}
