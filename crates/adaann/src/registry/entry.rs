//! What a registered density is: its name, what can be chosen about it, and how it is made.

use super::{Data, Dynamics, Known};
use crate::{Result, answer::Method, error, fit::Settings, names, table::Table, target::Target};

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
    /// The dynamical system behind it, if it is the posterior of one.
    pub dynamics: Option<Dynamics>,
}

/// A registered density.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What can be chosen about it.
    pub parameters: &'static [Parameter],
    /// Names of its sets of settings of Algorithm 1; the first one is used if none is asked for.
    pub presets: &'static [&'static str],
    /// The method that answers if none is asked for, by its name or by that of a preset.
    pub method: Method,
    pub(super) build: Build,
}

/// How an entry makes its problem from the values of its parameters.
pub(super) enum Build {
    Density(fn(&[f64]) -> Result<Problem>),
    /// With a preset and data.
    Posterior(fn(&[f64], &str, &Data) -> Result<Problem>),
}

/// What is chosen about a registered density.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Parameters by their names; defaults for the others.
    pub parameters: Vec<(String, f64)>,
    /// The set of settings; the entry's first one if none.
    pub preset: Option<String>,
    /// Where the data comes from; seed 1 if nothing is said.
    pub data: Option<Data>,
}

/// Something that can be chosen about a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value if none is given.
    pub default: f64,
    /// One line on what it means.
    pub description: &'static str,
}

impl Entry {
    /// The density with the given parameters, defaults for the others.
    ///
    /// ```
    /// let given = [("mu".to_string(), 1.5)];
    /// let problem = adaann::registry::find("mixture2d")?.build(&given)?;
    /// assert_eq!(problem.known.mean, Some(vec![0.0, 1.5]));
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such parameter or its value is out of range.
    pub fn build(&self, given: &[(String, f64)]) -> Result<Problem> {
        self.choose(&Choices { parameters: given.to_vec(), ..Choices::default() })
    }

    /// Is it a posterior, with data behind it?
    pub fn takes_data(&self) -> bool {
        matches!(self.build, Build::Posterior(_))
    }

    /// The density with all that can be chosen about it.
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
    /// If there is no such parameter or preset, a value is out of range, or the data does not fit.
    pub fn choose(&self, choices: &Choices) -> Result<Problem> {
        let mut values: Vec<f64> = self.parameters.iter().map(|p| p.default).collect();
        for (name, value) in &choices.parameters {
            let names = || self.parameters.iter().map(|p| p.name);
            let Some(index) = names().position(|known| known == name) else {
                return Err(names::unknown("parameter", name, names()));
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
            (Build::Density(_), Some(_)) => {
                Err(error::setting("data", "given", format!("left out: {} has none", self.name)))
            }
            (Build::Posterior(build), data) => {
                build(&values, preset, data.as_ref().unwrap_or(&Data::Seed(Data::DEFAULT_SEED)))
            }
        }
    }
}

/// A parameter that counts something.
pub(super) fn whole(name: &'static str, value: f64, least: usize, most: usize) -> Result<usize> {
    if value.fract() == 0.0 && (least as f64..=most as f64).contains(&value) {
        return Ok(value as usize);
    }
    Err(error::setting(name, value, format!("a whole number from {least} to {most}")))
}
