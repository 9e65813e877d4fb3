//! Is the approximation q right about p? Answers from draws of q weighted by p/q.
//!
//! [`Importance`] has Z and the effective sample size, [`pareto`] says by the weights' largest whether
//! to believe them, [`Quantity`] has means and quantiles under p with their errors, and [`resample`]
//! turns weighted draws into draws. A draw whose log p − log q is NaN or −∞ is lost: it counts, with
//! weight 0.

mod covariance;
mod estimates;
mod examination;
mod generalized_pareto;
mod importance;
pub mod modes;
pub mod pareto;
pub mod resample;
mod tally;
mod verdict;

#[cfg(test)]
mod honesty;

pub use covariance::covariance;
pub use estimates::{Estimate, Quantity};
pub use examination::{Coordinate, Examination, Mode, Particles, QUANTILES, Settings, examine};
pub use importance::{Importance, ess};
pub use tally::Tally;
pub use verdict::{LACKING_RATIO, Reason, Trust, Verdict};
