//! The number of training updates at each t: T_0 at t_0, T in between, T_1 at t = 1.

use super::Position;
use serde::{Deserialize, Serialize};

/// The purpose of training at a value of t.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// At t_0: move from the base to the first annealed density.
    Warmup,
    /// Between: follow the density as t grows.
    Anneal,
    /// At t = 1: fit the target itself.
    Refine,
    /// After that: cover the target's mass, on draws of the flow weighted by p/q.
    ForwardKl,
}

impl Phase {
    /// The phase of a position. A schedule that starts at t = 1 has only the refinement.
    pub fn at(position: Position) -> Self {
        match position {
            Position { t, .. } if t >= 1.0 => Self::Refine,
            Position { index: 0, .. } => Self::Warmup,
            _ => Self::Anneal,
        }
    }
}

/// Updates per value of t, by phase (Algorithm 1).
///
/// For "no refinement" set `refine` = `anneal`: t = 1 is trained like the previous values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// T_0, at t_0.
    pub warmup: usize,
    /// T, at each t between.
    pub anneal: usize,
    /// T_1, at t = 1.
    pub refine: usize,
}

impl Work {
    /// Updates at one value of t in this phase.
    pub fn updates(&self, phase: Phase) -> usize {
        match phase {
            Phase::Warmup => self.warmup,
            Phase::Anneal => self.anneal,
            Phase::Refine => self.refine,
            // This phase counts its own rounds.
            Phase::ForwardKl => 0,
        }
    }

    /// Updates of a whole run over `count` = K values of t, including t_0 and 1: T_0 + (K − 2) T +
    /// T_1, or T_1 if t = 1 is the only value.
    pub fn total_updates(&self, count: usize) -> usize {
        match count {
            0 => 0,
            1 => self.refine,
            _ => {
                let between = (count - 2).saturating_mul(self.anneal);
                self.warmup.saturating_add(between).saturating_add(self.refine)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Draws, Linear, Rule};

    #[test]
    fn counts_are_those_of_example_1() {
        let adaptive = Work { warmup: 500, anneal: 2, refine: 8_000 };
        assert_eq!(adaptive.total_updates(354), 9_204);
        let linear = Work { warmup: 500, anneal: 1, refine: 8_000 };
        assert_eq!(linear.total_updates(9_901), 500 + 9_899 + 8_000);
        assert_eq!(linear.total_updates(1), 8_000);
    }

    #[test]
    fn the_total_is_the_sum_over_a_run() {
        let work = Work { warmup: 7, anneal: 3, refine: 11 };
        for t0 in [0.0, 0.3, 0.9, 1.0] {
            let rule = Linear { t0, epsilon: 0.15 };
            let mut at = Position::start(&rule);
            let mut sum = work.updates(Phase::at(at));
            while at.t < 1.0 {
                at = at.after(&rule.next(at, &Draws::default()).unwrap());
                sum += work.updates(Phase::at(at));
            }
            assert_eq!(sum, work.total_updates(at.index + 1), "t0 = {t0}");
        }
    }
}
