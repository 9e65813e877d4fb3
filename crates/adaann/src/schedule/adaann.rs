//! AdaAnn, Algorithm 1: ε = τ/S, so that every step costs about τ²/2 of KL divergence.

use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Proposal, Reason, Rule, ScheduleError, Spread, Step, spread};
use serde::{Deserialize, Serialize};

/// ε = τ/S with S the sample standard deviation of b over the draws; the last step ends at t = 1.
///
/// By the paper's theorem KL(p_t ‖ p_{t+ε}) = ε²/2 Var_t(b) + O(ε³) for every path that is linear
/// in t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdaAnn {
    /// The first t.
    pub t0: f64,
    /// τ, the tolerance: each step costs a KL divergence of τ²/2.
    pub tau: f64,
}

impl AdaAnn {
    /// The step for a known spread of b.
    pub fn next_for(&self, at: Position, spread: Spread) -> Result<Step, ScheduleError> {
        let t = at.t + epsilon(self.tau, spread.std);
        let reason = Reason::Tolerance;
        super::advance(at, Proposal { t, spread: Some(spread), reason, remedy: "raise `tau`" })
    }
}

/// ε = τ/S, the adaptive rule.
pub(super) fn epsilon(tau: f64, std_b: f64) -> f64 {
    tau / std_b
}

impl Default for AdaAnn {
    /// The t_0 and τ of the paper.
    fn default() -> Self {
        Self { t0: 0.01, tau: 0.01 }
    }
}

impl Rule for AdaAnn {
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
        self.next_for(at, spread(at.t, draws)?)
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        super::check_t0(self.t0, allow_zero)?;
        super::check_positive("tau", self.tau)
    }
}

impl Tuned for AdaAnn {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("t0", Setting::Number(&mut self.t0)), ("tau", Setting::Number(&mut self.tau))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::{bimodal_std, chi_squared, run, two_draws};

    #[test]
    fn example_1_takes_the_known_numbers_of_steps() {
        for (tau, steps) in [(1.0, 6), (0.1, 29), (0.01, 259), (0.001, 2_558)] {
            let rule = AdaAnn { t0: 0.01, tau };
            let mut at = Position::start(&rule);
            while at.t < 1.0 {
                let exact = Spread { std: bimodal_std(at.t), lost: 0 };
                at = at.after(&rule.next_for(at, exact).unwrap());
            }
            assert_eq!(at.index + 1, steps, "tau = {tau}");
        }
    }

    #[test]
    fn draws_with_the_exact_spread_give_the_same_steps() {
        let rule = AdaAnn { t0: 0.01, tau: 0.01 };
        let steps = run(&rule, |at| two_draws(bimodal_std(at.t))).unwrap();
        assert_eq!(steps.len() + 1, 259);
        assert_eq!(steps.last().unwrap().reason, Reason::End);
        assert!(steps[..257].iter().all(|step| step.reason == Reason::Tolerance));
    }

    /// Var(log p) under p^t is d/(2 t²), so ε = τ t √(2/d) and t grows geometrically.
    #[test]
    fn t_grows_geometrically_for_a_gaussian() {
        for d in [1.0, 10.0, 100.0] {
            let (t0, tau) = (0.001, 0.1);
            let rule = AdaAnn { t0, tau };
            let steps = run(&rule, |at| two_draws((d / 2.0_f64).sqrt() / at.t)).unwrap();
            let ratio = 1.0 + tau * (2.0 / d).sqrt();
            for (k, step) in steps[..steps.len() - 1].iter().enumerate() {
                let exact = t0 * ratio.powi(k as i32 + 1);
                assert!((step.t / exact - 1.0).abs() < 1e-11, "d = {d}, k = {k}");
            }
            // The first power that reaches 1 is the last step.
            let expected = (1000_f64.ln() / ratio.ln()).ceil() as usize;
            assert_eq!(steps.len(), expected, "d = {d}");
        }
    }

    /// With M draws b = −χ²_d/(2t), S² has relative variance (κ₄/κ₂² + 2)/M with κ₄/κ₂² = 12/d, so
    /// S and ε have the relative standard error √((12/d + 2)/M)/2. The test allows five of these.
    #[test]
    fn sampled_draws_give_the_gaussian_step_within_sampling_error() {
        let (m, tau, t) = (4_000, 0.1, 0.2);
        for d in [1, 4, 20] {
            let b: Vec<f64> =
                chi_squared(d as u64, d, m).iter().map(|x| 17.0 - x / (2.0 * t)).collect();
            let rule = AdaAnn { t0: 0.01, tau };
            let at = Position { index: 3, t };
            let step = rule.next(at, &Draws { b: &b, weights: None }).unwrap();
            let exact = tau * t * (2.0 / d as f64).sqrt();
            let error = ((12.0 / d as f64 + 2.0) / m as f64).sqrt() / 2.0;
            assert!((step.epsilon / exact - 1.0).abs() < 5.0 * error, "d = {d}");
            assert!((step.std_b.unwrap() - tau / step.epsilon).abs() < 1e-9);
        }
    }

    /// Steps that exceed the resolution of doubles, but with which a run would take days.
    #[test]
    fn steps_that_lead_nowhere_end_the_run() {
        let spread = |std| Spread { std, lost: 0 };
        let at = Position { index: 0, t: 0.01 };
        let rule = AdaAnn { t0: 0.01, tau: 0.01 };
        assert!(rule.next_for(at, spread(1e6)).is_ok());
        let error = rule.next_for(at, spread(1e7)).unwrap_err();
        assert!(matches!(error, ScheduleError::Resolution { .. }), "{error:?}");
        // From t = 0 every step makes progress.
        assert!(rule.next_for(Position { index: 0, t: 0.0 }, spread(1e200)).is_ok());
        let error = AdaAnn { t0: 1e-320, tau: 0.01 }.check(false).unwrap_err().to_string();
        assert!(error.starts_with("t0 is 1e-320, but must be at least 2.2e-308"), "{error}");
    }

    #[test]
    fn a_step_below_the_resolution_names_tau() {
        let rule = AdaAnn { t0: 0.5, tau: 1e-12 };
        let draws = Draws { b: &[-1e8, 0.0], weights: None };
        let error = rule.next(Position::start(&rule), &draws).unwrap_err().to_string();
        assert!(error.contains("raise `tau`"), "{error}");
    }
}
