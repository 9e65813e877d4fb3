//! Which method solves a system.

use super::System;
use super::method::{Method, Pair, Tolerances};
use super::rosenbrock::products;
use crate::{Error, Result, error};

/// The smallest relative tolerance that rounding leaves a meaning.
const TIGHTEST: f64 = 1e-13;

/// Products of a step's linear equations for which they are still recorded one by one: some 50 states that
/// all see each other, or many more that see few others.
const MOST_PRODUCTS: usize = 65_000;

/// A method with its accuracy.
///
/// Every sample of an adaptive method has its own steps, so that its solution does not depend on its
/// companions. A sample that would have to try more than `most_steps` is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solver {
    /// Kutta's classical method of order 4, with steps of this length; shorter ones where that is
    /// needed to land on the time of an observation.
    Rk4 {
        /// The longest step.
        step: f64,
    },
    /// Dormand and Prince's pair of orders 5 and 4, which is explicit.
    DormandPrince {
        /// Error tolerated in a step, as a share of the state.
        relative: f64,
        /// Error tolerated in a step whatever the state.
        absolute: f64,
        /// Steps that a sample may try; one that needs more is lost.
        most_steps: usize,
    },
    /// Steinebach's RODAS5P of orders 5 and 4, for systems whose rates lie decades apart: there an
    /// explicit step is bound to the fastest rate long after it has done its work. A step solves linear
    /// equations in the Jacobian and takes several times as long as an explicit one.
    ///
    /// Where some states are tiny, `absolute` must be tinier.
    Rosenbrock {
        /// Error tolerated in a step, as a share of the state.
        relative: f64,
        /// Error tolerated in a step whatever the state.
        absolute: f64,
        /// Steps that a sample may try; one that needs more is lost.
        most_steps: usize,
    },
    /// Dormand and Prince's pair, and RODAS5P for the rest of the way of a sample whose steps turn out to
    /// be bound by stability. Samples that are not stiff have the very numbers of the pair.
    Auto {
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

    /// The same tolerances, for systems that may be stiff.
    pub const AUTO: Self = Self::Auto { relative: 1e-6, absolute: 1e-9, most_steps: 10_000 };

    /// The same method with an error that is smaller by a factor of about a hundred, or as small as
    /// rounding allows.
    pub(crate) fn tightened(self) -> Self {
        let tighter = |tolerances: Tolerances| {
            let Tolerances { relative, absolute, most_steps } = tolerances;
            // Steps of order 5 are then shorter by a factor of 2.5.
            let relative = (relative / 100.0).max(TIGHTEST).min(relative);
            Tolerances {
                relative,
                absolute: absolute / 100.0,
                most_steps: most_steps.saturating_mul(10),
            }
        };
        match (self, self.tolerances().map(tighter)) {
            // Of order 4: a factor of 256.
            (Self::Rk4 { step }, _) => Self::Rk4 { step: step / 4.0 },
            (_, None) => self,
            (other, Some(Tolerances { relative, absolute, most_steps })) => match other {
                Self::Rk4 { .. } => self,
                Self::DormandPrince { .. } => {
                    Self::DormandPrince { relative, absolute, most_steps }
                }
                Self::Rosenbrock { .. } => Self::Rosenbrock { relative, absolute, most_steps },
                Self::Auto { .. } => Self::Auto { relative, absolute, most_steps },
            },
        }
    }

    fn tolerances(&self) -> Option<Tolerances> {
        match *self {
            Self::Rk4 { .. } => None,
            Self::DormandPrince { relative, absolute, most_steps }
            | Self::Rosenbrock { relative, absolute, most_steps }
            | Self::Auto { relative, absolute, most_steps } => {
                Some(Tolerances { relative, absolute, most_steps })
            }
        }
    }

    /// Adaptive steps that a smooth trajectory takes: some 50 at a relative tolerance of 10⁻⁶. A method of
    /// order 5 has an error of h⁵ per unit of time, so that their number grows with tolerance^(−1/5).
    pub(super) fn steps_of_a_smooth_way(&self) -> f64 {
        self.tolerances().map_or(0.0, |tolerances| 50.0 * (1e-6 / tolerances.relative).powf(0.2))
    }

    /// The method that a sample begins with.
    pub(super) fn method(&self) -> Method {
        match (self, self.tolerances()) {
            (_, None) => Method::Fixed,
            (Self::Rosenbrock { .. }, Some(tolerances)) => {
                Method::Adaptive(Pair::Rodas, tolerances)
            }
            (_, Some(tolerances)) => Method::Adaptive(Pair::DormandPrince, tolerances),
        }
    }

    /// What takes over where a sample turns out to be stiff.
    pub(super) fn takeover(&self) -> Option<Tolerances> {
        self.tolerances().filter(|_| matches!(self, Self::Auto { .. }))
    }

    /// The solver for a system: one that may go over to linear equations does not where they are too large.
    ///
    /// # Errors
    /// If it has nothing else.
    pub(super) fn settled(&self, system: &System) -> Result<Self> {
        if self.is_explicit() && self.takeover().is_none() {
            return Ok(*self);
        }
        match (*self, products(system)) {
            (_, Some(products)) if products <= MOST_PRODUCTS => Ok(*self),
            (Self::Auto { relative, absolute, most_steps }, _) => {
                Ok(Self::DormandPrince { relative, absolute, most_steps })
            }
            _ => Err(Error::Target(format!(
                "a system of {} states that see so many others is too large for the solver of stiff \
                 systems; use dopri5",
                system.states().len()
            ))),
        }
    }

    /// Does a sample begin with steps that solve no equations?
    pub(super) fn is_explicit(&self) -> bool {
        !matches!(self, Self::Rosenbrock { .. })
    }

    pub(super) fn check(&self) -> Result<()> {
        if let Self::Rk4 { step } = *self
            && !(step > 0.0 && step.is_finite())
        {
            return Err(error::setting("step", step, "positive and finite"));
        }
        let Some(Tolerances { relative, absolute, most_steps }) = self.tolerances() else {
            return Ok(());
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
