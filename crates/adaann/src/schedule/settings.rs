//! All rules with their settings: what a settings file or the command line names.

use super::{AdaAnn, EssBisection, Exponential, Guarded, Linear, List, Logarithmic, Single};
use super::{Draws, Position, Rule, ScheduleError, Step};
use crate::{error::setting, names};
use serde::{Deserialize, Serialize};

/// A rule with its settings.
///
/// ```
/// use adaann::schedule::Schedule;
/// let schedule: Schedule = serde_json::from_str(r#"{"adaann": {"t0": 0.01, "tau": 0.01}}"#)?;
/// assert_eq!(schedule, Schedule::AdaAnn { t0: 0.01, tau: 0.01 });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Schedule {
    /// [`Single`]
    None,
    /// [`Linear`]
    Linear {
        /// The first t.
        t0: f64,
        /// The step ε.
        epsilon: f64,
    },
    /// [`Exponential`]
    Exponential {
        /// The first t.
        t0: f64,
        /// The number of steps.
        steps: usize,
    },
    /// [`Logarithmic`]
    Logarithmic {
        /// The first t.
        t0: f64,
        /// The number of steps.
        steps: usize,
    },
    /// [`List`]
    List(Vec<f64>),
    /// [`AdaAnn`]
    AdaAnn {
        /// The first t.
        t0: f64,
        /// τ, the KL tolerance.
        tau: f64,
    },
    /// [`Guarded`]
    Guarded {
        /// The first t.
        t0: f64,
        /// τ, the KL tolerance.
        tau: f64,
        /// The largest ratio of successive t.
        #[serde(default = "default_max_ratio")]
        max_ratio: f64,
        /// The smallest ε.
        #[serde(default)]
        min_epsilon: f64,
        /// The largest ε.
        #[serde(default = "default_max_epsilon")]
        max_epsilon: f64,
        /// Clip outliers of b?
        #[serde(default = "default_robust")]
        robust: bool,
    },
    /// [`EssBisection`]
    #[serde(rename = "ess")]
    EssBisection {
        /// The first t.
        t0: f64,
        /// The share of the draws to keep.
        ess: f64,
    },
}

/// From here on a step is short enough for AdaAnn's rule, whatever the law of b.
const SHORT_STEP_ESS: f64 = 0.9;

/// A Gaussian asks for the ratio 1 + τ √(2/d): 1.7 at most for τ up to 0.5.
fn default_max_ratio() -> f64 {
    2.0
}

/// No ceiling.
fn default_max_epsilon() -> f64 {
    1.0
}

fn default_robust() -> bool {
    true
}

impl Default for Schedule {
    /// AdaAnn with the paper's t_0 and τ.
    fn default() -> Self {
        Self::AdaAnn { t0: 0.01, tau: 0.01 }
    }
}

impl Schedule {
    /// Every rule's name, with a line on what it does.
    pub const ALL: &[(&str, &str)] = &[
        ("none", "no annealing: t = 1 from the start"),
        ("linear", "constant steps: t0 + k epsilon"),
        ("exponential", "constant ratios from t0 to 1 in a given number of steps"),
        ("logarithmic", "t grows as log(1 + k) from t0 to 1 in a given number of steps"),
        ("list", "values of t that you write down"),
        ("adaann", "each step worth the same KL divergence, tau^2/2 (the paper's Algorithm 1)"),
        ("guarded", "adaann within bounds: largest ratio, step limits, outliers clipped"),
        ("ess", "each step keeps a given share of the effective sample size"),
    ];

    /// The rule of this name, with settings to start from.
    pub fn named(name: &str) -> crate::Result<Self> {
        let (t0, tau, steps) = (0.01, 0.01, 1_000);
        Ok(match name {
            "none" => Self::None,
            "linear" => Self::Linear { t0, epsilon: 1e-4 },
            "exponential" => Self::Exponential { t0, steps },
            "logarithmic" => Self::Logarithmic { t0, steps },
            "list" => Self::List(vec![t0, 0.1, 1.0]),
            "adaann" => Self::AdaAnn { t0, tau },
            "guarded" => Self::Guarded {
                t0,
                tau,
                max_ratio: default_max_ratio(),
                min_epsilon: 0.0,
                max_epsilon: default_max_epsilon(),
                robust: default_robust(),
            },
            "ess" => Self::EssBisection { t0, ess: 0.9 },
            _ => {
                return Err(names::unknown(
                    "schedule",
                    name,
                    Self::ALL.iter().map(|(known, _)| *known),
                ));
            }
        })
    }

    /// The rule's name, as in [`Schedule::ALL`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Linear { .. } => "linear",
            Self::Exponential { .. } => "exponential",
            Self::Logarithmic { .. } => "logarithmic",
            Self::List(_) => "list",
            Self::AdaAnn { .. } => "adaann",
            Self::Guarded { .. } => "guarded",
            Self::EssBisection { .. } => "ess",
        }
    }

    /// The rule whose steps keep the share `ess` of a sample: weights from one density to the next
    /// leave that much of its size.
    ///
    /// For a normal b the share that a step of AdaAnn keeps is exp(−τ²), so from 0.9 on it is AdaAnn
    /// with τ = √(−log ess). Below, a step is so long that the law of b matters, and the share itself
    /// is found by bisection.
    ///
    /// ```
    /// use adaann::schedule::Schedule;
    /// let tau = (-0.99_f64.ln()).sqrt();
    /// assert_eq!(Schedule::for_step_ess(0.01, 0.99)?, Schedule::AdaAnn { t0: 0.01, tau });
    /// let long = Schedule::for_step_ess(0.01, 0.5)?;
    /// assert_eq!(long, Schedule::EssBisection { t0: 0.01, ess: 0.5 });
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the share is not between 0 and 1, both excluded.
    pub fn for_step_ess(t0: f64, ess: f64) -> crate::Result<Self> {
        if !(ess > 0.0 && ess < 1.0) {
            return Err(setting("step-ess", ess, "between 0 and 1, both excluded"));
        }
        if ess < SHORT_STEP_ESS {
            return Ok(Self::EssBisection { t0, ess });
        }
        Ok(Self::AdaAnn { t0, tau: (-ess.ln()).sqrt() })
    }

    /// Sets t_0; `false` for a rule that has none of its own.
    pub fn set_first(&mut self, first: f64) -> bool {
        match self {
            Self::None | Self::List(_) => return false,
            Self::Linear { t0, .. }
            | Self::Exponential { t0, .. }
            | Self::Logarithmic { t0, .. }
            | Self::AdaAnn { t0, .. }
            | Self::Guarded { t0, .. }
            | Self::EssBisection { t0, .. } => *t0 = first,
        }
        true
    }

    /// Hands the rule behind the settings to `f`.
    fn with<T>(&self, f: impl FnOnce(&dyn Rule) -> T) -> T {
        match *self {
            Self::None => f(&Single),
            Self::Linear { t0, epsilon } => f(&Linear { t0, epsilon }),
            Self::Exponential { t0, steps } => f(&Exponential { t0, steps }),
            Self::Logarithmic { t0, steps } => f(&Logarithmic { t0, steps }),
            Self::List(ref values) => f(&List(values)),
            Self::AdaAnn { t0, tau } => f(&AdaAnn { t0, tau }),
            Self::Guarded { t0, tau, max_ratio, min_epsilon, max_epsilon, robust } => {
                f(&Guarded { t0, tau, max_ratio, min_epsilon, max_epsilon, robust })
            }
            Self::EssBisection { t0, ess } => f(&EssBisection { t0, ess }),
        }
    }
}

impl Rule for Schedule {
    fn first(&self) -> f64 {
        self.with(|rule| rule.first())
    }

    fn needs_draws(&self) -> bool {
        self.with(|rule| rule.needs_draws())
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        self.with(|rule| rule.next(at, draws))
    }

    fn count(&self) -> Option<usize> {
        self.with(|rule| rule.count())
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        self.with(|rule| rule.check(allow_zero))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn every_name_has_its_rule_and_survives_a_file() {
        for (name, _) in Schedule::ALL {
            let schedule = Schedule::named(name).unwrap();
            assert_eq!(schedule.name(), *name);
            schedule.check(false).unwrap();
            let text = serde_json::to_string(&schedule).unwrap();
            assert!(text.contains(&format!("\"{name}\"")), "{text}");
            assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule);
        }
    }

    #[test]
    fn an_unknown_name_is_met_with_a_known_one() {
        let error = Schedule::named("ada").unwrap_err().to_string();
        assert!(error.contains("did you mean 'adaann'"), "{error}");
        assert!(Schedule::named("cosine").is_err());
    }

    #[test]
    fn unknown_settings_are_refused_and_guards_have_defaults() {
        let text = r#"{"adaann": {"t0": 0.01, "tau": 0.01, "tua": 1}}"#;
        assert!(serde_json::from_str::<Schedule>(text).is_err());
        let text = r#"{"guarded": {"t0": 0.01, "tau": 0.01}}"#;
        let guarded: Schedule = serde_json::from_str(text).unwrap();
        assert_eq!(guarded, Schedule::named("guarded").unwrap());
    }

    #[test]
    fn settings_outside_their_range_are_refused_by_name() {
        let nan = f64::NAN;
        for (schedule, name) in [
            (Schedule::Linear { t0: 0.0, epsilon: 0.1 }, "t0"),
            (Schedule::Linear { t0: nan, epsilon: 0.1 }, "t0"),
            (Schedule::Linear { t0: 1.1, epsilon: 0.1 }, "t0"),
            (Schedule::Linear { t0: 0.1, epsilon: 0.0 }, "epsilon"),
            (Schedule::Exponential { t0: 0.1, steps: 0 }, "steps"),
            (Schedule::Logarithmic { t0: 0.1, steps: 0 }, "steps"),
            (Schedule::AdaAnn { t0: 0.1, tau: 0.0 }, "tau"),
            (Schedule::AdaAnn { t0: 0.1, tau: f64::INFINITY }, "tau"),
            (Schedule::AdaAnn { t0: -0.1, tau: 0.1 }, "t0"),
            (Schedule::EssBisection { t0: 0.1, ess: 1.0 }, "ess"),
            (Schedule::List(vec![0.1, 0.5]), "temperatures"),
        ] {
            let error = schedule.check(false).unwrap_err();
            let Error::Setting { setting, .. } = error else { panic!("{error}") };
            assert_eq!(setting, name);
        }
        assert!(Schedule::AdaAnn { t0: 0.0, tau: 0.1 }.check(true).is_ok());
    }
}
