//! Which method solves a system.

use crate::{Result, error};

/// The smallest relative tolerance that rounding leaves a meaning.
const TIGHTEST: f64 = 1e-13;

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
    /// Implicit steps of orders 1 to 5 (backward differentiation, from the crate `diffsol`), for
    /// systems whose rates lie decades apart: there an explicit step is bound to the fastest rate
    /// long after it has done its work, and Dormand and Prince's pair takes 10⁴ steps or more, or
    /// loses the sample.
    ///
    /// Samples are solved one after another, each in hundreds of microseconds with its gradient, or
    /// some milliseconds where tolerances are tight; where an explicit method needs some hundreds of
    /// steps or fewer it is far faster. Gradients go by sensitivities only, with an error that falls
    /// with the tolerances as that of the states does: they are not those of the very numbers
    /// computed. Where some states are tiny, `absolute` must be tinier.
    #[cfg(feature = "stiff")]
    Stiff {
        /// Error tolerated in a step, as a share of the state.
        relative: f64,
        /// Error tolerated in a step whatever the state.
        absolute: f64,
        /// Steps that a sample may take; one that needs more is lost.
        most_steps: usize,
    },
}

impl Solver {
    /// Dormand and Prince's pair with tolerances that leave the error well below the noise of most
    /// data: 10⁻⁶ of the state.
    pub const ADAPTIVE: Self =
        Self::DormandPrince { relative: 1e-6, absolute: 1e-9, most_steps: 10_000 };

    /// The same method with an error that is smaller by a factor of about a hundred, or as small as
    /// rounding allows.
    pub(crate) fn tightened(self) -> Self {
        // Steps of order 5 are then shorter by a factor of 2.5.
        let tighter = |relative: f64, absolute: f64, most_steps: usize| {
            let relative = (relative / 100.0).max(TIGHTEST).min(relative);
            (relative, absolute / 100.0, most_steps.saturating_mul(10))
        };
        match self {
            // Of order 4: a factor of 256.
            Self::Rk4 { step } => Self::Rk4 { step: step / 4.0 },
            Self::DormandPrince { relative, absolute, most_steps } => {
                let (relative, absolute, most_steps) = tighter(relative, absolute, most_steps);
                Self::DormandPrince { relative, absolute, most_steps }
            }
            #[cfg(feature = "stiff")]
            Self::Stiff { relative, absolute, most_steps } => {
                let (relative, absolute, most_steps) = tighter(relative, absolute, most_steps);
                Self::Stiff { relative, absolute, most_steps }
            }
        }
    }

    pub(super) fn is_adaptive(&self) -> bool {
        matches!(self, Self::DormandPrince { .. })
    }

    pub(super) fn check(&self) -> Result<()> {
        let (relative, absolute, most_steps) = match *self {
            Self::Rk4 { step } if !(step > 0.0 && step.is_finite()) => {
                return Err(error::setting("step", step, "positive and finite"));
            }
            Self::Rk4 { .. } => return Ok(()),
            Self::DormandPrince { relative, absolute, most_steps } => {
                (relative, absolute, most_steps)
            }
            #[cfg(feature = "stiff")]
            Self::Stiff { relative, absolute, most_steps } => (relative, absolute, most_steps),
        };
        if !(1e-14..1.0).contains(&relative) {
            return Err(error::setting("relative", relative, "from 1e-14 to 1"));
        }
        if !(absolute > 0.0 && absolute.is_finite()) {
            return Err(error::setting("absolute", absolute, "positive and finite"));
        }
        if most_steps == 0 {
            return Err(error::setting("most-steps", 0, "at least 1"));
        }
        Ok(())
    }
}
