//! Sequential Monte Carlo: particles that follow the same paths and schedules as the flows.
//!
//! Particles start from the base. At each temperature they are reweighted, resampled if few of them
//! carry the weight, and moved by kernels that leave the density invariant. AdaAnn's rule chooses
//! the temperatures, as the paper proposes for Monte Carlo. The sampler does not use a flow, so its
//! answer is independent of one.
//!
//! ```
//! use adaann::{Program, smc::{Settings, smc}};
//!
//! // Two modes, at -2 ± √3, whose integral is known: log Z = 0.04712.
//! let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
//! let population = smc(&target, &Settings::default(), &mut ())?;
//! assert!((population.log_z - 0.04712).abs() < 4.0 * population.log_z_error);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! # A run
//!
//! Particles move first along q_0^(1 − s) p_{t_0}^s to the density at t_0 (`start.rs`), then along
//! the path. At every temperature a mixture of Gaussians is fitted to them ([`crate::mixture`]).
//! Local kernels take their scale from its components, and the independence kernel draws from it
//! with Student tails, which moves particles between modes. One `State` carries the run, and
//! `Stage`s report it.
//!
//! Errors come from the genealogy: the errors of particles that descend from one initial particle
//! are correlated (`ancestry.rs`). With `islands` they also come from the spread between
//! independent runs (`islands.rs`, `spread.rs`).
//!
//! If b rises under the moves, which leave the density invariant, particles lag behind the density
//! (`drift.rs`): they return by some temperatures, wait until b is stationary, and take shorter
//! steps (`guard.rs`). An observer then sees t decrease. The run's own list of stages has only
//! those that led to its end.

mod ancestry;
mod builder;
mod choice;
mod distance;
mod drift;
mod finish;
mod further;
mod guard;
mod islands;
mod join;
mod kernel;
mod length;
mod particles;
mod pmc;
mod population;
mod resample;
mod reweight;
mod run;
mod sampler;
mod send;
mod settings;
mod settle;
mod spread;
mod stage;
mod start;
mod state;
mod step_size;
mod sweep;
#[cfg(test)]
mod tests;

pub use builder::{Smc, smc};
pub use choice::Move;
pub use join::Lineage;
pub use population::Population;
pub use settings::Settings;
pub use stage::{Observer, Stage};
