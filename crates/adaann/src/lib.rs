//! Approximates a probability density that is known up to a constant, and reports how far to trust
//! the result.
//!
//! ```
//! use adaann::{Program, answer::Settings, approximate};
//!
//! // log p, up to a constant: two modes, at -2 ± √3.
//! let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
//! let answer = approximate(&target, &Settings::default(), &mut ())?;
//!
//! // The evidence, log Z = 0.0471, and weighted draws that every other answer follows from.
//! let log_z = answer.log_z.expect("one dimension is few");
//! assert!((log_z.value - 0.0471).abs() < 5.0 * log_z.error);
//! let mean = answer.sample.coordinates()?[0].mean;
//! assert!((mean.value + 2.0).abs() < 5.0 * mean.error);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! [`approximate`] climbs a ladder of methods: ascents to the modes, a mixture of Gaussians adapted
//! by importance sampling, particles, a flow. The first method that is accurate enough gives the
//! answer, and an independent check says whether to trust it ([`answer`]). The paper's method is
//! [`fit()`]: it trains a normalizing flow on an annealed sequence of densities. AdaAnn chooses
//! each temperature step from the flow's own samples: small where the density changes quickly,
//! large where it does not. The defaults of its [`Settings`] are the paper's.
//!
//! | To supply | use |
//! | --- | --- |
//! | a log density, written once and differentiated | [`Program::record`] |
//! | a plain function of one point | [`target::pointwise`] |
//! | a density that runs over many points at once | [`target::Target`] |
//! | a posterior of differential equations | [`ode`], [`posterior`] |
//! | a model file | [`model::Model`] |
//! | a program in any language | [`external`] |
//! | a rule for the temperatures | [`schedule::Rule`] |
//! | layers | [`flow::Layer`], [`flow::Stack`] |
//!
//! The result draws samples and evaluates its density anywhere ([`approximation::Approximation`]);
//! [`registry`] has test densities with known answers.

mod adaptive;
pub mod answer;
pub mod approximation;
mod batch;
pub mod budget;
#[doc(alias = "simulation-based calibration")]
#[doc(alias = "SBC")]
pub mod calibrate;
#[doc(alias = "Hamiltonian Monte Carlo")]
#[doc(alias = "MCMC")]
pub mod chains;
pub mod checkpoint;
pub mod diagnostics;
pub(crate) mod distribution;
#[doc(hidden)]
pub mod tasks;

mod error;
pub mod external;
mod file;
pub mod fit;
pub mod flow;
pub mod importance;
mod linear;
pub mod mixture;
pub mod model;
pub mod modes;
mod net;
mod non_finite;
pub mod ode;
pub mod optim;
pub mod path;
mod pieces;
pub mod posterior;
pub mod preview;
pub mod prior;
pub mod program;
pub mod ranks;
pub mod registry;
mod rng;
pub mod schedule;
mod series;
mod simd;
#[doc(alias = "sequential Monte Carlo")]
pub mod smc;
mod suggest;
#[doc(hidden)]
pub mod support;
mod table;
pub mod target;
mod train;
mod visible;
mod warp;
mod weight;

pub use answer::approximate;
pub use batch::Batch;
pub use error::{Error, Failure, Result};
pub use fit::{Settings, fit};
pub use program::{Expr, Program};
pub use simd::{Buffer, Instructions};

/// The README's examples compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the book's chapters compile and run.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/src/introduction.md")]
    struct Introduction;
    #[doc = include_str!("../../../docs/src/paths.md")]
    struct Paths;
    #[doc = include_str!("../../../docs/src/dynamics.md")]
    struct Dynamics;
}
