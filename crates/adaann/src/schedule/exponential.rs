//! Constant ratios: t_k = t_0^(1 − k/K).

use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Rule, ScheduleError, Step};
use serde::{Deserialize, Serialize};

/// t_k = t_0^(1 − k/K): geometric from t_0 to 1 in K steps.
///
/// It is the exact AdaAnn schedule of a Gaussian, whose t grows by the factor 1 + τ √(2/d).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Exponential {
    /// The first t; 0 is refused on every path, since it has no ratio to the next value.
    pub t0: f64,
    /// K, the number of steps; t takes K + 1 values.
    pub steps: usize,
}

impl Default for Exponential {
    /// A thousand steps from t_0 = 0.01.
    fn default() -> Self {
        Self { t0: 0.01, steps: 1_000 }
    }
}

impl Rule for Exponential {
    fn first(&self) -> f64 {
        self.t0
    }

    fn set_first(&mut self, t0: f64) -> bool {
        self.t0 = t0;
        true
    }

    fn needs_draws(&self) -> bool {
        false
    }

    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        let k = at.index + 1;
        let t = if k < self.steps { self.t0.powf(1.0 - k as f64 / self.steps as f64) } else { 1.0 };
        super::planned(at, t)
    }

    fn count(&self) -> Option<usize> {
        Some(if self.t0 == 1.0 { 1 } else { self.steps.saturating_add(1) })
    }

    fn check(&self, _: bool) -> crate::Result<()> {
        super::check_t0(self.t0, false)?;
        super::check_steps(self.steps)
    }
}

impl Tuned for Exponential {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("t0", Setting::Number(&mut self.t0)), ("steps", Setting::Count(&mut self.steps))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::planned_values;

    #[test]
    fn ratios_are_constant() {
        let values = planned_values(&Exponential { t0: 0.01, steps: 50 });
        assert_eq!((values.len(), values[50]), (51, 1.0));
        let ratio = 100_f64.powf(1.0 / 50.0);
        for pair in values.windows(2) {
            assert!((pair[1] / pair[0] - ratio).abs() < 1e-13);
        }
    }

    #[test]
    fn zero_is_refused_on_every_path() {
        assert!(Exponential { t0: 0.0, steps: 3 }.check(true).is_err());
    }
}
