//! An answer that a rung proposes.

use super::Method;
use crate::{
    Batch, Result,
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
    /// The seed of the stream that they are numbered in, if they are draws that more can be taken of.
    pub(super) stream: Option<u64>,
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
        let Adapted { flow, sample, stream, is_good, .. } = adapted;
        let candidate = Self::of_draws(method, flow, sample, is_good)?;
        Ok(Self { mixture, stream: Some(stream), ..candidate })
    }

    /// Weighted draws of a flow.
    pub(super) fn of_draws(
        method: Method,
        flow: Flow,
        sample: Sample,
        is_good: bool,
    ) -> Result<Self> {
        let log_z = Some(sample.log_z()?);
        Ok(Self {
            method,
            flow,
            sample,
            stream: None,
            log_z,
            is_good,
            fit: None,
            mixture: None,
            chains: None,
        })
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

    /// The mean of log q at points of the target; none where q is not what made the answer. The larger
    /// it is, the nearer q is to p: it is −KL(p‖q) but for a constant.
    fn log_likelihood(&self, points: &Batch) -> Option<f64> {
        let log_q = self.flow.log_density(points).ok().filter(|_| self.chains.is_none())?;
        let mean = log_q.iter().sum::<f64>() / log_q.len() as f64;
        Some(if mean.is_nan() { f64::NEG_INFINITY } else { mean })
    }

    /// This or an earlier one: the one with more mass, then the one whose q is likelier at points of the
    /// target that neither was fitted to, where there are such points; else one that is good, or the one
    /// whose draws count for more.
    pub(super) fn or_better_than(self, other: Option<Self>, held_out: Option<&Batch>) -> Self {
        let Some(other) = other else { return self };
        // Of two the one that has seen more of p: weights do not know of what they have missed.
        match (self.lacks_mass_of(&other), other.lacks_mass_of(&self)) {
            (true, false) => return other,
            (false, true) => return self,
            _ => {}
        }
        let likelihoods = held_out
            .and_then(|points| self.log_likelihood(points).zip(other.log_likelihood(points)));
        if let Some((own, others)) = likelihoods
            && own != others
        {
            return if others > own { other } else { self };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Program,
        approximation::Approximation,
        flow::{Base, FlowSpec},
    };

    /// Draws of N(0, 1) by wider and wider approximations.
    fn candidate(sd: f64, is_good: bool) -> Candidate {
        let target = Program::record(1, |z| -0.5 * z[0].square());
        let base = Base::diagonal(&[0.0], &[sd]).unwrap();
        let flow = Flow::new(&FlowSpec::Affine, base).unwrap();
        let sample = Approximation::new(&target, flow.clone()).unwrap().sample(2_000, 1).unwrap();
        Candidate::of_draws(Method::Flow, flow, sample, is_good).unwrap()
    }

    /// By its density at 0, 1/(√(2π) σ).
    fn sd(candidate: &Candidate) -> f64 {
        let at_0 = candidate.flow.log_density(&Batch::from_points(1, &[[0.0]])).unwrap()[0];
        (-at_0).exp() / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn points_of_the_target_tell_which_is_nearer() {
        // Quantiles of a standard normal, roughly.
        let points = Batch::from_points(1, &[[-1.3], [-0.5], [0.0], [0.5], [1.3]]);
        let near = || candidate(1.1, false);
        let far = || candidate(3.0, true);
        let likelier = near().or_better_than(Some(far()), Some(&points));
        assert!((sd(&likelier) - 1.1).abs() < 1e-12);
        let likelier = far().or_better_than(Some(near()), Some(&points));
        assert!((sd(&likelier) - 1.1).abs() < 1e-12);
        // Without them what calls itself good is kept.
        let good = near().or_better_than(Some(far()), None);
        assert!((sd(&good) - 3.0).abs() < 1e-12);
    }
}
