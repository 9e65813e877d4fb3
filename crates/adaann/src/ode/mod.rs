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
//!
//! # One step is one program
//!
//! [`System`] records x' = f(t, x, p) and x(t₀) = g(p) once; [`Observations`] records the
//! measurements. `step.rs` writes one whole step with all its stages (`runge_kutta.rs`,
//! `rosenbrock.rs`) into one graph. Differentiating that graph gives the exact derivative of the
//! step: in forward mode for sensitivities that are propagated with the states, in reverse mode for
//! the discrete adjoint. Both are compiled. The one with fewer operations is used, and the run's
//! summary names it.
//!
//! `forward.rs` integrates a block of 32 samples in the memory of its step. `adjoint.rs` runs
//! backwards over a tape of states. If the solution is longer than the tape (4 MiB a thread), it
//! stores checkpoints and recomputes a window at a time. Fixed steps are split so that they land on
//! every observation (`grid.rs`). The adaptive pair uses the same machinery: each sample has its
//! own time and step among the carried rows, acceptance is a `select`, and a sample that is
//! finished or non-finite takes steps of length 0, so that samples never affect each other. A
//! trajectory that becomes non-finite has log likelihood −∞ and gradient 0.
//!
//! # Subjects and events
//!
//! A subject is a `Course`: a start, stops, and the mapping from the sample's values to the
//! parameters of its system (`posterior/dynamics.rs` creates them). The terms of rates and starts
//! that depend on a subject, through its columns and its elements of vectors, are computed for each
//! subject in the prelude (`program/groups.rs`), so that one program of a step serves all subjects,
//! and each subject is one more integration of the block.
//!
//! At a stop the states are compared with data, or jump (`jump.rs`, differentiated both ways like a
//! step), or only the numbers of the segment change: infusions and the coefficients of inputs are
//! uniforms of the step. Events at times that depend on the sample (`moving.rs`) come between
//! stops: each sample lands on its own.
//!
//! A system with `settle` has an additional segment at the beginning, during which the time of its
//! rates is held (`posterior/settle.rs`). Summaries of trajectories are inputs of the graph that no
//! part of the posterior uses. For draws, `posterior/trajectories.rs` solves the system with an
//! additional state for each integral, and `reader.rs` examines the steps again to find extremes
//! (`extreme.rs`).
//!
//! # Stiff systems
//!
//! Steps for stiff systems work in the same way (`rosenbrock.rs`). The Jacobian is a derivative of
//! the recorded rates (`jacobian.rs`), and its elimination is recorded too (`lu.rs`). The order of
//! its pivots is fixed in advance from its zeros, since all samples run the same instructions. If
//! the pivots of a sample lose their digits, its step is rejected. `takeover.rs` switches samples
//! from explicit steps to these, each according to its own steps (`stiffness.rs`): both kinds run
//! over the block, and a sample does not move in steps of the other kind. The stiff program is
//! compiled when the first sample switches.

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
