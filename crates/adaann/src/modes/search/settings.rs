//! How modes are searched for, and how much that may cost.

use crate::{budget::Budget, target::Unconstrained};

/// How modes are searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Draws of the base at which the density is looked at, for each ascent that starts there.
    pub draws: usize,
    /// Ascents of the first batch; each later one has half as many as all before.
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
    /// Values of the density that a point of an ascent takes.
    pub values_each: usize,
    /// What the search may spend; some ascents are made whatever it is.
    pub budget: Budget,
}

/// Operations that the other kinds of starts may take in all. A cheap target reaches the most evaluations below first.
const OPERATIONS: f64 = 1e8;

/// Operations of a target that does not know its own, such as a Python function.
const UNKNOWN_OPERATIONS: f64 = 20_000.0;

/// Evaluations of the other kinds of starts, at least and at most.
const EFFORT: (f64, f64) = (2_000.0, 200_000.0);

impl Search {
    /// The same within a budget, of which the first ascents are to take no more than a third, and other
    /// kinds of starts no more than a quarter.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        /// What an ascent costs, its share of the curvature at the peaks included.
        const EACH: usize = 20;
        let first = (budget.evaluations() / (3 * EACH * self.values_each)).clamp(4, self.first);
        let effort = self.effort.min(budget.evaluations() / 4);
        Self { first, effort, budget, ..self }
    }

    /// The same with at least so many ascents at a time.
    #[must_use]
    pub fn at_once(self, points: usize) -> Self {
        let [first, ascents, most_ascents] =
            [self.first, self.ascents, self.most_ascents].map(|count| count.max(points));
        Self { first, ascents, most_ascents, ..self }
    }

    /// The same with all kinds of starts. The effort follows from what the target costs, in operations and not by a
    /// clock, times a factor. A density that is proved to be log-concave has one mode, and needs no other starts.
    #[must_use]
    pub fn with_effort(self, target: &Unconstrained, factor: f64) -> Self {
        let values_each = target.values_with_gradients(1);
        if target.target().is_log_concave() {
            return Self { effort: 0, values_each, ..self };
        }
        let operations = target.target().operations().unwrap_or(UNKNOWN_OPERATIONS);
        let points = (OPERATIONS / operations).clamp(EFFORT.0, EFFORT.1) * factor;
        Self { effort: (points as usize).saturating_mul(values_each), values_each, ..self }
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
            unseen: 0.05,
            most_ascents: ascents.max(512),
            rounds: 60,
            whitenings: 3,
            effort: 0,
            values_each: 1,
            budget: Budget::default(),
        }
    }
}
