//! Importance sampling: weights, their Pareto tail, estimates with errors, resampling.
//!
//! A [`Sample`] represents both draws of an approximation and particles: points with log densities and
//! weights. It provides means, spreads and quantiles with errors ([`Quantity`]), log Z and the effective
//! sample size ([`WeightSums`]), the shape of the weights' tail, which indicates whether they are
//! reliable ([`pareto`]), and points of equal weight ([`resample`]). A point whose log p − log q is NaN
//! or −∞ is non-finite: it counts as a draw, with weight 0.
//!
//! A sample holds z, x, log p, log weight, and log q if there is a q. It is the only answer of a run: all results
//! about p (files, tables, figures, exports) come from it, and a flow's own draws are used only on request.

mod covariance;
mod estimates;
mod gaps;
mod generalized_pareto;
mod mixing;
pub mod pareto;
pub mod resample;
mod sample;
#[cfg(test)]
mod stated_errors;
mod weight_sums;

pub use crate::weight::{ess, log_sum_exp};
pub use covariance::covariance;
pub use estimates::{Coordinate, Estimate, QUANTILES, Quantity};
pub(crate) use gaps::Gaps;
pub use mixing::Mixing;
pub use sample::Sample;
pub use weight_sums::WeightSums;
