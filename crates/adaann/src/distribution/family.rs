//! The families of distributions available in formulas, and their names.

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
    /// |x| of a normal variate around 0.
    HalfNormal,
    /// |x| of a Cauchy variate around 0.
    HalfCauchy,
    /// |x| of a Student variate around 0.
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
    /// Poisson, with ln mean as the argument.
    PoissonLog,
    /// p = C(n, x) p^x (1 − p)^(n − x)
    Binomial,
    /// Binomial, with ln(p/(1 − p)) as the argument.
    BinomialLogit,
    /// Binomial with n = 1.
    Bernoulli,
    /// Bernoulli, with ln(p/(1 − p)) as the argument.
    BernoulliLogit,
    /// Poisson with a gamma distributed mean; the variance is mean + mean²/dispersion.
    NegBinomial,
    /// Binomial with a beta distributed p.
    BetaBinomial,
    /// p = 2/scale φ(u) Φ(shape u) with u = (x − location)/scale
    SkewNormal,
    /// p = exp(−u − e^−u) / scale with u = (x − location)/scale
    Gumbel,
    /// p = exp(concentration cos(x − mean)) / (2π I₀(concentration)), on a circle of 2π
    VonMises,
    /// p = √(shape/(2π x³)) exp(−shape (x − mean)²/(2 mean² x))
    InverseGaussian,
    /// ln x is logistic around ln scale, with the scale 1/shape.
    LogLogistic,
}

use Family::*;

impl Family {
    /// All families.
    pub(crate) const ALL: [Self; 30] = [
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
        BetaBinomial,
        SkewNormal,
        Gumbel,
        VonMises,
        InverseGaussian,
        LogLogistic,
    ];

    /// The family with this name in formulas.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Its name in formulas.
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
            BetaBinomial => "beta_binomial",
            SkewNormal => "skew_normal",
            Gumbel => "gumbel",
            VonMises => "von_mises",
            InverseGaussian => "inverse_gaussian",
            LogLogistic => "log_logistic",
        }
    }

    /// Whether x is a whole number.
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
                | BetaBinomial
        )
    }

    /// The index of the argument that is the centre of symmetry.
    pub(crate) fn symmetric_location(self) -> Option<usize> {
        match self {
            Normal | Cauchy | Laplace | Logistic => Some(0),
            StudentT => Some(1),
            _ => None,
        }
    }
}
