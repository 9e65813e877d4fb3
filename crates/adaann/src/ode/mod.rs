//! Posteriors of dynamical systems: batched solvers with exact gradients of the discrete solution.
//!
//! A right-hand side is recorded once from a closure. One step of the method becomes one program
//! over blocks of samples, whose derivative (forward or reverse) is the exact derivative of that
//! step; a likelihood's gradient is therefore that of the numbers computed, not of the equation's
//! exact solution.
//!
//! The cargo feature `stiff` adds `Solver::Stiff`, implicit steps for systems whose rates lie
//! decades apart. These go sample by sample through the crate `diffsol`, which is not small: hence a
//! feature, off by default.
//!
//! ```
//! use adaann::ode::{Noise, Observations, Posterior, Scatter, Solver, System};
//! use adaann::{prior::Prior, target::Target};
//!
//! let system = System::record(&["x"], &["rate"], |_, x, p| vec![-p[0] * x[0]], 0.0,
//!     |_| vec![1.0.into()])?;
//! let noise = Noise::Gaussian(Scatter::Variance(0.01));
//! let data = Observations::of_states(&system, &["x"], noise, &[0.5, 1.0, 2.0], &[0.6, 0.4, 0.1])?;
//! let prior = [Prior::LogNormal { log_mean: 0.0, log_sd: 1.0 }];
//! let posterior = Posterior::new(&system, Solver::Rk4 { step: 0.05 }, data, &prior)?;
//! assert_eq!(posterior.names(), ["rate"]);
//! # Ok::<(), adaann::Error>(())
//! ```

mod adjoint;
mod forward;
mod grid;
mod likelihood;
mod measured;
mod observations;
mod patterns;
mod posterior;
mod solution;
mod solver;
mod step;
#[cfg(feature = "stiff")]
mod stiff;
mod system;

#[cfg(test)]
mod tests;

pub use likelihood::Differentiation;
pub(crate) use likelihood::{Likelihood, LikelihoodRoom};
pub(crate) use measured::Measured;
pub use observations::{Noise, Observations, Scatter};
pub use posterior::Posterior;
pub use solution::{Solution, solve};
pub use solver::Solver;
pub use system::System;
