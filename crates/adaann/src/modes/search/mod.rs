//! The search for modes from nothing: ascents from several kinds of starts, and the Gaussian at each peak.
//!
//! Draws of the base come first. What they find is the frame of all further starts: lines through the highest peak,
//! images of known peaks, and shells around them in their own metric, so that a shift, a scale or a rotation of the target
//! changes nothing. The search ends when its starts would have led to nearly all modes planted at random, or its effort is spent.
//!
//! Half of the ascents of the base start from its highest draws, half from any, so that from the latter the chance
//! that one more finds something new can be told (I. Good, A. Turing 1953): the share of ascents whose
//! mode no other has reached. It speaks of basins under the law of the starts, and not of mass.

mod ascend;
mod found;
mod frame;
mod kinds;
mod lines;
mod planted;
mod rounds;
mod summit;
#[cfg(test)]
mod tests;

pub use found::{Searched, Tally};
pub use frame::frame;
pub use kinds::Kind;
pub use planted::{Plant, Starts, caught};
pub use summit::Summit;

use crate::{Result, budget::Budget, checkpoint::Ledger, error, flow::Base, target::Unconstrained};

/// How modes are searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Draws of the base at which the density is looked at, for each ascent that starts there.
    pub draws: usize,
    /// Ascents of the first batch; each batch has twice as many as the one before.
    pub first: usize,
    /// The least ascents from draws of the base.
    pub ascents: usize,
    /// Batches of the base go on as long as one more ascent may find something new with a chance of more than this.
    pub unseen: f64,
    /// The most ascents from draws of the base.
    pub most_ascents: usize,
    /// Evaluations of one ascent, between two looks at the curvature.
    pub rounds: usize,
    /// How often ascents that have not arrived go on, in units of the curvature where the highest is.
    pub whitenings: usize,
    /// Evaluations that starts of all other kinds may take: 0 for draws of the base alone.
    pub effort: usize,
    /// What the search may spend; some ascents are made whatever it is.
    pub budget: Budget,
}

/// Operations that the other kinds of starts may take in all: about a second of one core.
const OPERATIONS: f64 = 1e8;

/// Operations of a target that does not know its own.
const UNKNOWN_OPERATIONS: f64 = 3_000.0;

/// Evaluations of the other kinds of starts, at least and at most.
const EFFORT: (f64, f64) = (2_000.0, 200_000.0);

impl Search {
    /// The same within a budget, of which the first ascents are to take no more than a third.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        /// What an ascent costs, its share of the curvature at the peaks included.
        const EACH: usize = 20;
        let first = (budget.evaluations() / (3 * EACH)).clamp(4, self.first);
        Self { first, budget, ..self }
    }

    /// The same with at least so many ascents at a time.
    #[must_use]
    pub fn at_once(self, points: usize) -> Self {
        let [first, ascents, most_ascents] =
            [self.first, self.ascents, self.most_ascents].map(|count| count.max(points));
        Self { first, ascents, most_ascents, ..self }
    }

    /// The same with all kinds of starts. The effort follows from what the target costs, in operations and not by a
    /// clock, times a factor.
    #[must_use]
    pub fn with_effort(self, target: &Unconstrained, factor: f64) -> Self {
        let operations = target.target().operations().unwrap_or(UNKNOWN_OPERATIONS);
        let effort = (OPERATIONS / operations).clamp(EFFORT.0, EFFORT.1) * factor;
        Self { effort: effort as usize, ..self }
    }

    /// A search in so many dimensions, from draws of the base alone. A narrow mode is as hard to hit as its volume is small, so that
    /// there are more ascents in more dimensions. Most cost some fifteen evaluations; with 300 a basin
    /// that one in a hundred starts leads to is missed once in 20.
    pub fn new(dim: usize) -> Self {
        let ascents = if dim <= 3 { 48 } else { (48 * dim).min(768) };
        Self {
            draws: 2,
            first: 48,
            ascents,
            unseen: 0.03,
            most_ascents: ascents.max(512),
            rounds: 60,
            whitenings: 3,
            effort: 0,
            budget: Budget::default(),
        }
    }
}

/// Searches for the modes of a target from draws of a base.
///
/// # Errors
/// If no draw has a finite density and gradient, or the target fails.
pub fn search(target: &Unconstrained, base: &Base, search: &Search, seed: u64) -> Result<Searched> {
    search_with(target, base, search, seed, &[], &mut Ledger::off())
}

/// The same from given points as well, and with a list of what was finished before: it goes on where that ends, and
/// keeps it.
///
/// # Errors
/// As [`search`], and if the list is that of another search.
pub fn search_with(
    target: &Unconstrained,
    base: &Base,
    search: &Search,
    seed: u64,
    given: &[Vec<f64>],
    ledger: &mut Ledger,
) -> Result<Searched> {
    error::at_least_one("draws", search.draws)?;
    error::at_least_one("ascents", search.first)?;
    ledger.part("ascents", |ledger| {
        let work = rounds::Work { target, base, search, seed, given };
        work.run(ledger).map(|found| ledger.done(found))
    })
}
