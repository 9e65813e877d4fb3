//! The Metropolis-adjusted Langevin algorithm: one leapfrog step.

use super::{Invariant, Kernel, Local, Proposal, leapfrog};
use crate::{Result, smc::particles::Particles};

/// The optimal acceptance is 0.574 in many dimensions (Roberts and Rosenthal 1998).
pub(in crate::smc) const LOCAL: Local = Local {
    name: "mala",
    about: "Langevin steps: one gradient per move",
    best_acceptance: 0.574,
    first_step_size: |dim| 1.4 / (dim as f64).powf(1.0 / 6.0),
    new: |step_size, _| Box::new(Mala { step_size }),
};

struct Mala {
    step_size: f64,
}

impl Kernel for Mala {
    fn needs_gradient(&self) -> bool {
        true
    }

    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal> {
        leapfrog::propose(on, from, first, self.step_size, 1)
    }
}
