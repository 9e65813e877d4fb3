//! Which method solves a system.

use crate::{Result, error};

/// A method with its accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solver {
    /// Kutta's classical method of order 4, with steps of this length; shorter ones where that is
    /// needed to land on the time of an observation.
    Rk4 {
        /// The longest step.
        step: f64,
    },
    /// Dormand and Prince's pair of orders 5 and 4. Every sample has its own steps, so that its
    /// solution does not depend on its companions.
    DormandPrince {
        /// Error tolerated in a step, as a share of the state.
        relative: f64,
        /// Error tolerated in a step whatever the state.
        absolute: f64,
        /// Steps that a sample may try; one that needs more is lost.
        most_steps: usize,
    },
}

impl Solver {
    /// Dormand and Prince's pair with tolerances that leave the error well below the noise of most
    /// data: 10⁻⁶ of the state.
    pub const ADAPTIVE: Self =
        Self::DormandPrince { relative: 1e-6, absolute: 1e-9, most_steps: 10_000 };

    pub(super) fn is_adaptive(&self) -> bool {
        matches!(self, Self::DormandPrince { .. })
    }

    pub(super) fn check(&self) -> Result<()> {
        match *self {
            Self::Rk4 { step } if !(step > 0.0 && step.is_finite()) => {
                Err(error::setting("step", step, "positive and finite"))
            }
            Self::DormandPrince { relative, .. } if !(1e-14..1.0).contains(&relative) => {
                Err(error::setting("relative", relative, "from 1e-14 to 1"))
            }
            Self::DormandPrince { absolute, .. } if !(absolute > 0.0 && absolute.is_finite()) => {
                Err(error::setting("absolute", absolute, "positive and finite"))
            }
            Self::DormandPrince { most_steps: 0, .. } => {
                Err(error::setting("most-steps", 0, "at least 1"))
            }
            _ => Ok(()),
        }
    }
}
