//! Numbers that are carried from row to row of a table, and log densities that see them: one loop over the
//! rows with an exact reverse sweep, whatever the number of rows.
//!
//! A row is one program over a block of samples: from what was carried to it, to what it carries on and what
//! it adds to the log likelihood. The rows' numbers are its uniforms. The solvers of `ode` walk as well, but
//! each sample in steps of its own, with controls between them; rows are the same for all, and their loop
//! needs none of that.

mod likelihood;
mod recursion;
mod step;
mod stretch;
mod sweep;
mod tape;

pub(crate) use likelihood::{Likelihood, LikelihoodRoom};
pub(crate) use recursion::{Argument, Pattern, Recursion};
