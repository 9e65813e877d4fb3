//! Long Hamiltonian chains side by side: the last resort in many dimensions, where no importance weights
//! survive.
//!
//! Trajectories run in coordinates whitened by a full covariance, which warm-up learns from the draws of all
//! chains together. All chains take the same number of leapfrog steps in an iteration, so that the target
//! always evaluates whole batches. The lengths of steps and trajectories adapt to the acceptance and to the
//! distance moved (ChEES-HMC). R-hat and effective sample sizes, based on ranks, show when there are enough
//! draws ([`rank`]), and bridge sampling gives the evidence ([`evidence()`]).
//!
//! ```
//! use adaann::{Batch, Program, chains, target::Unconstrained};
//!
//! // x is N(0, 1) and y given x is N(x²/2, 1/4): Z = π, and E y = 1/2.
//! let target = Program::record(2, |z| -0.5 * z[0].square() - 2.0 * (z[1] - 0.5 * z[0].square()).square());
//! let target = Unconstrained::new(&target)?;
//! let starts = Batch::from_points(2, &[[0.0, 0.0], [1.0, 0.0], [-1.0, 1.0]]);
//! let found = chains::run(&target, &starts, None, &chains::Settings::default(), &mut ())?;
//! assert!(found.has_converged && found.worst_r_hat() < 1.01);
//! let mean = found.z.row(1).iter().sum::<f64>() / found.z.len() as f64;
//! assert!((mean - 0.5).abs() < 0.06);
//! let log_z = chains::evidence(&target, &found, 7)?.log_z.expect("overlap");
//! assert!((log_z.value - std::f64::consts::PI.ln()).abs() < 5.0 * log_z.error);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! Starts far from the mass climb first (`approach.rs`). In the windows of warm-up the metric is estimated from all
//! chains together, in coordinates whitened by the previous window; a scale that the chains have not travelled far
//! enough to estimate is left unchanged (`metric.rs`). `rank.rs` measures the convergence of the draws, as ArviZ
//! does, and `evidence.rs` has log Z by bridge sampling between halves of the chains.

mod approach;
mod draws;
mod evidence;
mod length;
mod metric;
mod normal_quantile;
mod outcome;
mod places;
mod progress;
pub mod rank;
mod run;
mod settings;
mod state;
mod step_size;
#[cfg(test)]
mod tests;
mod trajectory;
mod warm_up;

pub use evidence::{Evidence, evidence};
pub use outcome::Chains;
pub use progress::{Observer, Progress};
pub use run::{run, run_with};
pub use settings::Settings;
