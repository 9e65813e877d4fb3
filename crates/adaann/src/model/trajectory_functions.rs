//! The functions of whole trajectories that formulas know, by their names.

/// What is asked about a formula of states along a trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrajectoryFunction {
    At,
    Integral,
    Maximum,
    TimeOfMaximum,
    Minimum,
    TimeOfMinimum,
}

use TrajectoryFunction::*;

impl TrajectoryFunction {
    /// All of them, in the order of the book.
    pub(super) const ALL: [Self; 6] =
        [At, Integral, Maximum, TimeOfMaximum, Minimum, TimeOfMinimum];

    /// The function of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            At => "at",
            Integral => "integral",
            Maximum => "maximum",
            TimeOfMaximum => "time_of_maximum",
            Minimum => "minimum",
            TimeOfMinimum => "time_of_minimum",
        }
    }

    /// As it is written.
    pub(super) fn usage(self) -> &'static str {
        match self {
            At => "at(formula, time)",
            Integral => "integral(formula, from, to)",
            Maximum => "maximum(formula, from, to)",
            TimeOfMaximum => "time_of_maximum(formula, from, to)",
            Minimum => "minimum(formula, from, to)",
            TimeOfMinimum => "time_of_minimum(formula, from, to)",
        }
    }

    /// One line on it.
    pub(super) fn summary(self) -> &'static str {
        match self {
            At => "a formula of states at a time, in [quantities]",
            Integral => "its integral over time, in [quantities]",
            Maximum => "its largest value between two times, in [quantities]",
            TimeOfMaximum => "when it is largest, in [quantities]",
            Minimum => "its smallest value between two times, in [quantities]",
            TimeOfMinimum => "when it is smallest, in [quantities]",
        }
    }

    /// How many times it takes.
    pub(super) fn times(self) -> usize {
        if self == At { 1 } else { 2 }
    }
}
