//! Independence Metropolis: proposes y from the mixture with Student tails, independently of x. It
//! carries particles between modes.

use super::{Invariant, Kernel, Proposal, Uniform};
use crate::{Batch, Result, smc::particles::Particles};
use std::ops::Range;

/// The kernel; it has no tuning parameters.
#[doc(alias = "jump")]
pub(in crate::smc) struct Independence;

impl Kernel for Independence {
    fn keeps_gradient(&self) -> bool {
        true
    }

    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal> {
        let z = draw(on, first..first + from.len());
        let before = on.mixture.log_student(&from.z);
        let after = on.mixture.log_student(&z);
        let gradient = from.gradient.is_some().then_some(on.weights);
        let particles = Particles::evaluate(on.density, z, gradient)?;
        let log_ratio = before.iter().zip(after).map(|(before, after)| before - after).collect();
        Ok(Proposal { particles, log_ratio })
    }
}

/// Draws points of the mixture with Student tails; `points` are their global numbers.
pub(in crate::smc) fn draw(on: &Invariant, points: Range<usize>) -> Batch {
    let dim = on.density.target.dim();
    let mut z = Batch::zeros(dim, points.len());
    let normals = on.normals(points.start, dim, points.len());
    let mut point = vec![0.0; dim];
    for (i, number) in points.enumerate() {
        let uniforms = [Uniform::Component, Uniform::First, Uniform::Second]
            .map(|which| on.uniform(which, number));
        on.mixture.place_student(uniforms, &normals.point(i), &mut point);
        z.set_point(i, &point);
    }
    z
}
