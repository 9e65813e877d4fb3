//! Rules that choose the next inverse temperature.
//!
//! A rule is a pure function: given its position and draws of b (log p_t = a + t b), it returns the
//! next t and the reason. It never decreases t and never exceeds 1. A run is
//!
//! ```
//! use adaann::schedule::{Draws, Linear, Position, Rule};
//!
//! let rule = Linear { t0: 0.5, epsilon: 0.125 };
//! rule.check(false)?;
//! let (mut at, mut values) = (Position::start(&rule), vec![rule.first()]);
//! while at.t < 1.0 {
//!     // … train at `at.t`, then draw b if `rule.needs_draws()` …
//!     at = at.after(&rule.next(at, &Draws::default())?);
//!     values.push(at.t);
//! }
//! assert_eq!(values, [0.5, 0.625, 0.75, 0.875, 1.0]);
//! # Ok::<(), adaann::Error>(())
//! ```

mod adaann;
mod ess;
mod exponential;
mod gentlest;
mod guarded;
#[cfg(test)]
mod laws;
mod linear;
mod list;
mod logarithmic;
mod settings;
mod single;
mod spread;
#[cfg(test)]
mod trajectory;
mod tuned;
mod work;

pub use crate::error::ScheduleError;
pub use adaann::AdaAnn;
pub use ess::EssBisection;
pub use exponential::Exponential;
pub use gentlest::{gentlest_t, weight_ess};
pub use guarded::Guarded;
pub use linear::Linear;
pub use list::List;
pub use logarithmic::Logarithmic;
pub use settings::Schedule;
pub use single::Single;
pub use spread::{Spread, spread, winsorised_spread};
pub(crate) use tuned::Setting;
pub use work::{Phase, Work};

use serde::{Deserialize, Serialize};

/// Draws of b (log p_t = a + t b) at the current t, with optional importance weights.
///
/// A draw with b = −∞ or NaN is non-finite: it is ignored and counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Draws<'a> {
    /// b of each draw.
    pub b: &'a [f64],
    /// Weight of each draw, on any common scale; equal weights if absent.
    pub weights: Option<&'a [f64]>,
}

/// A position in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// k, the number of steps taken to get here.
    pub index: usize,
    /// t_k
    pub t: f64,
}

impl Position {
    /// The first position of a rule.
    pub fn start(rule: &(impl Rule + ?Sized)) -> Self {
        Self { index: 0, t: rule.first() }
    }

    /// The position after a step.
    pub fn after(self, step: &Step) -> Self {
        Self { index: self.index + 1, t: step.t }
    }
}

/// A step that a rule has chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The next inverse temperature.
    pub t: f64,
    /// Its difference from the current t; the last step is shortened to end at t = 1.
    pub epsilon: f64,
    /// Standard deviation of b, for rules that use it.
    pub std_b: Option<f64>,
    /// Draws ignored because their b is −∞ or NaN.
    pub lost: usize,
    /// The reason for the step.
    pub reason: Reason,
    /// A warning for the user.
    pub warning: Option<Warning>,
}

impl Step {
    /// The step from `at` to `t`. It is shortened to end at t = 1; an adaptive step that would exceed 1
    /// has the reason [end](Reason::End).
    ///
    /// # Errors
    /// If no step can start from `at`, or `t` does not exceed it.
    pub fn new(at: Position, t: f64, reason: Reason) -> Result<Self, ScheduleError> {
        let remedy = "make the rule's steps longer";
        advance(at, Proposal { t, spread: None, reason, remedy })
    }

    /// Records the spread of b that the rule used.
    #[must_use]
    pub fn with_spread(self, spread: Spread) -> Self {
        Self { std_b: Some(spread.std), lost: spread.lost, ..self }
    }
}

/// The reason for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// The value was fixed in advance.
    Planned,
    /// The KL divergence of the step equals the tolerance.
    Tolerance,
    /// The effective sample size of the step equals the required one.
    EffectiveSampleSize,
    /// Limited by the largest ratio of successive t.
    MaxRatio,
    /// Raised to the smallest step.
    MinEpsilon,
    /// Limited by the largest step.
    MaxEpsilon,
    /// The rule's own step would have reached or passed t = 1.
    End,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Planned => "planned",
            Self::Tolerance => "KL tolerance",
            Self::EffectiveSampleSize => "effective sample size",
            Self::MaxRatio => "largest ratio",
            Self::MinEpsilon => "smallest step",
            Self::MaxEpsilon => "largest step",
            Self::End => "end",
        })
    }
}

/// A warning about a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// b varies so little that the rule would have jumped; see [`Guarded`].
    Collapsed {
        /// The inverse temperature where it happened.
        t: f64,
        /// The spread of b there.
        std_b: f64,
        /// The next t implied by the spread alone; may exceed 1.
        wanted: f64,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Collapsed { t, std_b, wanted } => write!(
                f,
                "at t = {t:.4} the log density varies by only {std_b:.3e} over the flow's draws, \
                 which asks for a jump to t = {wanted:.4}: the flow may have collapsed; train \
                 longer at t_0, or start the flow nearer the identity"
            ),
        }
    }
}

/// A rule that chooses the next inverse temperature.
///
/// [`Rule::next`] returns a t above the current one and at most 1, or an error that names the setting
/// to change; [`Step::new`] ensures this. A custom rule:
///
/// ```
/// use adaann::schedule::{Draws, Position, Reason, Rule, ScheduleError, Step, spread};
///
/// /// AdaAnn with a tolerance that grows with t.
/// struct Bolder {
///     tau: f64,
/// }
///
/// impl Rule for Bolder {
///     fn first(&self) -> f64 {
///         0.01
///     }
///     fn needs_draws(&self) -> bool {
///         true
///     }
///     fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
///         let spread = spread(at.t, draws)?;
///         let epsilon = self.tau * (1.0 + at.t) / spread.std;
///         Ok(Step::new(at, at.t + epsilon, Reason::Tolerance)?.with_spread(spread))
///     }
/// }
///
/// let rule = Bolder { tau: 0.5 };
/// rule.check(false)?;
/// let draws = Draws { b: &[-4.0, -2.0, -3.0], weights: None };
/// let step = rule.next(Position::start(&rule), &draws)?;
/// assert_eq!(step.t, 0.01 + 0.505);
/// # Ok::<(), adaann::Error>(())
/// ```
pub trait Rule: Send + Sync {
    /// t_0
    fn first(&self) -> f64;

    /// Sets t_0; returns `false` for a rule without its own t_0.
    fn set_first(&mut self, _t0: f64) -> bool {
        false
    }

    /// Whether [`Rule::next`] uses the draws.
    fn needs_draws(&self) -> bool;

    /// The step from `at`, given draws from (an approximation of) p_t.
    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError>;

    /// The number of values of t, including t_0 and t = 1, if it is known in advance.
    fn count(&self) -> Option<usize> {
        None
    }

    /// Refuses invalid settings; t_0 = 0 is invalid unless `allow_zero`.
    ///
    /// # Errors
    /// Names the setting, its value and the valid range.
    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        check_t0(self.first(), allow_zero)
    }
}

/// The step that a rule proposes, before the common laws are applied.
struct Proposal {
    /// The next t; above 1 means the end.
    t: f64,
    spread: Option<Spread>,
    reason: Reason,
    /// The change of settings that makes steps larger.
    remedy: &'static str,
}

/// Refuses a position that no step can leave.
fn check_position(at: Position) -> Result<(), ScheduleError> {
    match at.t {
        t if !(0.0..=1.0).contains(&t) => Err(ScheduleError::Position { t }),
        1.0 => Err(ScheduleError::Ended),
        _ => Ok(()),
    }
}

/// The least relative growth of t for an adaptive step. With smaller steps, t would need more than five
/// million of them to grow by the factor e, and the run would not finish.
const LEAST_GROWTH: f64 = 2e-7;

/// Ends at t = 1 (`while t + ε < 1` of Algorithm 1), and refuses a step with almost no growth of t.
fn advance(at: Position, proposal: Proposal) -> Result<Step, ScheduleError> {
    check_position(at)?;
    let Proposal { t: wanted, spread, reason, remedy } = proposal;
    let is_found = matches!(reason, Reason::Tolerance | Reason::EffectiveSampleSize);
    let least = if is_found { at.t * (1.0 + LEAST_GROWTH) } else { at.t };
    let is_short = wanted <= at.t || wanted < least.min(1.0);
    if wanted.is_nan() || is_short {
        return Err(ScheduleError::Resolution { t: at.t, epsilon: wanted - at.t, remedy });
    }
    let (t, reason) = match reason {
        Reason::Planned => (wanted.min(1.0), reason),
        _ if wanted < 1.0 => (wanted, reason),
        _ => (1.0, Reason::End),
    };
    Ok(Step {
        t,
        epsilon: t - at.t,
        std_b: spread.map(|s| s.std),
        lost: spread.map_or(0, |s| s.lost),
        reason,
        warning: None,
    })
}

/// The step to a value of t that was fixed in advance.
fn planned(at: Position, next: f64) -> Result<Step, ScheduleError> {
    check_position(at)?;
    if next.is_nan() || next <= at.t {
        return Err(ScheduleError::OutOfStep { index: at.index + 1, t: at.t, next });
    }
    advance(
        at,
        Proposal { t: next, spread: None, reason: Reason::Planned, remedy: "raise `epsilon`" },
    )
}

/// Refuses a t_0 outside (0, 1], or outside [0, 1] where 0 is allowed.
fn check_t0(t0: f64, allow_zero: bool) -> crate::Result<()> {
    let above = if allow_zero { t0 >= 0.0 } else { t0 > 0.0 };
    // A subnormal number has lost half of its digits, and t b would inherit the error.
    if above && t0.is_subnormal() {
        let least = format!("at least {:.1e} and at most 1", f64::MIN_POSITIVE);
        return Err(crate::error::setting("t0", format!("{t0:e}"), least));
    }
    if above && t0 <= 1.0 {
        return Ok(());
    }
    let range = if allow_zero { "in [0, 1]" } else { "above 0 and at most 1" };
    Err(crate::error::setting("t0", t0, range))
}

/// Refuses a setting that is not a positive finite number.
fn check_positive(name: &'static str, value: f64) -> crate::Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(crate::error::setting(name, value, "a positive finite number"))
}

/// Refuses a schedule of no steps.
fn check_steps(steps: usize) -> crate::Result<()> {
    if steps == 0 {
        return Err(crate::error::setting("steps", steps, "at least 1"));
    }
    Ok(())
}
