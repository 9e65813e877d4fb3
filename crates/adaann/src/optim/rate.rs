//! Learning-rate rules: the factor of the learning rate at each update of a phase.

use crate::error::setting;
use serde::{Deserialize, Serialize};

/// How the learning rate changes within a phase.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum RateRule {
    /// It is constant.
    #[default]
    Constant,
    /// Multiplied by `factor` every `every` updates.
    Step {
        /// Updates between changes.
        every: usize,
        /// What it is multiplied by each time.
        factor: f64,
    },
    /// Multiplied by `factor` at each update.
    Exponential {
        /// What it is multiplied by each time.
        factor: f64,
    },
    /// Half a cosine from 1 down to `floor`, then constant.
    Cosine {
        /// Updates until it reaches `floor`.
        over: usize,
        /// The final factor, relative to the start.
        floor: f64,
    },
}

impl RateRule {
    /// The factor of the learning rate at an update, counted from 0 within its phase.
    pub fn factor(&self, update: usize) -> f64 {
        match *self {
            Self::Constant => 1.0,
            Self::Step { every, factor } => factor.powf((update / every) as f64),
            Self::Exponential { factor } => factor.powf(update as f64),
            Self::Cosine { over, floor } => {
                let share = update.min(over) as f64 / over as f64;
                floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * share).cos())
            }
        }
    }

    /// Refuses settings outside their range.
    pub fn check(&self) -> crate::Result<()> {
        let updates = |name, n: usize| match n {
            0 => Err(setting(name, n, "at least 1")),
            _ => Ok(()),
        };
        let factor_in_range = |factor: f64| {
            if factor > 0.0 && factor <= 1.0 {
                return Ok(());
            }
            Err(setting("factor", factor, "above 0 and at most 1"))
        };
        match *self {
            Self::Constant => Ok(()),
            Self::Step { every, factor } => {
                updates("every", every).and_then(|()| factor_in_range(factor))
            }
            Self::Exponential { factor } => factor_in_range(factor),
            Self::Cosine { over, floor } => {
                updates("over", over)?;
                if (0.0..=1.0).contains(&floor) {
                    return Ok(());
                }
                Err(setting("floor", floor, "from 0 to 1"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 1 halves the rate every 1,000 updates of the refinement.
    #[test]
    fn steps_halve_on_time() {
        let rule = RateRule::Step { every: 1_000, factor: 0.5 };
        let at = [0, 999, 1_000, 1_999, 2_000, 7_999].map(|i| rule.factor(i));
        assert_eq!(at, [1.0, 1.0, 0.5, 0.5, 0.25, 1.0 / 128.0]);
    }

    #[test]
    fn values_are_those_of_the_definitions() {
        assert_eq!(RateRule::Constant.factor(12_345), 1.0);
        let exponential = RateRule::Exponential { factor: 0.999 };
        assert!((exponential.factor(1_000) - 0.367_695_424_770_964).abs() < 1e-12);
        let cosine = RateRule::Cosine { over: 100, floor: 0.2 };
        for (update, value) in [(0, 1.0), (50, 0.6), (100, 0.2), (1_000, 0.2)] {
            assert!((cosine.factor(update) - value).abs() < 1e-15);
        }
    }

    #[test]
    fn rates_never_grow_and_never_vanish_into_nan() {
        for rule in [
            RateRule::Constant,
            RateRule::Step { every: 3, factor: 0.1 },
            RateRule::Exponential { factor: 0.5 },
            RateRule::Cosine { over: 500, floor: 0.0 },
        ] {
            rule.check().unwrap();
            assert_eq!(rule.factor(0), 1.0);
            let values: Vec<f64> = (0..3_000).map(|i| rule.factor(i)).collect();
            assert!(values.windows(2).all(|pair| 0.0 <= pair[1] && pair[1] <= pair[0]));
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (rule, name) in [
            (RateRule::Step { every: 0, factor: 0.5 }, "every"),
            (RateRule::Step { every: 1, factor: 0.0 }, "factor"),
            (RateRule::Exponential { factor: 1.5 }, "factor"),
            (RateRule::Exponential { factor: f64::NAN }, "factor"),
            (RateRule::Cosine { over: 0, floor: 0.5 }, "over"),
            (RateRule::Cosine { over: 9, floor: -0.5 }, "floor"),
        ] {
            let error = rule.check().unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn survives_a_file() {
        let rule = RateRule::Step { every: 1_000, factor: 0.5 };
        let text = serde_json::to_string(&rule).unwrap();
        assert_eq!(text, r#"{"step":{"every":1000,"factor":0.5}}"#);
        assert_eq!(serde_json::from_str::<RateRule>(&text).unwrap(), rule);
    }
}
