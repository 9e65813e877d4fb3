//! The functions of whole trajectories in formulas, by name.

/// A function of a formula along a trajectory.
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
    /// All of them, in the order of the manual.
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

    /// The syntax.
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

    /// A one-line description.
    pub(super) fn summary(self) -> &'static str {
        match self {
            At => "value of a formula of states at a time, in [quantities]",
            Integral => "integral of the formula over time, in [quantities]",
            Maximum => "largest value of the formula between two times, in [quantities]",
            TimeOfMaximum => "time at which the formula is largest, in [quantities]",
            Minimum => "smallest value of the formula between two times, in [quantities]",
            TimeOfMinimum => "time at which the formula is smallest, in [quantities]",
        }
    }

    /// The number of times that it takes as arguments.
    pub(super) fn times(self) -> usize {
        if self == At { 1 } else { 2 }
    }
}
