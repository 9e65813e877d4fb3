//! Approximates a probability density that is known up to a constant, and says how it got there.
//!
//! A normalizing flow is trained on an annealed sequence of densities; AdaAnn chooses each
//! temperature step from the flow's own samples: small where the density changes quickly, large
//! where it does not.
//!
//! ```
//! use adaann::{Program, Settings, fit};
//!
//! // log p, up to a constant: two modes, at -2 ± √3.
//! let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
//! let outcome = fit(&target, &Settings::default(), &mut ())?;
//!
//! // Draws with weights p/q, and the evidence that follows from them: log Z = 0.0471.
//! let sample = outcome.approximation(&target)?.sample(10_000, 7)?;
//! assert!((sample.weight_sums()?.log_z() - 0.0471).abs() < 0.01);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! | To bring | there is |
//! | --- | --- |
//! | a log density, written once and differentiated | [`Program::record`] |
//! | a plain function of one point | [`target::pointwise`] |
//! | a density that runs over many points at once | [`target::Target`] |
//! | a posterior of differential equations | [`ode`], [`posterior`] (stiff ones: the cargo feature `stiff`) |
//! | a model file | [`model::Model`] |
//! | a program in any language | [`external`] |
//! | a rule for the temperatures | [`schedule::Rule`] |
//! | layers | [`flow::Layer`], [`flow::Stack`] |
//!
//! The defaults of [`Settings`] are the paper's. What comes back draws samples and gives its density
//! anywhere ([`approximation::Approximation`]); [`registry`] has densities with known answers to try.

mod adaptive;
pub mod answer;
pub mod approximation;
mod batch;
#[doc(alias = "simulation-based calibration")]
#[doc(alias = "SBC")]
pub mod calibrate;
#[doc(alias = "Hamiltonian Monte Carlo")]
#[doc(alias = "MCMC")]
pub mod chains;
#[doc(hidden)]
pub mod crew;
pub mod diagnostics;
pub(crate) mod distribution;

mod error;
pub mod external;
mod file;
pub mod fit;
pub mod flow;
pub mod importance;
mod linear;
mod lost;
pub mod mixture;
pub mod model;
pub mod modes;
mod names;
mod net;
pub mod ode;
pub mod optim;
pub mod path;
mod pieces;
pub mod posterior;
pub mod prior;
pub mod program;
pub mod registry;
mod rng;
pub mod schedule;
mod simd;
#[doc(alias = "sequential Monte Carlo")]
pub mod smc;
#[doc(hidden)]
pub mod support;
mod table;
pub mod target;
mod train;
mod weight;

pub use batch::Batch;
pub use error::{Error, Result};
pub use fit::{Settings, fit};
pub use program::{Expr, Program};
pub use simd::{Buffer, Instructions};

/// The README's examples compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So do those of the book's chapters.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/src/introduction.md")]
    struct Introduction;
    #[doc = include_str!("../../../docs/src/paths.md")]
    struct Paths;
    #[doc = include_str!("../../../docs/src/dynamics.md")]
    struct Dynamics;
}
