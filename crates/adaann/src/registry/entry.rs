//! A registered density: its name, its parameters, and how it is built.

use super::{Data, Dynamics, Known};
use crate::{Result, answer::Method, error, fit::Settings, suggest, table::Table, target::Target};

/// A density ready to be fitted.
pub struct Problem {
    /// The density.
    pub target: Box<dyn Target>,
    /// What is known about it.
    pub known: Known,
    /// Settings of Algorithm 1 that work for it.
    pub settings: Settings,
    /// The data behind it, if it is a posterior.
    pub data: Option<Table>,
    /// The dynamical system of the posterior, if it has one.
    pub dynamics: Option<Dynamics>,
}

/// A registered density.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Parameters that can be chosen.
    pub parameters: &'static [Parameter],
    /// Names of its presets for Algorithm 1; the first is the default.
    pub presets: &'static [&'static str],
    /// The default method, named directly or by a preset.
    pub method: Method,
    pub(super) build: Build,
}

/// How an entry builds its problem from the values of its parameters.
pub(super) enum Build {
    Density(fn(&[f64]) -> Result<Problem>),
    /// With a preset and data.
    Posterior(fn(&[f64], &str, &Data) -> Result<Problem>),
}

/// Choices about a registered density.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Parameters by name; the others take their defaults.
    pub parameters: Vec<(String, f64)>,
    /// The preset; the entry's first one if `None`.
    pub preset: Option<String>,
    /// The source of the data; seed 1 if `None`.
    pub data: Option<Data>,
}

/// A parameter of a registered density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub default: f64,
    /// One line on what it means.
    pub description: &'static str,
}

impl Entry {
    /// The density with the given parameters, and defaults for the others.
    ///
    /// ```
    /// let given = [("mu".to_string(), 1.5)];
    /// let problem = adaann::registry::find("mixture2d")?.build(&given)?;
    /// assert_eq!(problem.known.mean, Some(vec![0.0, 1.5]));
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a parameter is unknown or its value is out of range.
    pub fn build(&self, given: &[(String, f64)]) -> Result<Problem> {
        self.choose(&Choices { parameters: given.to_vec(), ..Choices::default() })
    }

    /// Whether it is a posterior that takes data.
    pub fn takes_data(&self) -> bool {
        matches!(self.build, Build::Posterior(_))
    }

    /// The density with all choices applied.
    ///
    /// ```
    /// use adaann::registry::{Choices, Data, find};
    ///
    /// let choices = Choices {
    ///     preset: Some("paper".into()),
    ///     data: Some(Data::Seed(7)),
    ///     ..Choices::default()
    /// };
    /// let problem = find("hiv")?.choose(&choices)?;
    /// assert_eq!(problem.target.names(), ["p1", "p2", "x2_0"]);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a parameter or preset is unknown, a value is out of range, or the data does not fit.
    pub fn choose(&self, choices: &Choices) -> Result<Problem> {
        let mut values: Vec<f64> = self.parameters.iter().map(|p| p.default).collect();
        for (name, value) in &choices.parameters {
            let names = || self.parameters.iter().map(|p| p.name);
            let Some(index) = names().position(|known| known == name) else {
                return Err(suggest::unknown("parameter", name, names()));
            };
            if !value.is_finite() {
                return Err(error::setting(self.parameters[index].name, value, "finite"));
            }
            values[index] = *value;
        }
        let preset = choices.preset.as_deref().unwrap_or(self.presets[0]);
        if !self.presets.contains(&preset) {
            return Err(error::setting("preset", preset, self.presets.join(" or ")));
        }
        match (&self.build, &choices.data) {
            (Build::Density(build), None) => build(&values),
            (Build::Density(_), Some(_)) => Err(error::setting(
                "data",
                "given",
                format!("left out: {} takes no data", self.name),
            )),
            (Build::Posterior(build), data) => {
                build(&values, preset, data.as_ref().unwrap_or(&Data::Seed(Data::DEFAULT_SEED)))
            }
        }
    }
}

/// A parameter that is a whole number.
pub(super) fn whole(name: &'static str, value: f64, least: usize, most: usize) -> Result<usize> {
    if value.fract() == 0.0 && (least as f64..=most as f64).contains(&value) {
        return Ok(value as usize);
    }
    Err(error::setting(name, value, format!("a whole number from {least} to {most}")))
}
