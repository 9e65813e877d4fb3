//! The search for modes from nothing: ascents from several kinds of starts, and the Gaussian at each peak.
//!
//! Draws of the base come first. Their results are the frame of all further starts: lines through the highest peak,
//! images of known peaks, and shells around them in their own metric, so that a shift, a scale or a rotation of the
//! target changes nothing. The search ends when its starts would have led to nearly all modes planted at random, or its
//! effort is spent.
//!
//! Half of the ascents of the base start from its highest draws, half from arbitrary ones. The latter give the chance
//! that another ascent finds something new (I. Good, A. Turing 1953): the share of ascents whose mode no other has
//! reached. It refers to basins under the distribution of the starts, not to mass.
//!
//! The search climbs from draws of the base at a ladder of scales, in batches, and computes the curvature at each
//! peak from differences of the gradient (`modes/laplace.rs`). `rounds.rs` decides which starts come next, and when
//! to stop. Each kind of start has a file: draws of the base (`of_base.rs`), the terms of a density that is a sum
//! (`of_terms.rs`, from `Target::summands`, which `program/summands.rs` extracts from a recorded program), lines
//! (`along.rs`), and images, shells and ascents on log p − log q around known peaks (`around.rs`, `residual.rs`).
//! If nearly every ascent reaches a separate peak, as on a ridge, one Gaussian fitted to their positions represents
//! them (`crowd.rs`). The power of the search is the share of planted modes that its starts would have reached
//! (`planted.rs`).

mod along;
mod around;
mod ascend;
mod crowd;
mod found;
mod frame;
mod kinds;
mod lines;
mod of_base;
mod of_terms;
mod planted;
mod residual;
mod rounds;
mod settings;
mod state;
mod summit;
mod terms;
#[cfg(test)]
mod tests;
mod work;

pub use found::{Searched, Tally};
pub use frame::frame;
pub use kinds::Kind;
pub use planted::{Plant, Starts, caught};
pub use settings::Search;
pub use summit::Summit;
pub use terms::Terms;

use crate::{Result, checkpoint::Ledger, error, flow::Base, target::Unconstrained};

/// Prior knowledge for a search.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Further points from which ascents start.
    pub points: &'a [Vec<f64>],
    /// The results of earlier searches. The search of an expensive target relies on their starts, and ends sooner.
    pub earlier: &'a [Searched],
}

/// Searches for the modes of a target from draws of a base.
///
/// # Errors
/// If no draw has a finite density and gradient, or the target fails.
pub fn search(target: &Unconstrained, base: &Base, search: &Search, seed: u64) -> Result<Searched> {
    search_with(target, base, search, seed, Known::default(), &mut Ledger::off())
}

/// Like [`search`], with prior knowledge and a ledger of finished work: it resumes where the ledger ends, and records
/// its own work.
///
/// # Errors
/// As [`search`], and if the ledger belongs to another search.
pub fn search_with(
    target: &Unconstrained,
    base: &Base,
    search: &Search,
    seed: u64,
    known: Known,
    ledger: &mut Ledger,
) -> Result<Searched> {
    error::at_least_one("draws", search.draws)?;
    error::at_least_one("ascents", search.first)?;
    ledger.part("ascents", |ledger| {
        let Known { points: given, earlier } = known;
        let work = work::Work { target, base, search, seed, given, earlier };
        work.run(ledger).map(|found| ledger.done(found))
    })
}
