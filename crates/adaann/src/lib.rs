//! Approximates a probability density that is known up to a constant, and says how it got there.
//!
//! A normalizing flow is trained on an annealed sequence of densities; AdaAnn chooses each
//! temperature step from the flow's own samples: small where the density changes quickly, large
//! where it does not.
//!
//! Write a log density as a closure ([`Program::record`]) or implement [`target::Target`], choose
//! [`Settings`] (the defaults are the paper's), and call [`fit()`]; [`registry`] has densities with
//! known answers to try. What comes back draws samples and gives its density anywhere
//! ([`approximation::Approximation`]). Posteriors of differential equations are in [`ode`]; the cargo
//! feature `stiff` adds a solver for stiff ones.

pub mod approximation;
pub mod batch;
pub mod calibrate;
pub mod diagnostics;
pub(crate) mod distribution;
mod error;
pub mod external;
pub mod file;
pub mod fit;
pub mod flow;
pub mod importance;
mod linear;
pub mod model;
pub mod modes;
mod names;
mod net;
pub mod ode;
pub mod optim;
pub mod path;
mod pieces;
pub(crate) mod posterior;
pub mod prior;
pub mod program;
pub mod registry;
pub mod rng;
pub mod schedule;
pub mod simd;
pub mod smc;
mod table;
pub mod target;
mod train;

pub use batch::Batch;
pub use error::{Error, Result};
pub use fit::{Settings, fit};
pub use program::{Expr, Program};

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
