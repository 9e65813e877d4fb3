//! Dynamical systems and their observations: batched solvers with exact gradients of the discrete
//! solution.
//!
//! A right-hand side is recorded once from a closure. One step of the method becomes one program
//! over blocks of samples, whose derivative (forward or reverse) is the exact derivative of that
//! step. A likelihood's gradient is the gradient of the computed numbers, not that of the
//! equation's exact solution.
//!
//! For stiff systems there are steps that solve linear equations in the Jacobian, which are
//! programs too. `Solver::Auto` switches to them sample by sample, when stability limits the
//! explicit steps.
//!
//! ```
//! use adaann::ode::{Solver, System, solve};
//! use adaann::Batch;
//!
//! let system = System::record(&["x"], &["rate"], |_, x, p| vec![-p[0] * x[0]], 0.0,
//!     |_| vec![1.0.into()])?;
//! let rates = Batch::from_points(1, &[[0.5], [2.0]]);
//! let solution = solve(&system, &Solver::ADAPTIVE, &rates, &[1.0])?;
//! assert!((solution.states[0].row(0)[1] - (-2.0_f64).exp()).abs() < 1e-5);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! [`OdePosterior`](../posterior/struct.OdePosterior.html) combines a system, observations of it
//! and priors of its parameters into a target.

mod adjoint;
mod control;
mod course;
mod error;
mod extreme;
mod first_step;
mod forward;
mod grid;
mod jacobian;
mod jump;
mod layout;
mod lazy;
mod likelihood;
mod lu;
mod measured;
mod method;
mod moving;
mod observations;
mod patterns;
mod reader;
mod rosenbrock;
mod runge_kutta;
mod solution;
mod solver;
mod step;
mod stiffness;
mod system;
mod takeover;
mod tape;
mod trace;
mod trial;
mod uniforms;
mod within;

#[cfg(test)]
mod tests;

pub(crate) use course::{Course, Does, Moving, Stop};
pub use likelihood::Differentiation;
pub(crate) use likelihood::{Likelihood, LikelihoodRoom};
pub(crate) use measured::Measured;
pub use observations::{Noise, Observations, Scatter};
pub(crate) use reader::{Asked, Reader};
pub(crate) use solution::solve_courses;
pub use solution::{Solution, solve};
pub use solver::Solver;
pub use system::System;
pub(crate) use system::{Equations, Jump};
