//! All rules by name, as chosen in a settings file or on the command line.

use super::tuned::{Setting, Tuned};
use super::{AdaAnn, EssBisection, Exponential, Guarded, Linear, List, Logarithmic, Single};
use super::{Draws, Position, Rule, ScheduleError, Step};
use crate::{error::setting, suggest};
use serde::{Deserialize, Serialize};

/// Makes [`Schedule`] from a table of rules, each a type with a `Default`, under its name.
macro_rules! schedules {
    ($none:literal: $no_annealing:literal, $($rule:ident = $name:literal: $line:literal,)*) => {
        /// A rule with its settings. Settings missing from a file have the rule's defaults.
        ///
        /// ```
        /// use adaann::schedule::{AdaAnn, Schedule};
        /// let text = r#"{"adaann": {"t0": 0.01, "tau": 0.01}}"#;
        /// let schedule: Schedule = serde_json::from_str(text)?;
        /// assert_eq!(schedule, AdaAnn { t0: 0.01, tau: 0.01 }.into());
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[doc(alias = "temperature ladder")]
        #[doc(alias = "annealing")]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub enum Schedule {
            #[doc = $no_annealing]
            #[serde(rename = $none)]
            None,
            $(
                #[doc = $line]
                #[serde(rename = $name)]
                $rule($rule),
            )*
        }

        impl Schedule {
            /// Every rule's name with a one-line description.
            pub const ALL: &[(&str, &str)] = &[($none, $no_annealing), $(($name, $line),)*];

            /// The rule with this name and default settings.
            pub fn named(name: &str) -> crate::Result<Self> {
                match name {
                    $none => Ok(Self::None),
                    $($name => Ok(Self::$rule($rule::default())),)*
                    _ => {
                        let known = Self::ALL.iter().map(|(known, _)| *known);
                        Err(suggest::unknown("schedule", name, known))
                    }
                }
            }

            /// The rule's name, as in [`Schedule::ALL`].
            pub fn name(&self) -> &'static str {
                match self {
                    Self::None => $none,
                    $(Self::$rule(_) => $name,)*
                }
            }

            /// The rule itself.
            fn rule(&self) -> &dyn Rule {
                match self {
                    Self::None => &Single,
                    $(Self::$rule(rule) => rule,)*
                }
            }

            /// The rule itself, if it has settings.
            fn tuned(&mut self) -> Option<&mut dyn Tuned> {
                match self {
                    Self::None => None,
                    $(Self::$rule(rule) => Some(rule),)*
                }
            }
        }

        $(
            impl From<$rule> for Schedule {
                fn from(rule: $rule) -> Self {
                    Self::$rule(rule)
                }
            }
        )*
    };
}

schedules! {
    "none": "no annealing: t = 1 from the start",
    Linear = "linear": "constant steps: t0 + k epsilon",
    Exponential = "exponential": "constant ratios from t0 to 1 in a given number of steps",
    Logarithmic = "logarithmic": "t grows as log(1 + k) from t0 to 1 in a given number of steps",
    List = "list": "values of t listed by the user",
    AdaAnn = "adaann": "each step costs the same KL divergence, tau^2/2 (the paper's Algorithm 1)",
    Guarded = "guarded": "adaann within bounds: largest ratio, step limits, outliers clipped",
    EssBisection = "ess": "each step retains a given fraction of the effective sample size",
}

/// From this fraction on, a step is short enough for AdaAnn's rule under any distribution of b.
const SHORT_STEP_ESS: f64 = 0.9;

impl Default for Schedule {
    /// AdaAnn with the paper's t_0 and τ.
    fn default() -> Self {
        AdaAnn::default().into()
    }
}

impl Schedule {
    /// The rule whose steps retain the fraction `ess` of a sample: the effective sample size after
    /// weighting from one density to the next.
    ///
    /// For a normal b, a step of AdaAnn retains exp(−τ²). From 0.9 on the rule is therefore AdaAnn
    /// with τ = √(−log ess). Below, a step is so long that the distribution of b matters, and the
    /// rule finds the fraction by bisection.
    ///
    /// ```
    /// use adaann::schedule::{AdaAnn, EssBisection, Schedule};
    /// let tau = (-0.99_f64.ln()).sqrt();
    /// assert_eq!(Schedule::for_step_ess(0.01, 0.99)?, AdaAnn { t0: 0.01, tau }.into());
    /// let long = Schedule::for_step_ess(0.01, 0.5)?;
    /// assert_eq!(long, EssBisection { t0: 0.01, ess: 0.5 }.into());
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the fraction is not strictly between 0 and 1.
    pub fn for_step_ess(t0: f64, ess: f64) -> crate::Result<Self> {
        if !(ess > 0.0 && ess < 1.0) {
            return Err(setting("step-ess", ess, "between 0 and 1, both excluded"));
        }
        if ess < SHORT_STEP_ESS {
            return Ok(EssBisection { t0, ess }.into());
        }
        Ok(AdaAnn { t0, tau: (-ess.ln()).sqrt() }.into())
    }
}

impl Schedule {
    /// The rule's settings with their names.
    pub(crate) fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)> {
        self.tuned().map_or_else(Vec::new, |rule| rule.settings())
    }

    /// Names of the rules with a setting of this name.
    pub(crate) fn owners(setting: &str) -> Vec<&'static str> {
        let has = |name: &str| {
            let mut rule = Self::named(name).expect("a rule's own name");
            rule.settings().iter().any(|(known, _)| *known == setting)
        };
        Self::ALL.iter().map(|(name, _)| *name).filter(|name| has(name)).collect()
    }
}

impl Rule for Schedule {
    fn first(&self) -> f64 {
        self.rule().first()
    }

    fn set_first(&mut self, t0: f64) -> bool {
        self.tuned().is_some_and(|rule| rule.set_first(t0))
    }

    fn needs_draws(&self) -> bool {
        self.rule().needs_draws()
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        self.rule().next(at, draws)
    }

    fn count(&self) -> Option<usize> {
        self.rule().count()
    }

    fn check(&self, allow_zero: bool) -> crate::Result<()> {
        self.rule().check(allow_zero)
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

    /// Keys in files are kebab-case, and setting t_0 changes only the rule's own t_0.
    #[test]
    fn keys_are_those_of_the_flags_and_the_first_t_can_be_set() {
        let text = r#"{"guarded": {"max-ratio": 3.0, "min-epsilon": 0.1, "max-epsilon": 0.2}}"#;
        let schedule: Schedule = serde_json::from_str(text).unwrap();
        let guards =
            Guarded { max_ratio: 3.0, min_epsilon: 0.1, max_epsilon: 0.2, ..Guarded::default() };
        assert_eq!(schedule, guards.into());
        assert!(serde_json::from_str::<Schedule>(r#"{"guarded": {"max_ratio": 3.0}}"#).is_err());
        for (name, _) in Schedule::ALL {
            let mut schedule = Schedule::named(name).unwrap();
            let first = schedule.first();
            let has_its_own = !["none", "list"].contains(name);
            assert_eq!(schedule.set_first(0.25), has_its_own, "{name}");
            assert_eq!(schedule.first(), if has_its_own { 0.25 } else { first });
        }
    }

    /// A setting changed by name appears in a file under that key.
    #[test]
    fn settings_have_the_names_of_their_keys() {
        for (name, _) in Schedule::ALL {
            let mut schedule = Schedule::named(name).unwrap();
            let names: Vec<&str> = schedule.settings().iter().map(|(name, _)| *name).collect();
            let value = serde_json::to_value(&schedule).unwrap();
            let keys: Vec<&str> = match value.get(name) {
                Some(serde_json::Value::Object(keys)) => keys.keys().map(String::as_str).collect(),
                Some(_) => vec!["temperatures"],
                None => Vec::new(),
            };
            let mut expected: Vec<&str> =
                names.iter().map(|name| name.strip_prefix("no-").unwrap_or(name)).collect();
            expected.sort_unstable();
            assert_eq!(keys, expected, "{name}");
            for name in names {
                assert!(Schedule::owners(name).contains(&schedule.name()));
            }
        }
        assert_eq!(Schedule::owners("tau"), ["adaann", "guarded"]);
        assert_eq!(Schedule::owners("tua"), [""; 0]);
    }

    #[test]
    fn settings_outside_their_range_are_refused_by_name() {
        let nan = f64::NAN;
        for (schedule, name) in [
            (Schedule::Linear(Linear { t0: 0.0, epsilon: 0.1 }), "t0"),
            (Schedule::Linear(Linear { t0: nan, epsilon: 0.1 }), "t0"),
            (Schedule::Linear(Linear { t0: 1.1, epsilon: 0.1 }), "t0"),
            (Schedule::Linear(Linear { t0: 0.1, epsilon: 0.0 }), "epsilon"),
            (Schedule::Exponential(Exponential { t0: 0.1, steps: 0 }), "steps"),
            (Schedule::Logarithmic(Logarithmic { t0: 0.1, steps: 0 }), "steps"),
            (Schedule::AdaAnn(AdaAnn { t0: 0.1, tau: 0.0 }), "tau"),
            (Schedule::AdaAnn(AdaAnn { t0: 0.1, tau: f64::INFINITY }), "tau"),
            (Schedule::AdaAnn(AdaAnn { t0: -0.1, tau: 0.1 }), "t0"),
            (Schedule::EssBisection(EssBisection { t0: 0.1, ess: 1.0 }), "ess"),
            (Schedule::List(List(vec![0.1, 0.5])), "temperatures"),
        ] {
            let error = schedule.check(false).unwrap_err();
            let Error::Setting { setting, .. } = error else { panic!("{error}") };
            assert_eq!(setting, name);
        }
        assert!(Schedule::AdaAnn(AdaAnn { t0: 0.0, tau: 0.1 }).check(true).is_ok());
    }
}
