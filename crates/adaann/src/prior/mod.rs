//! Prior densities of single parameters: normalised, recorded into programs, and named in files.

use crate::distribution::{Family, outside};
use crate::{Expr, Result, error, target::Support};
use serde::{Deserialize, Serialize};

/// The prior density p of one parameter x.
///
/// ```
/// use adaann::{Program, prior::Prior, target::Support};
///
/// // As a settings file has it: { half-normal = { sd = 2 } } in TOML.
/// let scale: Prior = serde_json::from_str(r#"{"half-normal": {"sd": 2}}"#)?;
/// let location = Prior::StudentT { df: 4.0, location: 0.0, scale: 2.5 };
/// scale.check()?;
/// location.check()?;
/// assert_eq!(scale.to_string(), "half-normal(sd 2)");
/// assert_eq!(scale.support(), Support::Above(0.0));
///
/// let data = [1.2, 0.7, 1.1];
/// let posterior = Program::record_parts(2, |x| {
///     let log_prior = location.log_density(x[0]) + scale.log_density(x[1]);
///     let noise = |y: &f64| -0.5 * ((*y - x[0]) / x[1]).square() - x[1].ln();
///     (log_prior, data.iter().map(noise).sum())
/// });
/// # assert_eq!(adaann::target::Target::dim(&posterior), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Prior {
    /// p ∝ 1 on the whole line; improper.
    Flat,
    /// p ∝ 1 for x > low; improper.
    FlatAbove {
        /// The bound.
        low: f64,
    },
    /// p = 1 / (high − low)
    Uniform {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// p = exp(−½ ((x − mean)/sd)²) / (sd √2π)
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
    },
    /// |x| is normal with mean 0: p = 2 exp(−½ (x/sd)²) / (sd √2π) for x > 0.
    HalfNormal {
        /// The standard deviation of the normal density, not of its half.
        sd: f64,
    },
    /// ln x is normal: p = exp(−½ ((ln x − log_mean)/log_sd)²) / (x log_sd √2π)
    LogNormal {
        /// The mean of ln x; e^log_mean is the median of x.
        log_mean: f64,
        /// The standard deviation of ln x.
        log_sd: f64,
    },
    /// p = exp(−x/mean) / mean
    Exponential {
        /// The mean, 1 / rate.
        mean: f64,
    },
    /// p = rate^shape x^(shape − 1) exp(−rate x) / Γ(shape)
    Gamma {
        /// The shape; the mean is shape / rate.
        shape: f64,
        /// The rate, 1 / scale.
        rate: f64,
    },
    /// 1/x is Gamma(shape, rate = scale): p = scale^shape x^(−shape − 1) exp(−scale/x) / Γ(shape)
    InverseGamma {
        /// The shape; the mean is scale / (shape − 1) if shape > 1.
        shape: f64,
        /// The scale.
        scale: f64,
    },
    /// p = x^(a − 1) (1 − x)^(b − 1) / B(a, b) for 0 < x < 1
    Beta {
        /// The shape that pulls x towards 1; the mean is a / (a + b).
        a: f64,
        /// The shape that pulls x towards 0.
        b: f64,
    },
    /// p = (1 + u²/df)^(−(df + 1)/2) / (scale √df B(½, df/2)) with u = (x − location)/scale
    StudentT {
        /// The degrees of freedom.
        df: f64,
        /// The median.
        location: f64,
        /// The scale; the variance is scale² df / (df − 2) if df > 2.
        scale: f64,
    },
    /// p = 1 / (π scale (1 + ((x − location)/scale)²))
    Cauchy {
        /// The median.
        location: f64,
        /// Half the distance between the quartiles.
        scale: f64,
    },
    /// |x| is Cauchy with location 0: p = 2 / (π scale (1 + (x/scale)²)) for x > 0.
    HalfCauchy {
        /// The median.
        scale: f64,
    },
    /// p = exp(−|x − location|/scale) / (2 scale)
    Laplace {
        /// The median.
        location: f64,
        /// The mean distance from it.
        scale: f64,
    },
    /// ln x is uniform: p = 1 / (x ln(high/low))
    LogUniform {
        /// The lower bound, above 0.
        low: f64,
        /// The upper bound.
        high: f64,
    },
}

impl Prior {
    /// Refuses parameters outside their range; the message names the prior, the parameter and its
    /// range.
    pub fn check(&self) -> Result<()> {
        for Parameter { name, value, range } in self.in_words().1 {
            if !range.contains(value) {
                return Err(error::setting(name, format!("{value} in {self}"), range.in_words()));
            }
        }
        Ok(())
    }

    /// The support of the parameter.
    pub fn support(&self) -> Support {
        match *self {
            Self::Flat => Support::Real,
            Self::FlatAbove { low } => Support::Above(low),
            _ => {
                let (family, arguments) = self.distribution();
                let arguments: Vec<Option<f64>> = arguments.into_iter().map(Some).collect();
                family.support(&arguments).support().expect("made of constants")
            }
        }
    }

    /// Whether it integrates to 1. A flat prior cannot be sampled, and a path cannot start at it.
    pub fn is_proper(&self) -> bool {
        !matches!(self, Self::Flat | Self::FlatAbove { .. })
    }

    /// log p(x) with all its constants, recorded; 0 for a flat prior.
    ///
    /// Outside the support it is −∞. The map from the whole line may round x onto a bound; there it
    /// is log p at the nearest number inside, so that the point stays finite.
    ///
    /// The parameters must pass [`Prior::check`].
    pub fn log_density<'g>(&self, x: Expr<'g>) -> Expr<'g> {
        if let Self::FlatAbove { low } = *self {
            return outside(x, low, f64::INFINITY);
        }
        let (family, arguments) = self.distribution();
        let arguments: Vec<Expr<'g>> = arguments.into_iter().map(Expr::from).collect();
        family.log_density(x, &arguments)
    }

    /// The distribution and its arguments; a flat prior is flat on the whole line.
    fn distribution(&self) -> (Family, Vec<f64>) {
        match *self {
            Self::Flat | Self::FlatAbove { .. } => (Family::Flat, vec![]),
            Self::Uniform { low, high } => (Family::Uniform, vec![low, high]),
            Self::Normal { mean, sd } => (Family::Normal, vec![mean, sd]),
            Self::HalfNormal { sd } => (Family::HalfNormal, vec![sd]),
            Self::LogNormal { log_mean, log_sd } => (Family::LogNormal, vec![log_mean, log_sd]),
            Self::Exponential { mean } => (Family::Exponential, vec![mean.recip()]),
            Self::Gamma { shape, rate } => (Family::Gamma, vec![shape, rate]),
            Self::InverseGamma { shape, scale } => (Family::InvGamma, vec![shape, scale]),
            Self::Beta { a, b } => (Family::Beta, vec![a, b]),
            Self::StudentT { df, location, scale } => (Family::StudentT, vec![df, location, scale]),
            Self::Cauchy { location, scale } => (Family::Cauchy, vec![location, scale]),
            Self::HalfCauchy { scale } => (Family::HalfCauchy, vec![scale]),
            Self::Laplace { location, scale } => (Family::Laplace, vec![location, scale]),
            Self::LogUniform { low, high } => (Family::LogUniform, vec![low, high]),
        }
    }

    /// Its name and its parameters, as written in files and messages.
    fn in_words(&self) -> (&'static str, Vec<Parameter>) {
        let finite = |name, value| Parameter { name, value, range: Range::Finite };
        let positive = |name, value| Parameter { name, value, range: Range::Positive };
        let high = |low, value| Parameter { name: "high", value, range: Range::Above { low } };
        match *self {
            Self::Flat => ("flat", vec![]),
            Self::FlatAbove { low } => ("flat-above", vec![finite("low", low)]),
            Self::Uniform { low, high: value } => {
                ("uniform", vec![finite("low", low), high(low, value)])
            }
            Self::Normal { mean, sd } => ("normal", vec![finite("mean", mean), positive("sd", sd)]),
            Self::HalfNormal { sd } => ("half-normal", vec![positive("sd", sd)]),
            Self::LogNormal { log_mean, log_sd } => {
                ("log-normal", vec![finite("log-mean", log_mean), positive("log-sd", log_sd)])
            }
            Self::Exponential { mean } => ("exponential", vec![positive("mean", mean)]),
            Self::Gamma { shape, rate } => {
                ("gamma", vec![positive("shape", shape), positive("rate", rate)])
            }
            Self::InverseGamma { shape, scale } => {
                ("inverse-gamma", vec![positive("shape", shape), positive("scale", scale)])
            }
            Self::Beta { a, b } => ("beta", vec![positive("a", a), positive("b", b)]),
            Self::StudentT { df, location, scale } => (
                "student-t",
                vec![positive("df", df), finite("location", location), positive("scale", scale)],
            ),
            Self::Cauchy { location, scale } => {
                ("cauchy", vec![finite("location", location), positive("scale", scale)])
            }
            Self::HalfCauchy { scale } => ("half-cauchy", vec![positive("scale", scale)]),
            Self::Laplace { location, scale } => {
                ("laplace", vec![finite("location", location), positive("scale", scale)])
            }
            Self::LogUniform { low, high: value } => {
                ("log-uniform", vec![positive("low", low), high(low, value)])
            }
        }
    }
}

impl std::fmt::Display for Prior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, parameters) = self.in_words();
        write!(f, "{name}")?;
        for (i, Parameter { name, value, .. }) in parameters.iter().enumerate() {
            write!(f, "{}{name} {value}", if i == 0 { "(" } else { ", " })?;
        }
        write!(f, "{}", if parameters.is_empty() { "" } else { ")" })
    }
}

/// A parameter of a prior.
struct Parameter {
    name: &'static str,
    value: f64,
    range: Range,
}

/// The range of a parameter.
enum Range {
    Finite,
    Positive,
    Above { low: f64 },
}

impl Range {
    fn contains(&self, value: f64) -> bool {
        match *self {
            Self::Finite => value.is_finite(),
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::Above { low } => value > low && (value - low).is_finite(),
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Finite => "finite".into(),
            Self::Positive => "above 0 and finite".into(),
            Self::Above { low } => format!("above {low}, by a finite distance"),
        }
    }
}
