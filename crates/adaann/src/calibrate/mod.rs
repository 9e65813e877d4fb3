//! Simulation-based calibration: do the draws of a fit spread around the truth as they should?
//!
//! Parameters are drawn from the prior, data from the parameters, and the model is fitted to the data.
//! The rank of the true value among L draws of the posterior is then uniform on 0, ..., L, whatever
//! the model, if the draws are right. [`trial`] makes one such rank for each parameter; [`Histogram`]
//! and [`Envelope`] say whether many of them are uniform, and [`Judgement`] what it means if not.
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
