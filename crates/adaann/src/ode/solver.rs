//! The methods that solve a system.

use super::System;
use super::method::{Method, Pair, Tolerances};
use super::rosenbrock::products;
use crate::{Error, Result, error};

/// The smallest relative tolerance that is meaningful in double precision.
const TIGHTEST: f64 = 1e-13;

/// The most products in a step's linear equations for which they are recorded one by one: about 50
/// fully coupled states, or many more with sparse coupling.
const MOST_PRODUCTS: usize = 65_000;

/// A method with its accuracy.
///
/// With an adaptive method every sample has its own steps, so that its solution does not depend on
/// the other samples. A sample that would have to try more than `most_steps` fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solver {
    /// The classical Runge–Kutta method of order 4, with steps of this length, or shorter where
    /// needed to land on an observation time.
    Rk4 {
        /// The longest step.
        step: f64,
    },
    /// The explicit Dormand–Prince pair of orders 5 and 4.
    DormandPrince {
        /// Tolerated error of a step, as a share of the state.
        relative: f64,
        /// Tolerated error of a step for any state.
        absolute: f64,
        /// The most steps that a sample may try; it fails if it needs more.
        most_steps: usize,
    },
    /// Steinebach's RODAS5P of orders 5 and 4, for stiff systems, where the fastest rate limits
    /// explicit steps long after its component has decayed. A step solves linear equations in the
    /// Jacobian and takes several times as long as an explicit one.
    ///
    /// If some states are tiny, `absolute` must be smaller still.
    Rosenbrock {
        /// Tolerated error of a step, as a share of the state.
        relative: f64,
        /// Tolerated error of a step for any state.
        absolute: f64,
        /// The most steps that a sample may try; it fails if it needs more.
        most_steps: usize,
    },
    /// The Dormand–Prince pair, and RODAS5P for the rest of the course of a sample whose steps turn
    /// out to be limited by stability. Samples that are not stiff have exactly the results of the
    /// pair.
    Auto {
        /// Tolerated error of a step, as a share of the state.
        relative: f64,
        /// Tolerated error of a step for any state.
        absolute: f64,
        /// The most steps that a sample may try; it fails if it needs more.
        most_steps: usize,
    },
}

impl Solver {
    /// The Dormand–Prince pair with tolerances that leave the error well below the noise of most
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

    /// Adaptive steps of a smooth trajectory: about 50 at a relative tolerance of 10⁻⁶. A method of
    /// order 5 has an error of h⁵ per unit of time, so their number grows with tolerance^(−1/5).
    pub(super) fn steps_of_a_smooth_way(&self) -> f64 {
        self.tolerances().map_or(0.0, |tolerances| 50.0 * (1e-6 / tolerances.relative).powf(0.2))
    }

    /// The method with which a sample begins.
    pub(super) fn method(&self) -> Method {
        match (self, self.tolerances()) {
            (_, None) => Method::Fixed,
            (Self::Rosenbrock { .. }, Some(tolerances)) => {
                Method::Adaptive(Pair::Rodas, tolerances)
            }
            (_, Some(tolerances)) => Method::Adaptive(Pair::DormandPrince, tolerances),
        }
    }

    /// The tolerances of the method that takes over for stiff samples.
    pub(super) fn takeover(&self) -> Option<Tolerances> {
        self.tolerances().filter(|_| matches!(self, Self::Auto { .. }))
    }

    /// The solver for a system. If the linear equations would be too large, `Auto` uses explicit
    /// steps only.
    ///
    /// # Errors
    /// If the linear equations are too large and the solver has no other method.
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
                "a system of {} states with so many couplings is too large for the solver of stiff \
                 systems; use dopri5",
                system.states().len()
            ))),
        }
    }

    /// Whether a sample begins with explicit steps.
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
