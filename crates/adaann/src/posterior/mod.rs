//! Posteriors of models with data: log prior and log likelihood, a sum over the rows of a table or the
//! times at which a system was observed, as compiled programs with exact gradients.
//!
//! A block of samples goes through three programs. The first takes parameters to the values that the
//! sums are functions of; then come the sums and their slopes in these values; the last puts log
//! prior, log likelihood and gradient together. Here alone are priors added, lost trajectories left
//! out, and slopes pulled back to the parameters.
//!
//! Posteriors of systems of differential equations that are recorded from closures are
//! [`OdePosterior`]; a model file makes one of either kind.

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
