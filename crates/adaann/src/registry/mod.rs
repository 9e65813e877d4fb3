//! Named densities, each with its exact gradient, known answers and settings that work.
//!
//! ```
//! use adaann::{fit, registry, schedule::Work};
//!
//! let mut problem = registry::find("two-moons")?.build(&[])?;
//! problem.settings.work = Work { warmup: 100, anneal: 2, refine: 100 }; // a quick look
//! let outcome = fit(&*problem.target, &problem.settings, &mut ())?;
//! let sample = outcome.approximation(&*problem.target)?.sample(1_000, 7)?;
//! let weights = registry::mode_weights(&problem.known, sample.x());
//! assert_eq!(weights.len(), 2); // exact values: problem.known.modes[i].weight
//! # Ok::<(), adaann::Error>(())
//! ```

mod data;
mod dynamics;
mod entry;
mod gaussian;
mod gaussians;
mod known;
mod labelled;
mod paper;
mod planes;
mod quadrature;
mod solutions;
mod spaces;

pub use crate::table::Table;
pub use data::Data;
pub use entry::{Choices, Entry, Parameter, Problem};
pub use gaussian::Gaussian;
pub use known::{Distance, Known, Mode, Split, mode_weights, split_shares};
pub use solutions::Dynamics;

use crate::{Result, suggest};

/// The entry of this name.
///
/// # Errors
/// If there is no such entry; the message suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| suggest::unknown("target", name, ALL.iter().map(|entry| entry.name)))
}

/// Every registered density.
pub const ALL: &[Entry] = &[
    paper::BIMODAL,
    paper::MIXTURE1D,
    paper::MIXTURE1D_ASYMMETRIC,
    paper::MIXTURE2D,
    dynamics::LORENZ,
    dynamics::HIV,
    gaussians::GAUSSIAN,
    gaussians::EIGHT,
    gaussians::FORTY,
    planes::TWO_MOONS,
    planes::RINGS,
    planes::ROSENBROCK,
    planes::EGGBOX,
    spaces::FUNNEL,
    spaces::MANY_WELL,
    spaces::SHELLS,
];
