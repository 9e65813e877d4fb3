//! The step at which importance weights from p_t to p_t' keep a given effective sample size.

use super::spread::{Weighted, std_of, usable};
use super::tuned::{Setting, Tuned};
use super::{Draws, Position, Proposal, Reason, Rule, ScheduleError, Spread, Step};
use crate::{error::setting, weight::effective_size};
use serde::{Deserialize, Serialize};

/// The t' at which the weights exp((t' − t) b) retain the fraction `ess` of the draws, by
/// bisection.
///
/// For weighted draws the fraction is the conditional effective sample size of Zhou, Johansen and
/// Aston (2016), which measures only this step and not the cost of earlier weights. Non-finite
/// draws are ignored, as in the variance: otherwise they would reduce the fraction at every t'.
///
/// For small steps the fraction is 1 − ε² Var(b), so this is AdaAnn with τ² = 1 − `ess`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EssBisection {
    /// The first t.
    pub t0: f64,
    /// The fraction of the draws to retain, between 0 and 1.
    pub ess: f64,
}

/// (Σ W w)²/Σ W w² with w = exp(δ b) and W the weights, which sum to `total`. It is 1 at δ = 0 and
/// decreases in δ, since the cumulant function of log w is convex.
fn conditional_ess(draws: &[Weighted], total: f64, largest: f64, delta: f64) -> f64 {
    let (mut first, mut second) = (0.0, 0.0);
    for draw in draws {
        let w = (delta * (draw.b - largest)).exp();
        first += draw.weight * w;
        second += draw.weight * w * w;
    }
    effective_size(first, second * total)
}

/// The largest δ below `high` that satisfies `keeps`, which holds at 0 and not at `high`.
fn bisect(t: f64, mut high: f64, keeps: impl Fn(f64) -> bool) -> f64 {
    let mut low = 0.0;
    // Use relative precision: near t = 0 steps may be smaller than any fixed tolerance.
    while high - low > 1e-12 * high && t + high > t {
        let middle = 0.5 * (low + high);
        if keeps(middle) { low = middle } else { high = middle }
    }
    low
}

impl Default for EssBisection {
    /// t_0 = 0.01, and nine draws out of ten retained.
    fn default() -> Self {
        Self { t0: 0.01, ess: 0.9 }
    }
}

impl Rule for EssBisection {
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
        let (usable, lost) = usable(at.t, draws)?;
        let spread = Spread { std: std_of(at.t, &usable)?, lost };
        let total = usable.iter().map(|draw| draw.weight).sum();
        let largest = usable.iter().map(|draw| draw.b).fold(f64::NEG_INFINITY, f64::max);
        let keeps = |delta| conditional_ess(&usable, total, largest, delta) >= self.ess;

        let whole = 1.0 - at.t;
        let delta = if keeps(whole) { f64::INFINITY } else { bisect(at.t, whole, keeps) };
        let (t, reason) = (at.t + delta, Reason::EffectiveSampleSize);
        let remedy = "lower `ess`";
        super::advance(at, Proposal { t, spread: Some(spread), reason, remedy })
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        super::check_t0(self.t0, allow_zero)?;
        if self.ess > 0.0 && self.ess < 1.0 {
            return Ok(());
        }
        Err(setting("ess", self.ess, "between 0 and 1, both excluded"))
    }
}

impl Tuned for EssBisection {
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        vec![("t0", Setting::Number(&mut self.t0)), ("ess", Setting::Number(&mut self.ess))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trajectory::normal;

    fn share(b: &[f64], weights: &[f64], delta: f64) -> f64 {
        let w: Vec<f64> = b.iter().map(|b| (delta * b).exp()).collect();
        let sum = |f: &dyn Fn(usize) -> f64| (0..b.len()).map(f).sum::<f64>();
        let total = sum(&|i| weights[i]);
        sum(&|i| weights[i] * w[i]).powi(2) / (total * sum(&|i| weights[i] * w[i] * w[i]))
    }

    #[test]
    fn keeps_the_share_asked_for() {
        let b = normal(5, 500);
        let b: Vec<f64> = b.iter().map(|z| -40.0 * z * z).collect();
        let weights: Vec<f64> = (0..500).map(|i| (i % 7) as f64).collect();
        let at = Position { index: 2, t: 0.1 };
        for ess in [0.3, 0.5, 0.9, 0.999] {
            let rule = EssBisection { t0: 0.01, ess };
            let step = rule.next(at, &Draws { b: &b, weights: None }).unwrap();
            assert!((share(&b, &[1.0; 500], step.epsilon) - ess).abs() < 1e-9);
            let step = rule.next(at, &Draws { b: &b, weights: Some(&weights) }).unwrap();
            assert!((share(&b, &weights, step.epsilon) - ess).abs() < 1e-9);
            assert_eq!(step.reason, Reason::EffectiveSampleSize);
        }
    }

    /// For normal b the fraction is exactly exp(−ε² Var(b)): ε S = √(−log ess).
    #[test]
    fn small_steps_are_those_of_adaann() {
        let b = normal(11, 20_000);
        let rule = EssBisection { t0: 0.0, ess: 0.99 };
        let step = rule.next(Position::start(&rule), &Draws { b: &b, weights: None }).unwrap();
        let product = step.epsilon * step.std_b.unwrap();
        assert!((product / (-0.99_f64.ln()).sqrt() - 1.0).abs() < 0.01, "{product}");
    }

    #[test]
    fn ends_when_the_share_holds_to_the_end() {
        let rule = EssBisection { t0: 0.5, ess: 0.5 };
        let draws = Draws { b: &[0.1, 0.2, f64::NEG_INFINITY], weights: None };
        let step = rule.next(Position::start(&rule), &draws).unwrap();
        assert_eq!((step.t, step.reason, step.lost), (1.0, Reason::End, 1));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for ess in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(EssBisection { t0: 0.1, ess }.check(false).is_err());
        }
    }
}
