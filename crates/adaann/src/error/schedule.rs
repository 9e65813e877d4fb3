//! Why a schedule could not choose its next step, and what to change.

use super::short;

/// Why a schedule could not choose its next step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A step was requested after the last one.
    #[error("the schedule has ended: there is no step after t = 1")]
    Ended,
    /// The position is not on the path.
    #[error("the schedule stands at t = {t}, but t must be in [0, 1]")]
    Position {
        /// The inverse temperature given.
        t: f64,
    },
    /// The step of this index does not increase t.
    #[error(
        "step {index} leads to t = {next}, which is not above t = {t}: either the position's index \
         and t belong to different schedules, or the steps are below the resolution of doubles"
    )]
    OutOfStep {
        /// Index of the requested value of t.
        index: usize,
        /// The current inverse temperature.
        t: f64,
        /// The value of t with that index.
        next: f64,
    },
    /// Too few usable draws are left to estimate a spread.
    #[error(
        "{usable} of {total} draws at t = {} have a finite log density and a weight above 0, but \
         2 are needed: draw more, or start closer to the support of the target", short(*t)
    )]
    TooFewDraws {
        /// The inverse temperature.
        t: f64,
        /// Usable draws.
        usable: usize,
        /// All draws.
        total: usize,
    },
    /// The log density is +∞ somewhere.
    #[error(
        "{count} draws at t = {} have log density +∞: the target is unbounded there, so p^t \
         cannot be followed; bound the density or leave that region out of its support", short(*t)
    )]
    Unbounded {
        /// The inverse temperature.
        t: f64,
        /// How many draws.
        count: usize,
    },
    /// Invalid weights.
    #[error("the weights of the draws at t = {t} {problem}")]
    Weights {
        /// The inverse temperature.
        t: f64,
        /// What is wrong with them.
        problem: &'static str,
    },
    /// All draws have the same log density.
    #[error(
        "all draws at t = {t} have the same log density: either the flow has collapsed to a point \
         (start it nearer the identity, lower the learning rate or train longer at t_0), or the \
         target is flat where the flow is (widen the base, or remove a floor under the density)"
    )]
    NoSpread {
        /// The inverse temperature.
        t: f64,
    },
    /// The variance overflows.
    #[error(
        "the variance of the log density at t = {t} is not finite: some draws are hundreds of \
         orders of magnitude away from the others; use the guarded schedule, which clips such draws, or give \
         such points log density −∞"
    )]
    NotFinite {
        /// The inverse temperature.
        t: f64,
    },
    /// The step is too small to reach t = 1.
    #[error(
        "a step of {epsilon:.1e} hardly moves t = {}, so that millions of them would not reach \
         t = 1: the log density varies too much for this setting; {remedy}, or start from a larger \
         t_0", short(*t)
    )]
    Resolution {
        /// The inverse temperature.
        t: f64,
        /// The step.
        epsilon: f64,
        /// What to change.
        remedy: &'static str,
    },
}
