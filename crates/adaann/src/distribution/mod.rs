//! Distributions of single numbers by name: log densities that are recorded, draws, masses.
//!
//! Log densities are sums of terms of the arguments alone, terms of x alone, and products of the
//! two, as far as the mathematics lets them: over the rows of data, whatever does not depend on the
//! row is then computed once. For the same reason what is outside the support is told by a term of x
//! alone, which is 0 inside and −∞ outside.

mod argument;
mod bounded;
mod count;
mod draw;
mod interval;
mod joint;
mod line;
mod mass;
mod mean;
mod positive;
mod quadrature;
#[cfg(test)]
mod tests;

pub(crate) use argument::Argument;
pub(crate) use interval::outside;
pub(crate) use joint::{dirichlet, draw_dirichlet, draw_multi_normal, mixture, multi_normal};

use crate::Expr;

/// A family of distributions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// p ∝ 1 on the whole line; improper.
    Flat,
    /// p = exp(−½ ((x − mean)/sd)²) / (sd √2π)
    Normal,
    /// ln x is normal.
    LogNormal,
    /// p = (1 + u²/df)^(−(df + 1)/2) / (scale √df B(½, df/2)) with u = (x − location)/scale
    StudentT,
    /// p = 1 / (π scale (1 + u²)) with u = (x − location)/scale
    Cauchy,
    /// |x| of a normal one around 0.
    HalfNormal,
    /// |x| of a Cauchy one around 0.
    HalfCauchy,
    /// |x| of a Student one around 0.
    HalfStudentT,
    /// p = rate exp(−rate x)
    Exponential,
    /// p = rate^shape x^(shape − 1) exp(−rate x) / Γ(shape)
    Gamma,
    /// p = scale^shape x^(−shape − 1) exp(−scale/x) / Γ(shape)
    InvGamma,
    /// p = x^(a − 1) (1 − x)^(b − 1) / B(a, b)
    Beta,
    /// p = 1 / (high − low)
    Uniform,
    /// ln x is uniform.
    LogUniform,
    /// p = exp(−|x − location|/scale) / (2 scale)
    Laplace,
    /// p = e^−u / (scale (1 + e^−u)²) with u = (x − location)/scale
    Logistic,
    /// p = shape/scale (x/scale)^(shape − 1) exp(−(x/scale)^shape)
    Weibull,
    /// p = mean^x e^−mean / x!
    Poisson,
    /// The same from ln mean.
    PoissonLog,
    /// p = C(n, x) p^x (1 − p)^(n − x)
    Binomial,
    /// The same from ln(p/(1 − p)).
    BinomialLogit,
    /// Binomial with n = 1.
    Bernoulli,
    /// The same from ln(p/(1 − p)).
    BernoulliLogit,
    /// Poisson with a gamma distributed mean; the variance is mean + mean²/dispersion.
    NegBinomial,
}

use Family::*;

impl Family {
    /// All of them.
    pub(crate) const ALL: [Self; 24] = [
        Flat,
        Normal,
        LogNormal,
        StudentT,
        Cauchy,
        HalfNormal,
        HalfCauchy,
        HalfStudentT,
        Exponential,
        Gamma,
        InvGamma,
        Beta,
        Uniform,
        LogUniform,
        Laplace,
        Logistic,
        Weibull,
        Poisson,
        PoissonLog,
        Binomial,
        BinomialLogit,
        Bernoulli,
        BernoulliLogit,
        NegBinomial,
    ];

    /// The family that formulas call so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// What formulas call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Flat => "flat",
            Normal => "normal",
            LogNormal => "lognormal",
            StudentT => "student_t",
            Cauchy => "cauchy",
            HalfNormal => "half_normal",
            HalfCauchy => "half_cauchy",
            HalfStudentT => "half_student_t",
            Exponential => "exponential",
            Gamma => "gamma",
            InvGamma => "inv_gamma",
            Beta => "beta",
            Uniform => "uniform",
            LogUniform => "log_uniform",
            Laplace => "laplace",
            Logistic => "logistic",
            Weibull => "weibull",
            Poisson => "poisson",
            PoissonLog => "poisson_log",
            Binomial => "binomial",
            BinomialLogit => "binomial_logit",
            Bernoulli => "bernoulli",
            BernoulliLogit => "bernoulli_logit",
            NegBinomial => "neg_binomial",
        }
    }

    /// Its arguments, in order.
    pub(crate) fn arguments(self) -> &'static [Argument] {
        argument::of(self)
    }

    /// Is x a whole number?
    pub(crate) fn is_discrete(self) -> bool {
        matches!(
            self,
            Poisson
                | PoissonLog
                | Binomial
                | BinomialLogit
                | Bernoulli
                | BernoulliLogit
                | NegBinomial
        )
    }

    /// Which argument the density is symmetric around.
    pub(crate) fn symmetric_location(self) -> Option<usize> {
        match self {
            Normal | Cauchy | Laplace | Logistic => Some(0),
            StudentT => Some(1),
            _ => None,
        }
    }

    /// Are these arguments in their ranges, and bounds in order?
    pub(crate) fn accepts(self, arguments: &[f64]) -> bool {
        let expected = self.arguments();
        arguments.len() == expected.len()
            && expected.iter().zip(arguments).all(|(expected, &x)| expected.range.contains(x))
            && match *arguments {
                [low, high] if matches!(self, Uniform | LogUniform) => {
                    low < high && (high - low).is_finite()
                }
                _ => true,
            }
    }

    /// log p(x) with all its constants, recorded; that of a flat one is 0.
    ///
    /// Outside the support it is −∞. A number on an end of a continuous one's support has the log
    /// density of the nearest number inside: the map from the whole line may round x there, and such
    /// a point is not lost. Arguments out of their ranges give NaN.
    ///
    /// # Panics
    /// If there are not as many arguments as [`Family::arguments`] says.
    pub(crate) fn log_density<'g>(self, x: Expr<'g>, arguments: &[Expr<'g>]) -> Expr<'g> {
        match (self, arguments) {
            (Flat, []) => 0.0.into(),
            (Normal, &[mean, sd]) => line::normal(x, mean, sd),
            (LogNormal, &[log_mean, log_sd]) => positive::log_normal(x, log_mean, log_sd),
            (StudentT, &[df, location, scale]) => line::student_t(x, df, location, scale),
            (Cauchy, &[location, scale]) => line::cauchy(x, location, scale),
            (HalfNormal, &[sd]) => line::half(x, |x| line::normal(x, 0.0.into(), sd)),
            (HalfCauchy, &[scale]) => line::half(x, |x| line::cauchy(x, 0.0.into(), scale)),
            (HalfStudentT, &[df, scale]) => {
                line::half(x, |x| line::student_t(x, df, 0.0.into(), scale))
            }
            (Exponential, &[rate]) => positive::exponential(x, rate),
            (Gamma, &[shape, rate]) => positive::gamma(x, shape, rate),
            (InvGamma, &[shape, scale]) => positive::inv_gamma(x, shape, scale),
            (Beta, &[a, b]) => bounded::beta(x, a, b),
            (Uniform, &[low, high]) => bounded::uniform(x, low, high),
            (LogUniform, &[low, high]) => bounded::log_uniform(x, low, high),
            (Laplace, &[location, scale]) => line::laplace(x, location, scale),
            (Logistic, &[location, scale]) => line::logistic(x, location, scale),
            (Weibull, &[shape, scale]) => positive::weibull(x, shape, scale),
            (Poisson, &[mean]) => count::poisson(x, mean),
            (PoissonLog, &[log_mean]) => count::poisson_log(x, log_mean),
            (Binomial, &[n, p]) => count::binomial(x, n, p),
            (BinomialLogit, &[n, logit]) => count::binomial_logit(x, n, logit),
            (Bernoulli, &[p]) => count::bernoulli(x, p),
            (BernoulliLogit, &[logit]) => count::bernoulli_logit(x, logit),
            (NegBinomial, &[mean, dispersion]) => count::neg_binomial(x, mean, dispersion),
            _ => panic!("{} takes {} arguments", self.name(), self.arguments().len()),
        }
    }
}
