//! An answer that a rung proposes.

use super::Method;
use crate::{
    Result,
    adaptive::Adapted,
    chains::Chains,
    fit::Outcome,
    flow::Flow,
    importance::{Estimate, Sample},
    mixture::Mixture,
};

/// Draws of the target that weights are worth at least, or they are poor.
const FEWEST: f64 = 400.0;

/// An answer that a rung proposes.
pub(super) struct Candidate {
    pub(super) method: Method,
    pub(super) flow: Flow,
    pub(super) sample: Sample,
    pub(super) log_z: Option<Estimate>,
    /// Is it good enough, as far as its own weights can tell?
    pub(super) is_good: bool,
    pub(super) fit: Option<Outcome>,
    /// What q is, if it is a mixture.
    pub(super) mixture: Option<Mixture>,
    /// The chains that made it.
    pub(super) chains: Option<Chains>,
}

impl Candidate {
    /// A mixture that was adapted.
    pub(super) fn of_mixture(method: Method, adapted: Adapted) -> Result<Self> {
        let mixture = Some(adapted.mixture());
        let Adapted { flow, sample, is_good, .. } = adapted;
        let candidate = Self::of_draws(method, flow, sample, is_good)?;
        Ok(Self { mixture, ..candidate })
    }

    /// Weighted draws of a flow.
    pub(super) fn of_draws(
        method: Method,
        flow: Flow,
        sample: Sample,
        is_good: bool,
    ) -> Result<Self> {
        let sums = sample.weight_sums()?;
        let log_z = Some(Estimate { value: sums.log_z(), error: sums.log_z_error() });
        Ok(Self { method, flow, sample, log_z, is_good, fit: None, mixture: None, chains: None })
    }

    /// Is its evidence below that of another by more than their errors?
    pub(super) fn lacks_mass_of(&self, other: &Self) -> bool {
        let gap = self.log_z.zip(other.log_z).map(|(own, other)| own.minus(other));
        gap.is_some_and(|gap| gap.value < -0.02 && gap.value < -4.0 * gap.error)
    }

    /// The same of one that may not be there.
    pub(super) fn lacks_mass_of_any(&self, other: Option<&Self>) -> bool {
        other.is_some_and(|other| self.lacks_mass_of(other))
    }

    /// Are its weights worth next to nothing?
    pub(super) fn is_poor(&self) -> bool {
        let ess = self.sample.weight_sums().map_or(0.0, |sums| sums.ess());
        !self.is_good && ess < FEWEST
    }

    /// This or an earlier one: the one with more mass, one that is good, or the one whose draws count
    /// for more.
    pub(super) fn or_better_than(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        // Of two the one that has seen more of p: weights do not know of what they have missed.
        match (self.lacks_mass_of(&other), other.lacks_mass_of(&self)) {
            (true, false) => return other,
            (false, true) => return self,
            _ => {}
        }
        let worth = |candidate: &Self| {
            let ess = match &candidate.chains {
                // Chains that have not mixed are worth little, however many draws they have.
                Some(chains) => chains.worst_bulk_ess().min(400.0),
                None => candidate.sample.weight_sums().map_or(0.0, |sums| sums.ess()),
            };
            (candidate.is_good, ess)
        };
        let (own, others) = (worth(&self), worth(&other));
        if (others.0, others.1) > (own.0, own.1) { other } else { self }
    }
}
