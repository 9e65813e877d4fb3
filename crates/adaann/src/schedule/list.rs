//! Values of t given by the user.

use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Rule, ScheduleError, Step};
use crate::error::setting;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering::Less;

/// The values of t in order; the last is 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct List(pub Vec<f64>);

impl Default for List {
    /// Steps over two factors of ten.
    fn default() -> Self {
        Self(vec![0.01, 0.1, 1.0])
    }
}

impl Rule for List {
    fn first(&self) -> f64 {
        self.0.first().copied().unwrap_or(1.0)
    }

    fn needs_draws(&self) -> bool {
        false
    }

    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        super::planned(at, self.0.get(at.index + 1).copied().unwrap_or(1.0))
    }

    fn count(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        let Some((&first, &last)) = self.0.first().zip(self.0.last()) else {
            return Err(setting("temperatures", "empty", "at least the value 1"));
        };
        super::check_t0(first, allow_zero)?;
        if let Some(pair) =
            self.0.windows(2).find(|pair| pair[0].partial_cmp(&pair[1]) != Some(Less))
        {
            let value = format!("{}, then {}", pair[0], pair[1]);
            return Err(setting("temperatures", value, "strictly increasing"));
        }
        if last != 1.0 {
            return Err(setting("temperatures", format!("ending in {last}"), "ending in 1"));
        }
        Ok(())
    }
}

impl Tuned for List {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("temperatures", Setting::List(&mut self.0))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::planned_values;

    #[test]
    fn takes_its_values_in_turn() {
        let values = [0.1, 0.3, 0.35, 1.0];
        assert_eq!(planned_values(&List(values.to_vec())), values);
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let refused =
            |values: &[f64], zero| List(values.to_vec()).check(zero).unwrap_err().to_string();
        assert!(refused(&[], true).contains("empty"));
        assert!(refused(&[0.0, 1.0], false).contains("above 0"));
        assert!(refused(&[0.1, 0.1, 1.0], false).contains("strictly increasing"));
        assert!(refused(&[0.1, f64::NAN, 1.0], false).contains("strictly increasing"));
        assert!(refused(&[0.1, 0.9], false).contains("ending in 1"));
        assert!(refused(&[0.5, 1.5], false).contains("ending in 1"));
        assert!(List(vec![0.0, 1.0]).check(true).is_ok());
    }
}
