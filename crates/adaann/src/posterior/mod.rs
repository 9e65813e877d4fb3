//! Posteriors of models with data: log prior and log likelihood, a sum over the rows of a table or the
//! times at which a system was observed, as compiled programs with exact gradients.
//!
//! A block of samples goes through three programs. The first maps parameters to the arguments of
//! the sums. Then come the sums and their slopes in these arguments. The last combines them into
//! log prior, log likelihood and gradient. Only this module adds priors, excludes non-finite
//! trajectories and pulls slopes back to the parameters.
//!
//! Posteriors of differential equations recorded from closures are [`OdePosterior`]; a model file
//! produces either kind.
//!
//! # From a graph to programs
//!
//! Values that depend only on parameters and are used by rows (`program/split.rs`) are computed once for each block
//! of samples, in the first program, the prelude. A line of the likelihood is a sum of terms (`program/terms.rs`,
//! `program/row_sum/`):
//!
//! - Terms that do not depend on the row are multiplied by n, and factors that do not are moved out of the sum.
//! - Terms that are affine in the parameters are summed when the model is compiled.
//! - Linear predictors are small matrix products over the rows.
//! - The square of one linear form becomes at most d + 1 rows by a QR decomposition.
//! - The rest is a routine that runs for each row, with its constants in tables and its sums in its slots.
//!
//! Derivatives with respect to the prelude's values are accumulated in the same loop. The last program, the finale,
//! propagates them back to the parameters. With gradient, prelude and finale are the halves of one program, so that
//! nothing is computed twice. Lines that use the states of a system go through `ode/` with the prelude's values as
//! its parameters (`dynamics.rs`), those that use states carried from row to row through `series/` (`carried.rs`).

mod carried;
mod compile;
mod concavity;
mod dynamics;
mod equations;
mod evaluate;
mod finale;
mod of_system;
mod quantities;
mod recorded;
mod settle;
mod subjects;
#[cfg(test)]
mod system_tests;
#[cfg(test)]
mod tests;
mod trajectories;

pub(crate) use compile::Posterior;
pub(crate) use dynamics::Dynamics;
pub use of_system::OdePosterior;
pub(crate) use quantities::Quantities;
pub(crate) use recorded::{Line, Recorded, RecordedSeries, RecordedSystem};
pub(crate) use settle::settle;
pub(crate) use subjects::{Effect, Event, MovingEvent, Subjects};
pub(crate) use trajectories::{Reading, Trajectories, What};
