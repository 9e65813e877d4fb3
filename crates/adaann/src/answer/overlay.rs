//! Settings of an answer, as given by a file or a command line.

use super::{Method, Settings};
use crate::{
    Result, error,
    fit::overlay::{Form, Table, Value, Written, named, settings},
};

/// The heading of the table.
const METHOD: &str = "Method";

settings! {
    /// Settings of an answer, each of them optional.
    pub struct Overlay {
        METHOD {
            /// The method that makes the answer [default: ladder; adaann for the paper's Examples 1 to 3, and
            /// with any setting that only adaann uses]
            method: Method = "method" "NAME",
            /// The ladder, which is the default
            auto: bool = "auto" "",
            /// The effective sample size that the weighted draws should reach [default: 4000]
            target_ess: f64 = "target-ess" "COUNT",
            /// The most draws to take to reach it [default: 200000]
            most_draws: usize = "most-draws" "COUNT",
            /// The check's share of all evaluations, up to 0.9; 0 for no check [default: 0.5]
            check: f64 = "check" "SHARE",
            /// Multiplies the effort of the search for modes, and its evaluations: 10 finds modes that are ten
            /// times as hard to hit, which may turn LOCAL into RELIABLE [default: 1]
            search: f64 = "search" "FACTOR",
            /// The least number of points that ranks or processes evaluate at a time: larger batches, and
            /// fewer of them, for more evaluations in all [default: 1, the smallest batches]
            at_once: usize = "at-once" "COUNT",
        }
    }
}

impl Value for Method {
    const FORM: Form = Form::Name(Self::ALL);

    fn read(written: Written<'_>) -> std::result::Result<Self, String> {
        named(written, Self::ALL, Self::named)
    }
}

impl Overlay {
    /// The requested method, with the name of the setting that requests it.
    ///
    /// # Errors
    /// If two settings request different methods.
    pub fn asked(&self) -> Result<Option<(&'static str, Method)>> {
        match (self.auto == Some(true), self.method) {
            (false, None) => Ok(None),
            (true, None) => Ok(Some(("auto", Method::Ladder))),
            (true, Some(method)) if method != Method::Ladder => {
                let name = method.name();
                let message =
                    format!("`auto` asks for the ladder, and `method` for {name}; give one");
                Err(error::conflict("auto", message))
            }
            (_, Some(method)) => Ok(Some(("method", method))),
        }
    }

    /// The given settings that Algorithm 1 does not use.
    pub fn strangers_to_adaann(&self) -> Vec<&'static str> {
        let own = Self::TABLE.iter().filter(|setting| !matches!(setting.name, "method" | "auto"));
        own.filter(|setting| setting.is_given(self)).map(|setting| setting.name).collect()
    }

    /// Applies these settings over `base`.
    #[must_use]
    pub fn over_settings(&self, base: Settings) -> Settings {
        Settings {
            target_ess: self.target_ess.unwrap_or(base.target_ess),
            most_draws: self.most_draws.unwrap_or(base.most_draws),
            check: self.check.unwrap_or(base.check),
            search: self.search.unwrap_or(base.search),
            at_once: self.at_once.unwrap_or(base.at_once),
            ..base
        }
    }
}
