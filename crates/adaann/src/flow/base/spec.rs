//! The settings of the base density of a run.

use super::{Base, Covariance};
use crate::{
    Error, Result, error,
    rng::{Purpose, Stream},
    target::{Unconstrained, laplace},
};
use serde::{Deserialize, Serialize};

/// The settings of the base density.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BaseSpec {
    /// The starting point.
    pub start: Start,
    /// Mean: one number for all coordinates, or one for each.
    pub mean: Vec<f64>,
    /// Standard deviation: one number for all coordinates, or one for each.
    pub sd: Vec<f64>,
    /// The covariance matrix, row by row, instead of the standard deviations; may be empty.
    pub matrix: Vec<f64>,
    /// The shape of the covariance factor that training may move; in a mixture, that of each
    /// component. Full if a matrix is given.
    pub covariance: Covariance,
    /// Whether training moves the base.
    pub trained: bool,
    /// Number of components K: 1 for a Gaussian. Components of a mixture start with equal weights,
    /// the standard deviations above, and no correlations.
    pub components: usize,
    /// The means of a mixture's components: K·d numbers, component by component. If empty, they are
    /// drawn from N(mean, sd²) with the run's seed.
    pub means: Vec<f64>,
}

/// Where the base density starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// At the given mean and standard deviation.
    #[default]
    Normal,
    /// At the Laplace approximation of the mode found by an ascent from the given mean.
    Laplace,
}

impl Default for BaseSpec {
    fn default() -> Self {
        Self {
            start: Start::Normal,
            mean: vec![0.0],
            sd: vec![2.0],
            matrix: Vec::new(),
            covariance: Covariance::Diagonal,
            trained: false,
            components: 1,
            means: Vec::new(),
        }
    }
}

impl BaseSpec {
    /// The base for a target, in a run with this seed.
    ///
    /// # Errors
    /// If a list has neither one entry nor one for each coordinate, a number is out of range, the
    /// matrix is not a covariance matrix, a setting does not apply to mixtures, or no mode is
    /// found.
    pub fn resolve(&self, target: &Unconstrained, seed: u64) -> Result<Base> {
        let dim = target.dim();
        self.check_components()?;
        let base =
            if self.components > 1 { self.mixture(dim, seed)? } else { self.gaussian(target)? };
        let base = if self.covariance == Covariance::Full { base.with_full_factor() } else { base };
        Ok(if self.trained { base.trained() } else { base })
    }

    fn gaussian(&self, target: &Unconstrained) -> Result<Base> {
        let dim = target.dim();
        let mean = spread_over("base-mean", &self.mean, dim)?;
        match self.start {
            Start::Normal if self.matrix.is_empty() => {
                Base::diagonal(&mean, &spread_over("base-sd", &self.sd, dim)?)
            }
            Start::Normal => Base::full(&mean, &self.matrix).map_err(|error| match error {
                Error::Setting { value, range, .. } => error::setting("base-matrix", value, range),
                other => other,
            }),
            Start::Laplace => {
                let mode = laplace(target, &mean)?;
                Base::full(&mode.mean, &mode.covariance)
            }
        }
    }

    /// Refuses settings that apply only to one component, or only to several.
    pub(crate) fn check_components(&self) -> Result<()> {
        error::at_least_one("base-components", self.components)?;
        if self.components == 1 {
            return match self.means.len() {
                0 => Ok(()),
                given => Err(error::setting(
                    "base-means",
                    format!("a list of {given}"),
                    "absent for a base of one component, whose mean is base-mean",
                )),
            };
        }
        let only_one = [
            (self.start == Start::Laplace, "start at the laplace approximation of a mode"),
            (!self.matrix.is_empty(), "have a base-matrix"),
        ];
        match only_one.iter().find(|(asked, _)| *asked) {
            None => Ok(()),
            Some((_, what)) => {
                Err(error::setting("base-components", self.components, format!("1 to {what}")))
            }
        }
    }

    fn mixture(&self, dim: usize, seed: u64) -> Result<Base> {
        let numbers = self.components * dim;
        let mean = spread_over("base-mean", &self.mean, dim)?.repeat(self.components);
        let sd = spread_over("base-sd", &self.sd, dim)?.repeat(self.components);
        if !self.means.is_empty() && self.means.len() != numbers {
            let value = format!("a list of {}", self.means.len());
            let range = format!("{} means of {dim} numbers, or absent", self.components);
            return Err(error::setting("base-means", value, range));
        }
        let stream = Stream::new(seed, Purpose::Components);
        let drawn = |i: usize| mean[i] + sd[i] * stream.normal_at(i as u64);
        let means = match &self.means[..] {
            [] => (0..numbers).map(drawn).collect(),
            given => given.to_vec(),
        };
        Base::mixture(&vec![1.0; self.components], &means, &sd)
    }
}

fn spread_over(name: &'static str, values: &[f64], dim: usize) -> Result<Vec<f64>> {
    match values {
        [one] => Ok(vec![*one; dim]),
        many if many.len() == dim => Ok(many.to_vec()),
        _ => Err(error::setting(
            name,
            format!("a list of {}", values.len()),
            format!("one number or {dim}"),
        )),
    }
}
