//! What the rungs of the ladder pass on to those after them.

use super::candidate::Candidate;
use crate::{Batch, smc::Population};

/// What the rungs have found so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) best: Option<Candidate>,
    /// Has the search found more than one peak?
    pub(super) has_several_peaks: bool,
    /// The particles, until a flow uses them.
    pub(super) population: Option<Population>,
    /// Points of the target by which candidates are compared.
    pub(super) held_out: Option<Batch>,
    pub(super) are_chains_tried: bool,
}

impl Found {
    /// Keeps the better of a candidate and the best one so far.
    pub(super) fn consider(&mut self, candidate: Candidate) {
        let best = self.best.take();
        self.best = Some(candidate.or_better_than(best, self.held_out.as_ref()));
    }

    /// Is there no candidate with useful weights?
    pub(super) fn is_poor(&self) -> bool {
        self.best.as_ref().is_none_or(Candidate::is_poor)
    }
}
