//! Hamiltonian Monte Carlo: paths of a quarter of an oscillation, in as many leapfrog steps as their
//! length requires, up to a bound.

use super::{Invariant, Kernel, Local, Proposal, leapfrog};
use crate::{Result, smc::particles::Particles};
use std::f64::consts::FRAC_PI_2;

/// The optimal acceptance is 0.65 or more in many dimensions (Beskos and others 2013).
pub(in crate::smc) const LOCAL: Local = Local {
    name: "hmc",
    about: "Hamiltonian paths: long moves with several gradients each",
    best_acceptance: 0.7,
    first_step_size: |dim| 1.1 / (dim as f64).powf(0.25),
    new: |step_size, most_steps| Box::new(Hmc { step_size, most_steps }),
};

struct Hmc {
    step_size: f64,
    most_steps: usize,
}

impl Hmc {
    /// Number of steps in a quarter of an oscillation.
    fn quarter(&self) -> usize {
        (FRAC_PI_2 / self.step_size).round() as usize
    }
}

impl Kernel for Hmc {
    fn needs_gradient(&self) -> bool {
        true
    }

    fn evaluations(&self) -> usize {
        self.quarter().clamp(1, self.most_steps)
    }

    fn wants_more_steps(&self, than: usize) -> bool {
        self.quarter() > than
    }

    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal> {
        leapfrog::propose(on, from, first, self.step_size, self.evaluations())
    }
}
