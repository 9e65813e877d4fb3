//! Constant steps: t_k = t_0 + k ε.

use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Rule, ScheduleError, Step};
use serde::{Deserialize, Serialize};

/// t_k = t_0 + k ε, ending at 1.
///
/// Values are computed from the index, so that rounding does not accumulate over thousands of
/// steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Linear {
    /// The first t.
    pub t0: f64,
    /// The step ε.
    pub epsilon: f64,
}

impl Linear {
    /// Number of steps from t_0 to 1.
    fn steps(&self) -> f64 {
        // (1 − 0.01)/10⁻⁴ is 9900 up to rounding. A remainder below 10⁻¹² of the way is rounding,
        // not another step.
        ((1.0 - self.t0) / self.epsilon * (1.0 - 1e-12)).ceil()
    }
}

impl Default for Linear {
    /// The paper's Example 1: from t_0 = 0.01 in steps of 10⁻⁴.
    fn default() -> Self {
        Self { t0: 0.01, epsilon: 1e-4 }
    }
}

impl Rule for Linear {
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
        super::check_position(at)?;
        let k = (at.index + 1) as f64;
        if at.t < 1.0 && at.t + self.epsilon == at.t {
            let epsilon = self.epsilon;
            return Err(ScheduleError::Resolution { t: at.t, epsilon, remedy: "raise `epsilon`" });
        }
        super::planned(at, if k < self.steps() { self.t0 + k * self.epsilon } else { 1.0 })
    }

    fn count(&self) -> Option<usize> {
        Some((self.steps() as usize).saturating_add(1))
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        super::check_t0(self.t0, allow_zero)?;
        super::check_positive("epsilon", self.epsilon)
    }
}

impl Tuned for Linear {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("t0", Setting::Number(&mut self.t0)), ("epsilon", Setting::Number(&mut self.epsilon))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::planned_values;

    #[test]
    fn example_1_has_9901_values() {
        let rule = Linear { t0: 0.01, epsilon: 1e-4 };
        let values = planned_values(&rule);
        assert_eq!(values.len(), 9_901);
        assert_eq!(rule.count(), Some(9_901));
        assert_eq!(values[9_900], 1.0);
        assert!((values[9_899] - 0.9999).abs() < 1e-15, "drifted to {}", values[9_899]);
    }

    #[test]
    fn the_last_step_is_the_rest() {
        assert_eq!(planned_values(&Linear { t0: 0.25, epsilon: 0.5 }), [0.25, 0.75, 1.0]);
        assert_eq!(planned_values(&Linear { t0: 0.25, epsilon: 7.0 }), [0.25, 1.0]);
        assert_eq!(planned_values(&Linear { t0: 1.0, epsilon: 0.1 }), [1.0]);
        assert_eq!(planned_values(&Linear { t0: 0.0, epsilon: 0.1 }).len(), 11);
    }

    #[test]
    fn a_step_below_the_resolution_is_an_error() {
        let rule = Linear { t0: 0.5, epsilon: 1e-17 };
        let error = rule.next(Position::start(&rule), &Draws::default()).unwrap_err();
        assert!(error.to_string().contains("hardly moves t"), "{error}");
        assert!(error.to_string().contains("raise `epsilon`"), "{error}");
    }

    #[test]
    fn a_position_of_another_schedule_is_an_error() {
        let rule = Linear { t0: 0.1, epsilon: 0.1 };
        let error = rule.next(Position { index: 0, t: 0.9 }, &Draws::default()).unwrap_err();
        assert!(matches!(error, ScheduleError::OutOfStep { index: 1, .. }), "{error}");
    }
}
