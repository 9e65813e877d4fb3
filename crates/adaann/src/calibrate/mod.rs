//! Simulation-based calibration: do the draws of a fit spread around the truth as they should?
//!
//! Each trial draws parameters from the prior, simulates data from them, and fits the model to the
//! data. If the draws of the posterior are correct, the rank of the true value among L draws is
//! uniform on 0, ..., L, for any model. [`trial`] computes one rank for each parameter; [`Histogram`]
//! and [`Envelope`] test whether many ranks are uniform, and [`Judgement`] interprets the deviation.
//!
//! S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman, "Validating Bayesian inference
//! algorithms with simulation-based calibration" (2018).

mod binomial;
mod envelope;
mod histogram;
mod judgement;
mod trial;

pub use envelope::{Deviation, Envelope};
pub use histogram::{Histogram, bins_for};
pub use judgement::Judgement;
pub use trial::{LOG_P, Trial, names, rank, seed_of, trial, weighted};
