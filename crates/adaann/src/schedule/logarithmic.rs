//! Logarithmic multiplicative cooling: the inverse temperature grows as log(1 + k).

use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Rule, ScheduleError, Step};
use serde::{Deserialize, Serialize};

/// t_k = t_0 + (1 − t_0) log(1 + k)/log(1 + K), from t_0 to 1 in K steps.
///
/// This is the classical cooling law T_k = T_0/(1 + α log(1 + k)) of simulated annealing, with T =
/// 1/t and α = (1/t_0 − 1)/log(1 + K), so that it ends at t = 1. Its first steps are the largest,
/// unlike those of AdaAnn. It is included for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Logarithmic {
    /// The first t.
    pub t0: f64,
    /// K, the number of steps; t takes K + 1 values.
    pub steps: usize,
}

impl Default for Logarithmic {
    /// A thousand steps from t_0 = 0.01.
    fn default() -> Self {
        Self { t0: 0.01, steps: 1_000 }
    }
}

impl Rule for Logarithmic {
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
        let t = if k < self.steps {
            let share = (k as f64).ln_1p() / (self.steps as f64).ln_1p();
            self.t0 + (1.0 - self.t0) * share
        } else {
            1.0
        };
        super::planned(at, t)
    }

    fn count(&self) -> Option<usize> {
        Some(if self.t0 == 1.0 { 1 } else { self.steps.saturating_add(1) })
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        super::check_t0(self.t0, allow_zero)?;
        super::check_steps(self.steps)
    }
}

impl Tuned for Logarithmic {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("t0", Setting::Number(&mut self.t0)), ("steps", Setting::Count(&mut self.steps))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::planned_values;

    #[test]
    fn is_the_classical_cooling_law() {
        let (t0, steps) = (0.01, 200);
        let values = planned_values(&Logarithmic { t0, steps });
        assert_eq!((values.len(), values[steps]), (steps + 1, 1.0));
        let alpha = (1.0 / t0 - 1.0) / 201_f64.ln();
        for (k, t) in values.iter().enumerate() {
            let temperature = (1.0 / t0) / (1.0 + alpha * (1.0 + k as f64).ln());
            assert!((t * temperature - 1.0).abs() < 1e-12, "k = {k}");
        }
    }
}
