//! The arguments of distributions: their names, their ranges and what they mean.

use super::family::Family;

/// An argument of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) range: Range,
    pub(crate) meaning: &'static str,
}

/// The range of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// Any finite number.
    Finite,
    /// A finite number above 0.
    Positive,
    /// A finite number, 0 or above.
    NotNegative,
    /// From 0 to 1, both included.
    UnitInterval,
    /// 0, 1, 2, ...
    Count,
}

impl Range {
    /// Whether x is in the range.
    pub(crate) fn contains(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Self::Finite => true,
                Self::Positive => x > 0.0,
                Self::NotNegative => x >= 0.0,
                Self::UnitInterval => (0.0..=1.0).contains(&x),
                Self::Count => x >= 0.0 && x.fract() == 0.0,
            }
    }

    /// A description of the range, for messages.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Finite => "finite",
            Self::Positive => "above 0 and finite",
            Self::NotNegative => "0 or above, and finite",
            Self::UnitInterval => "between 0 and 1",
            Self::Count => "a whole number, 0 or above",
        }
    }
}

const fn finite(name: &'static str, meaning: &'static str) -> Argument {
    Argument { name, range: Range::Finite, meaning }
}

const fn positive(name: &'static str, meaning: &'static str) -> Argument {
    Argument { name, range: Range::Positive, meaning }
}

const LOCATION: Argument = finite("location", "the centre of symmetry");
const DF: Argument = positive("df", "degrees of freedom: fewer have heavier tails");
const LOW: Argument = finite("low", "the lower bound");
const HIGH: Argument = finite("high", "the upper bound");
const LOGIT: Argument = finite("logit", "ln(p/(1 - p)) of the probability p of a success");
const P: Argument =
    Argument { name: "p", range: Range::UnitInterval, meaning: "the probability of a success" };
const N: Argument = Argument { name: "n", range: Range::Count, meaning: "the number of trials" };
const COUNT_MEAN: Argument =
    Argument { name: "mean", range: Range::NotNegative, meaning: "the mean count" };

impl Family {
    /// Its arguments, in order.
    pub(crate) fn arguments(self) -> &'static [Argument] {
        of(self)
    }

    /// Whether these arguments are in their ranges, and bounds in order.
    pub(crate) fn accepts(self, arguments: &[f64]) -> bool {
        let expected = self.arguments();
        arguments.len() == expected.len()
            && expected.iter().zip(arguments).all(|(expected, &x)| expected.range.contains(x))
            && match *arguments {
                [low, high] if matches!(self, Self::Uniform | Self::LogUniform) => {
                    low < high && (high - low).is_finite()
                }
                _ => true,
            }
    }
}

fn of(family: Family) -> &'static [Argument] {
    match family {
        Family::Flat => &[],
        Family::Normal => {
            const { &[finite("mean", "the mean"), positive("sd", "the standard deviation")] }
        }
        Family::LogNormal => {
            const {
                &[
                    finite("log_mean", "the mean of ln x; e^log_mean is the median of x"),
                    positive("log_sd", "the standard deviation of ln x"),
                ]
            }
        }
        Family::StudentT => {
            const { &[DF, LOCATION, positive("scale", "the scale; the standard deviation of many df")] }
        }
        Family::Cauchy => {
            const { &[LOCATION, positive("scale", "half the distance between the quartiles")] }
        }
        Family::HalfNormal => {
            const { &[positive("sd", "the standard deviation of the normal density, not of its half")] }
        }
        Family::HalfCauchy => const { &[positive("scale", "the median")] },
        Family::HalfStudentT => {
            const { &[DF, positive("scale", "the scale of the whole density")] }
        }
        Family::Exponential => const { &[positive("rate", "1/mean")] },
        Family::Gamma => {
            const { &[positive("shape", "the mean is shape/rate"), positive("rate", "1/scale")] }
        }
        Family::InvGamma => {
            const {
                &[
                    positive("shape", "the mean is scale/(shape - 1)"),
                    positive("scale", "1/x has this rate"),
                ]
            }
        }
        Family::Beta => {
            const {
                &[
                    positive("a", "pulls x towards 1; the mean is a/(a + b)"),
                    positive("b", "pulls x towards 0"),
                ]
            }
        }
        Family::Uniform => const { &[LOW, HIGH] },
        Family::LogUniform => {
            const { &[positive("low", "the lower bound, above 0"), positive("high", "the upper bound")] }
        }
        Family::Laplace => {
            const { &[LOCATION, positive("scale", "the mean distance from the location")] }
        }
        Family::Logistic => {
            const { &[LOCATION, positive("scale", "the scale; the standard deviation is 1.81 times it")] }
        }
        Family::Weibull => {
            const {
                &[
                    positive("shape", "1 for a constant hazard, above 1 for a growing one"),
                    positive("scale", "the time by which 63 per cent have failed"),
                ]
            }
        }
        Family::Poisson => const { &[COUNT_MEAN] },
        Family::PoissonLog => const { &[finite("log_mean", "the logarithm of the mean count")] },
        Family::Binomial => const { &[N, P] },
        Family::BinomialLogit => const { &[N, LOGIT] },
        Family::Bernoulli => const { &[P] },
        Family::BernoulliLogit => const { &[LOGIT] },
        Family::NegBinomial => {
            const { &[COUNT_MEAN, positive("dispersion", "the variance is mean + mean^2/dispersion")] }
        }
        Family::BetaBinomial => {
            const {
                &[
                    N,
                    positive("a", "pulls p towards 1; the mean of p is a/(a + b)"),
                    positive("b", "pulls p towards 0"),
                ]
            }
        }
        Family::SkewNormal => {
            const {
                &[
                    finite("location", "the mean of the normal density for shape 0"),
                    positive("scale", "its standard deviation"),
                    finite("shape", "above 0 for a long tail on the right"),
                ]
            }
        }
        Family::Gumbel => {
            const {
                &[
                    finite("location", "the mode"),
                    positive("scale", "the scale; the standard deviation is 1.28 times it"),
                ]
            }
        }
        Family::VonMises => {
            const {
                &[
                    finite("mean", "the mean direction, in radians"),
                    positive("concentration", "1/variance, where it is large"),
                ]
            }
        }
        Family::InverseGaussian => {
            const { &[positive("mean", "the mean"), positive("shape", "the variance is mean^3/shape")] }
        }
        Family::LogLogistic => {
            const {
                &[
                    positive("scale", "the median"),
                    positive("shape", "larger for a narrower density; the tail is x^-shape"),
                ]
            }
        }
    }
}
