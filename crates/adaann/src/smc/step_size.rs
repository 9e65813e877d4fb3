//! The step lengths of local kernels, tuned by the acceptance rate.

use super::choice::LOCALS;

/// One step length for each of [`LOCALS`], in units of the local covariance.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct StepSizes(Vec<f64>);

impl StepSizes {
    /// The initial lengths in a given dimension.
    pub(super) fn new(dim: usize) -> Self {
        Self(LOCALS.iter().map(|local| (local.first_step_size)(dim)).collect())
    }

    /// The step length of a kernel.
    pub(super) fn of(&self, local: usize) -> f64 {
        self.0[local]
    }

    /// A Robbins-Monro update with constant gain, since densities change with t.
    pub(super) fn adapt(&mut self, local: usize, acceptance: f64) {
        let Self(sizes) = self;
        let longest = 2.0 * (LOCALS[local].first_step_size)(1);
        sizes[local] *= (acceptance - LOCALS[local].best_acceptance).exp();
        sizes[local] = sizes[local].clamp(1e-6, longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_where_more_is_accepted_than_is_best_and_stay_within_bounds() {
        for (at, local) in LOCALS.iter().enumerate() {
            let mut sizes = StepSizes::new(5);
            let first = sizes.of(at);
            sizes.adapt(at, local.best_acceptance);
            assert_eq!(sizes.of(at), first);
            sizes.adapt(at, local.best_acceptance - 0.1);
            assert!((sizes.of(at) / first - (-0.1_f64).exp()).abs() < 1e-14);
            (0..100).for_each(|_| sizes.adapt(at, 1.0));
            assert_eq!(sizes.of(at), 2.0 * (local.first_step_size)(1));
            (0..100).for_each(|_| sizes.adapt(at, 0.0));
            assert_eq!(sizes.of(at), 1e-6);
        }
    }
}
