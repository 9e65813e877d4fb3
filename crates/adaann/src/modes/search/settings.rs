//! The settings of the search for modes, and the limits of its cost.

use crate::{budget::Budget, target::Unconstrained};

/// The settings of the search for modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Draws of the base that are evaluated for each ascent that starts there.
    pub draws: usize,
    /// Ascents of the first batch; each later batch has half as many as all before.
    pub first: usize,
    /// The least number of ascents from draws of the base.
    pub ascents: usize,
    /// Batches of the base continue as long as the chance that another ascent finds something new exceeds this.
    pub unseen: f64,
    /// The most ascents from draws of the base.
    pub most_ascents: usize,
    /// Evaluations of one ascent between two computations of the curvature.
    pub rounds: usize,
    /// How often unfinished ascents continue, in units of the curvature at the highest end.
    pub whitenings: usize,
    /// The most evaluations for starts of all other kinds; 0 for draws of the base alone.
    pub effort: usize,
    /// The cost of a point of an ascent, in values of the density.
    pub values_each: usize,
    /// The budget of the search; some ascents are made in any case.
    pub budget: Budget,
}

/// The operations that the other kinds of starts may take in all. A cheap target reaches the limit of evaluations below
/// first.
const OPERATIONS: f64 = 1e8;

/// Assumed operations of a target that does not report its own, such as a Python function.
const UNKNOWN_OPERATIONS: f64 = 20_000.0;

/// The least and the most evaluations of the other kinds of starts.
const EFFORT: (f64, f64) = (2_000.0, 200_000.0);

impl Search {
    /// Limits the search to a budget: the first ascents take at most a third of it, and other kinds of starts at most a
    /// quarter.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        /// The cost of an ascent, including its share of the curvature at the peaks.
        const EACH: usize = 20;
        let first = (budget.evaluations() / (3 * EACH * self.values_each)).clamp(4, self.first);
        let effort = self.effort.min(budget.evaluations() / 4);
        Self { first, effort, budget, ..self }
    }

    /// Sets the least number of simultaneous ascents.
    #[must_use]
    pub fn at_once(self, points: usize) -> Self {
        let [first, ascents, most_ascents] =
            [self.first, self.ascents, self.most_ascents].map(|count| count.max(points));
        Self { first, ascents, most_ascents, ..self }
    }

    /// Adds all kinds of starts. The effort follows from the target's cost in operations, not from a clock, times a
    /// factor. A density that is proved to be log-concave has one mode, and needs no other starts.
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

    /// A search in `dim` dimensions, from draws of the base alone. A narrow mode is as hard to hit as its volume is
    /// small, so there are more ascents in more dimensions. Most cost about fifteen evaluations; with 300 ascents, a
    /// basin to which one in a hundred starts leads is missed once in 20.
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
