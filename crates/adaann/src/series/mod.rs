//! Values carried from row to row of a table, and log densities that depend on them: one loop over
//! the rows with an exact reverse sweep, whatever the number of rows.
//!
//! A row is one program over a block of samples. It maps the values carried to it to the values it
//! carries on and to its term of the log likelihood. The row's numbers are its uniforms. The
//! solvers of `ode` loop as well, but each sample takes its own steps, with step-size control
//! between them. Rows are the same for all samples, so their loop is simpler.

mod likelihood;
mod recursion;
mod step;
mod stretch;
mod sweep;
mod tape;

pub(crate) use likelihood::{Likelihood, LikelihoodRoom};
pub(crate) use recursion::{Argument, Pattern, Recursion};
