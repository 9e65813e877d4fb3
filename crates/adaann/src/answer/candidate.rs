//! A candidate answer of a rung.

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

/// The least effective sample size at which weights are not poor.
const FEWEST: f64 = 400.0;

/// A candidate answer of a rung.
pub(super) struct Candidate {
    pub(super) method: Method,
    pub(super) flow: Flow,
    pub(super) sample: Sample,
    /// The seed of the stream that numbers the draws, if more draws can be taken.
    pub(super) stream: Option<u64>,
    pub(super) log_z: Option<Estimate>,
    /// Is it good enough, judged by its own weights?
    pub(super) is_good: bool,
    pub(super) fit: Option<Outcome>,
    /// The mixture, if q is one.
    pub(super) mixture: Option<Mixture>,
    /// The chains that made it.
    pub(super) chains: Option<Chains>,
}

impl Candidate {
    /// A candidate from an adapted mixture.
    pub(super) fn of_mixture(method: Method, adapted: Adapted) -> Result<Self> {
        let mixture = Some(adapted.mixture());
        let Adapted { flow, sample, stream, is_good, .. } = adapted;
        let candidate = Self::of_draws(method, flow, sample, is_good)?;
        Ok(Self { mixture, stream: Some(stream), ..candidate })
    }

    /// A candidate from weighted draws of a flow.
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

    /// The same against an optional other candidate.
    pub(super) fn lacks_mass_of_any(&self, other: Option<&Self>) -> bool {
        other.is_some_and(|other| self.lacks_mass_of(other))
    }

    /// Is the effective sample size of its weights too small?
    pub(super) fn is_poor(&self) -> bool {
        let ess = self.sample.weight_sums().map_or(0.0, |sums| sums.ess());
        !self.is_good && ess < FEWEST
    }

    /// The mean of log q at points of the target; none if the answer was not made from q. It is −KL(p‖q)
    /// up to a constant, so a larger value means that q is nearer to p.
    fn log_likelihood(&self, points: &Batch) -> Option<f64> {
        let log_q = self.flow.log_density(points).ok().filter(|_| self.chains.is_none())?;
        let mean = log_q.iter().sum::<f64>() / log_q.len() as f64;
        Some(if mean.is_nan() { f64::NEG_INFINITY } else { mean })
    }

    /// The better of this candidate and an earlier one. The one with more mass wins. Otherwise it is the
    /// one whose q has the higher likelihood at held-out points of the target. Without such points, a
    /// good candidate wins, or the one with the larger effective sample size.
    pub(super) fn or_better_than(self, other: Option<Self>, held_out: Option<&Batch>) -> Self {
        let Some(other) = other else { return self };
        // The one that has seen more of p wins: weights do not show mass that they have missed.
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
                // Chains that have not mixed count little, however many draws they have.
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

    /// Draws of N(0, 1) by approximations of different widths.
    fn candidate(sd: f64, is_good: bool) -> Candidate {
        let target = Program::record(1, |z| -0.5 * z[0].square());
        let base = Base::diagonal(&[0.0], &[sd]).unwrap();
        let flow = Flow::new(&FlowSpec::Affine, base).unwrap();
        let sample = Approximation::new(&target, flow.clone()).unwrap().sample(2_000, 1).unwrap();
        Candidate::of_draws(Method::Flow, flow, sample, is_good).unwrap()
    }

    /// The standard deviation from the density at 0, 1/(√(2π) σ).
    fn sd(candidate: &Candidate) -> f64 {
        let at_0 = candidate.flow.log_density(&Batch::from_points(1, &[[0.0]])).unwrap()[0];
        (-at_0).exp() / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn points_of_the_target_tell_which_is_nearer() {
        // Approximate quantiles of a standard normal.
        let points = Batch::from_points(1, &[[-1.3], [-0.5], [0.0], [0.5], [1.3]]);
        let near = || candidate(1.1, false);
        let far = || candidate(3.0, true);
        let likelier = near().or_better_than(Some(far()), Some(&points));
        assert!((sd(&likelier) - 1.1).abs() < 1e-12);
        let likelier = far().or_better_than(Some(near()), Some(&points));
        assert!((sd(&likelier) - 1.1).abs() < 1e-12);
        // Without held-out points, the candidate marked as good wins.
        let good = near().or_better_than(Some(far()), None);
        assert!((sd(&good) - 3.0).abs() < 1e-12);
    }
}
