//! Builds mixtures from numbers and from files, and validates them.

use super::{
    Covariance, Mixture,
    parameters::{Derived, below_len},
};
use crate::{
    Error, Result, error,
    flow::base::moments::{check_mean, check_sd},
    linear,
};

impl Mixture {
    /// From K weights, which need not be normalised, K·d means and K·d standard deviations.
    pub(in super::super) fn new(weights: &[f64], means: &[f64], sds: &[f64]) -> Result<Self> {
        check_components(weights, means)?;
        check_sd(sds, means.len())?;
        let (logit, log_scale) = (logarithms(weights), logarithms(sds));
        let diagonal = Covariance::Diagonal;
        Ok(Self::build(logit, means.to_vec(), log_scale, Vec::new(), diagonal, false))
    }

    /// From K weights, which need not be normalised, K·d means, and K matrices of d·d numbers.
    pub(in super::super) fn full(
        weights: &[f64],
        means: &[f64],
        covariances: &[f64],
    ) -> Result<Self> {
        let dim = check_components(weights, means)?;
        let components = weights.len();
        if means.len().checked_mul(dim) != Some(covariances.len()) {
            let value = format!("a list of {}", covariances.len());
            let range = format!("{components} matrices of {dim} rows and {dim} columns");
            return Err(error::setting("base-covariances", value, range));
        }
        let mut log_scale = Vec::with_capacity(means.len());
        let mut below = Vec::with_capacity(components * below_len(dim));
        for (k, covariance) in covariances.chunks_exact(dim * dim).enumerate() {
            let factor = linear::cholesky(dim, covariance).map_err(|error| match error {
                Error::Setting { value, range, .. } => {
                    let value = format!("{value} for component {}", k + 1);
                    error::setting("base-covariances", value, range)
                }
                other => other,
            })?;
            for (i, row) in factor.chunks_exact(dim).enumerate() {
                below.extend_from_slice(&row[..i]);
                log_scale.push(row[i].ln());
            }
        }
        let logit = logarithms(weights);
        Ok(Self::build(logit, means.to_vec(), log_scale, below, Covariance::Full, false))
    }

    /// The same components with Student tails: the degrees of freedom of each, `None` for a
    /// Gaussian.
    pub(in super::super) fn with_degrees(self, degrees: &[Option<f64>]) -> Result<Self> {
        if degrees.len() != self.logit.len() {
            let value = format!("a list of {}", degrees.len());
            let range = format!("{}, one for each component", self.logit.len());
            return Err(error::setting("base-degrees", value, range));
        }
        if let Some(bad) = degrees.iter().flatten().find(|nu| !is_degrees(**nu)) {
            return Err(error::setting("base-degrees", bad, DEGREES));
        }
        let mut mixture = Self { degrees: degrees.to_vec(), ..self.with_full_factor() };
        mixture.derive();
        Ok(mixture)
    }

    /// A mixture read from a file.
    pub(in super::super) fn from_file(
        logit: Vec<f64>,
        mean: Vec<f64>,
        log_scale: Vec<f64>,
        below: Vec<f64>,
        covariance: Covariance,
        degrees: Vec<Option<f64>>,
        trained: bool,
    ) -> Result<Self, String> {
        if logit.is_empty() || logit.iter().any(|x| !x.is_finite()) {
            return Err("the base's logits must be finite numbers, one for each component".into());
        }
        check_mean(&mean).map_err(|error| error.to_string())?;
        if !mean.len().is_multiple_of(logit.len()) {
            let (numbers, components) = (mean.len(), logit.len());
            return Err(format!("the base has {numbers} means for {components} components"));
        }
        // Both a scale and its inverse must be positive and finite.
        let ordinary = |log: &f64| log.abs() < 700.0;
        if log_scale.len() != mean.len() || !log_scale.iter().all(ordinary) {
            let expected = mean.len();
            return Err(format!(
                "the base's log scales must be {expected} numbers between -700 and 700"
            ));
        }
        let expected = match covariance {
            Covariance::Diagonal => 0,
            Covariance::Full => logit.len() * below_len(mean.len() / logit.len()),
        };
        if below.len() != expected || below.iter().any(|x| !x.is_finite()) {
            return Err(format!(
                "the base's entries below the diagonal must be {expected} finite numbers"
            ));
        }
        let is_list = degrees.is_empty() || degrees.len() == logit.len();
        let is_full = degrees.is_empty() || covariance == Covariance::Full;
        if !is_list || !is_full || degrees.iter().flatten().any(|nu| !is_degrees(*nu)) {
            let expected = logit.len();
            return Err(format!(
                "the base's degrees of freedom must be {expected} numbers {DEGREES}, with full factors"
            ));
        }
        let mut mixture = Self::build(logit, mean, log_scale, below, covariance, trained);
        mixture.degrees = degrees;
        mixture.derive();
        Ok(mixture)
    }

    fn build(
        logit: Vec<f64>,
        mean: Vec<f64>,
        log_scale: Vec<f64>,
        below: Vec<f64>,
        covariance: Covariance,
        trained: bool,
    ) -> Self {
        let derived = Derived {
            weight: vec![0.0; logit.len()],
            scale: vec![0.0; mean.len()],
            inverse_scale: vec![0.0; mean.len()],
            log_peak: vec![0.0; logit.len()],
            average: vec![0.0; mean.len() / logit.len()],
        };
        let degrees = Vec::new();
        let mut mixture =
            Self { logit, mean, log_scale, below, covariance, degrees, trained, derived };
        mixture.derive();
        mixture
    }
}

/// The valid degrees of freedom.
const DEGREES: &str = "from 1 to a million";

fn is_degrees(nu: f64) -> bool {
    (1.0..=1e6).contains(&nu)
}

/// Validates the weights and means; returns the number of coordinates.
fn check_components(weights: &[f64], means: &[f64]) -> Result<usize> {
    let components = weights.len();
    error::at_least_one("base-components", components)?;
    if let Some(bad) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
        return Err(error::setting("the weight of a component", bad, "positive and finite"));
    }
    check_mean(means)?;
    if !means.len().is_multiple_of(components) {
        let range = format!("a multiple of {components} numbers, the number of components");
        let value = format!("a list of {}", means.len());
        return Err(error::setting("base-means", value, range));
    }
    Ok(means.len() / components)
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|x| x.ln()).collect()
}
