//! AdaAnn with guards: a largest ratio, bounds on ε, and a robust spread.

use super::adaann::epsilon;
use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Proposal, Reason, Rule, ScheduleError, Step, Warning};
use super::{spread, winsorised_spread};
use crate::error::setting;
use serde::{Deserialize, Serialize};

/// AdaAnn with bounded steps.
///
/// A collapsed flow sees almost no spread in b. AdaAnn then jumps to t = 1 in a few steps and
/// appears to succeed. On the power path a density in d dimensions has t S of about √(d/2) (exactly
/// so for a Gaussian), and t grows by the ratio 1 + τ/(t S). If the spread implies more than
/// `max_ratio`, the step carries [`Warning::Collapsed`]. On the likelihood and bridge paths S stays
/// finite as t → 0, so the ratio is large near t = 0 even for healthy flows. Start these at t_0 =
/// 0, where the ratio is ignored; such a run warns only from t = 0.1 on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Guarded {
    /// The first t.
    pub t0: f64,
    /// τ, as in [`super::AdaAnn`].
    pub tau: f64,
    /// t_{k+1} ≤ `max_ratio` t_k, unless t_k = 0.
    pub max_ratio: f64,
    /// The smallest ε. Both upper bounds take precedence over it.
    pub min_epsilon: f64,
    /// The largest ε.
    pub max_epsilon: f64,
    /// Whether to clip outliers of b ([`winsorised_spread`]).
    pub robust: bool,
}

/// In a run that starts at t = 0, a small spread indicates a collapsed flow from this t on.
const TELLING_T: f64 = 0.1;

impl Default for Guarded {
    /// The t_0 and τ of the paper; outliers are clipped, and ε is unbounded.
    ///
    /// A Gaussian needs the ratio 1 + τ √(2/d): at most 1.7 for τ up to 0.5.
    fn default() -> Self {
        Self {
            t0: 0.01,
            tau: 0.01,
            max_ratio: 2.0,
            min_epsilon: 0.0,
            max_epsilon: 1.0,
            robust: true,
        }
    }
}

impl Rule for Guarded {
    fn first(&self) -> f64 {
        self.t0
    }

    fn set_first(&mut self, t0: f64) -> bool {
        self.t0 = t0;
        true
    }

    fn needs_draws(&self) -> bool {
        true
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        super::check_position(at)?;
        let spread_of = if self.robust { winsorised_spread } else { spread };
        let spread = spread_of(at.t, draws)?;

        let wanted = at.t + epsilon(self.tau, spread.std);
        let by_ratio = if at.t > 0.0 { self.max_ratio * at.t } else { f64::INFINITY };
        let (mut t, mut reason) = (wanted, Reason::Tolerance);
        if t < at.t + self.min_epsilon {
            (t, reason) = (at.t + self.min_epsilon, Reason::MinEpsilon);
        }
        if t > at.t + self.max_epsilon {
            (t, reason) = (at.t + self.max_epsilon, Reason::MaxEpsilon);
        }
        if t > by_ratio {
            (t, reason) = (by_ratio, Reason::MaxRatio);
        }

        let proposal =
            Proposal { t, spread: Some(spread), reason, remedy: "raise `tau` or `min-epsilon`" };
        let mut step = super::advance(at, proposal)?;
        let telling = self.t0 > 0.0 || at.t >= TELLING_T;
        step.warning = (telling && wanted > by_ratio).then_some(Warning::Collapsed {
            t: at.t,
            std_b: spread.std,
            wanted,
        });
        Ok(step)
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        super::check_t0(self.t0, allow_zero)?;
        super::check_positive("tau", self.tau)?;
        if self.max_ratio.is_nan() || self.max_ratio <= 1.0 {
            return Err(setting("max-ratio", self.max_ratio, "above 1"));
        }
        if self.max_epsilon.is_nan() || self.max_epsilon <= 0.0 {
            return Err(setting("max-epsilon", self.max_epsilon, "above 0"));
        }
        if !(0.0..=self.max_epsilon).contains(&self.min_epsilon) {
            let range = format!("from 0 to max-epsilon, {}", self.max_epsilon);
            return Err(setting("min-epsilon", self.min_epsilon, range));
        }
        Ok(())
    }
}

impl Tuned for Guarded {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![
            ("t0", Setting::Number(&mut self.t0)),
            ("tau", Setting::Number(&mut self.tau)),
            ("max-ratio", Setting::Number(&mut self.max_ratio)),
            ("min-epsilon", Setting::Number(&mut self.min_epsilon)),
            ("max-epsilon", Setting::Number(&mut self.max_epsilon)),
            ("no-robust", Setting::On(&mut self.robust)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::AdaAnn;
    use crate::schedule::trajectory::{bimodal_std, run, two_draws};

    const GUARDED: Guarded = Guarded {
        t0: 0.01,
        tau: 0.01,
        max_ratio: 2.0,
        min_epsilon: 0.0,
        max_epsilon: 1.0,
        robust: true,
    };

    fn from(rule: Guarded, t: f64, std_b: f64) -> Step {
        let b = two_draws(std_b);
        rule.next(Position { index: 4, t }, &Draws { b: &b, weights: None }).unwrap()
    }

    #[test]
    fn a_run_from_zero_is_warned_late() {
        let from_zero = Guarded { t0: 0.0, ..GUARDED };
        assert_eq!(from(from_zero, 1e-6, 1.0).warning, None);
        assert!(from(from_zero, 0.2, 1e-3).warning.is_some());
        assert!(from(GUARDED, 0.02, 1e-3).warning.is_some());
    }

    #[test]
    fn is_adaann_where_no_guard_speaks() {
        let oracle = |at: Position| two_draws(bimodal_std(at.t));
        let guarded = run(&GUARDED, oracle).unwrap();
        assert_eq!(guarded, run(&AdaAnn { t0: 0.01, tau: 0.01 }, oracle).unwrap());
        assert_eq!(guarded.len() + 1, 259);
    }

    #[test]
    fn a_collapsed_flow_is_held_back_and_reported() {
        let step = from(GUARDED, 0.1, 1e-9);
        assert_eq!((step.t, step.reason), (0.2, Reason::MaxRatio));
        let warning = step.warning.unwrap();
        assert!(matches!(warning, Warning::Collapsed { t: 0.1, .. }));
        assert!(warning.to_string().contains("may have collapsed"), "{warning}");
        // Near the end the jump is within the ratio, but the spread is just as suspicious.
        let step = from(GUARDED, 0.9, 1e-9);
        assert_eq!((step.t, step.reason), (1.0, Reason::End));
        assert!(step.warning.is_some());
    }

    #[test]
    fn the_ratio_does_not_count_at_zero() {
        let step = from(GUARDED, 0.0, 1.0);
        assert!((step.t - 0.01).abs() < 1e-15 && step.warning.is_none());
    }

    #[test]
    fn steps_keep_to_the_floor_and_the_ceiling() {
        let rule = Guarded { min_epsilon: 0.01, max_epsilon: 0.05, ..GUARDED };
        let step = from(rule, 0.5, 1e6);
        assert_eq!((step.t, step.reason), (0.51, Reason::MinEpsilon));
        let step = from(rule, 0.5, 0.04);
        assert_eq!((step.t, step.reason), (0.55, Reason::MaxEpsilon));
        assert!(step.warning.is_none());
        // The ratio takes precedence over the smallest ε.
        let step = from(rule, 0.001, 1e6);
        assert_eq!((step.t, step.reason, step.warning), (0.002, Reason::MaxRatio, None));
    }

    #[test]
    fn one_wild_draw_does_not_stop_a_robust_run() {
        let mut b: Vec<f64> = (0..1000).map(|i| (i as f64 * 0.7).sin() * 10.0).collect();
        b.push(-1e180);
        let draws = Draws { b: &b, weights: None };
        let at = Position { index: 0, t: 0.5 };
        let step = GUARDED.next(at, &draws).unwrap();
        assert!((step.std_b.unwrap() / 50_f64.sqrt() - 1.0).abs() < 0.2);
        let plain = Guarded { robust: false, ..GUARDED };
        assert_eq!(plain.next(at, &draws), Err(ScheduleError::NotFinite { t: 0.5 }));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        assert!(GUARDED.check(false).is_ok());
        for (rule, name) in [
            (Guarded { max_ratio: 1.0, ..GUARDED }, "max-ratio"),
            (Guarded { max_ratio: f64::NAN, ..GUARDED }, "max-ratio"),
            (Guarded { max_epsilon: 0.0, ..GUARDED }, "max-epsilon"),
            (Guarded { min_epsilon: -1.0, ..GUARDED }, "min-epsilon"),
            (Guarded { min_epsilon: 0.2, max_epsilon: 0.1, ..GUARDED }, "min-epsilon"),
            (Guarded { tau: 0.0, ..GUARDED }, "tau"),
            (Guarded { t0: 0.0, ..GUARDED }, "t0"),
        ] {
            let error = rule.check(false).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}
