//! Random-walk Metropolis: y = x + s L ξ.

use super::{Invariant, Kernel, Local, Proposal, local::Picked};
use crate::{Batch, Result, smc::particles::Particles};

/// The optimal acceptance is 0.234 in many dimensions and 0.44 in one (Gelman, Roberts and Gilks
/// 1996).
pub(in crate::smc) const LOCAL: Local = Local {
    name: "rwm",
    about: "random-walk Metropolis: needs no gradients",
    best_acceptance: 0.3,
    first_step_size: |dim| 2.38 / (dim as f64).sqrt(),
    new: |step_size, _| Box::new(RandomWalk { step_size }),
};

struct RandomWalk {
    step_size: f64,
}

impl Kernel for RandomWalk {
    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal> {
        let (dim, len) = (from.z.dim(), from.len());
        let picked = Picked::new(on, &from.z, first);
        let normals = on.normals(first, dim, len);
        let mut z = from.z.clone();
        let mut step = Batch::zeros(dim, len);
        picked.stretch(on, &normals, &mut step);
        for d in 0..dim {
            for (z, step) in z.row_mut(d).iter_mut().zip(step.row(d)) {
                *z += self.step_size * step;
            }
        }
        let log_ratio = picked.log_share_ratio(on, &z);
        Ok(Proposal { particles: Particles::evaluate(on.density, z, None)?, log_ratio })
    }
}
