//! Gradients by central differences, evaluated in one batch, for programs without gradients.

use crate::external::Simulator;
use crate::{
    Batch, Result,
    target::{Support, by_differences, steps_inside},
};

impl Simulator {
    /// The log likelihood and its derivatives in the caller's coordinates, which `map` turns into
    /// the program's: (f(z + h) − f(z − h))/2h with h = ∛ε max(1, |z|), at 2D + 1 calls per point.
    ///
    /// If one side is not finite, a one-sided difference replaces it. If both sides or the point
    /// itself are not finite, the point is non-finite.
    ///
    /// # Errors
    /// As for [`Simulator::log_likelihood`].
    pub fn differences(
        &self,
        z: &Batch,
        map: impl Fn(&Batch) -> Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        let steps = |z: &[f64], steps: &mut [f64]| {
            for (step, z) in steps.iter_mut().zip(z) {
                *step = f64::EPSILON.cbrt() * z.abs().max(1.0);
            }
        };
        self.differences_by(z, steps, map, values, slopes)
    }

    /// Differences in the program's own coordinates, with steps that stay inside the supports
    /// although each coordinate moves alone.
    pub(super) fn differences_inside(
        &self,
        supports: &[Support],
        theta: &Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        let steps = |theta: &[f64], steps: &mut [f64]| steps_inside(supports, theta, steps);
        self.differences_by(theta, steps, Batch::clone, values, slopes)
    }

    fn differences_by(
        &self,
        z: &Batch,
        steps: impl Fn(&[f64], &mut [f64]),
        map: impl Fn(&Batch) -> Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        self.check(z, true, values, slopes)?;
        let none = &mut Batch::zeros(z.dim(), 0);
        by_differences(z, steps, values, slopes, |_, displaced, found| {
            self.log_likelihood(&map(displaced), false, found, none)
        })
    }
}
