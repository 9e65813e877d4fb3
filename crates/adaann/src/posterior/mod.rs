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
