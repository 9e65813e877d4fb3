//! Draws of q weighted towards p: weights, their Pareto tail, estimates with errors, resampling.
//!
//! [`Importance`] has Z and the effective sample size, [`pareto`] says by the weights' largest whether
//! to believe them, [`Quantity`] has means and quantiles under p with their errors, and [`resample`]
//! turns weighted draws into draws. A draw whose log p − log q is NaN or −∞ is lost: it counts, with
//! weight 0.

mod covariance;
mod estimates;
mod generalized_pareto;
mod log_sum_exp;
pub mod pareto;
pub mod resample;
#[cfg(test)]
mod stated_errors;
mod tally;
mod weights;

pub use covariance::covariance;
pub use estimates::{Estimate, Quantity};
pub use log_sum_exp::log_sum_exp;
pub use tally::Tally;
pub use weights::{Importance, ess};
