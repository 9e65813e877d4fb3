//! The support of a distribution, and its indicator term in a log density.

use super::family::Family;
use crate::Expr;
use crate::target::Support;

/// The support of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// `None` if it depends on an argument that is not a constant.
    pub(crate) low: Option<End>,
    /// `None` if it depends on an argument that is not a constant.
    pub(crate) high: Option<End>,
}

/// An end of a support.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct End {
    /// Its position; ±∞ if there is no end.
    pub(crate) at: f64,
    /// Whether it belongs to the support.
    pub(crate) is_inside: bool,
}

impl End {
    fn open(at: f64) -> Self {
        Self { at, is_inside: false }
    }

    fn closed(at: f64) -> Self {
        Self { at, is_inside: true }
    }
}

impl Interval {
    /// Whether x is between the ends, as far as they are known.
    pub(crate) fn contains(self, x: f64) -> bool {
        let above = self.low.is_none_or(|end| x > end.at || end.is_inside && x == end.at);
        let below = self.high.is_none_or(|end| x < end.at || end.is_inside && x == end.at);
        above && below && !x.is_nan()
    }

    /// The map onto it from the whole line; `None` if an end is not known.
    pub(crate) fn support(self) -> Option<Support> {
        let (low, high) = (self.low?.at, self.high?.at);
        Some(match (low.is_finite(), high.is_finite()) {
            (false, false) => Support::Real,
            (true, false) => Support::Above(low),
            (false, true) => Support::Below(high),
            (true, true) => Support::Between(low, high),
        })
    }
}

impl Family {
    /// The support of x; arguments that are not constants are `None`.
    pub(crate) fn support(self, arguments: &[Option<f64>]) -> Interval {
        let argument = |i: usize| arguments.get(i).copied().flatten();
        let above = |low: End| (Some(low), Some(End::open(f64::INFINITY)));
        let (low, high) = match self {
            Self::Flat
            | Self::Normal
            | Self::StudentT
            | Self::Cauchy
            | Self::Laplace
            | Self::Logistic
            | Self::SkewNormal
            | Self::Gumbel
            | Self::VonMises => above(End::open(f64::NEG_INFINITY)),
            Self::LogNormal
            | Self::Gamma
            | Self::InvGamma
            | Self::Weibull
            | Self::InverseGaussian
            | Self::LogLogistic => above(End::open(0.0)),
            Self::HalfNormal
            | Self::HalfCauchy
            | Self::HalfStudentT
            | Self::Exponential
            | Self::Poisson
            | Self::PoissonLog
            | Self::NegBinomial => above(End::closed(0.0)),
            Self::Beta => (Some(End::open(0.0)), Some(End::open(1.0))),
            Self::Uniform | Self::LogUniform => {
                (argument(0).map(End::closed), argument(1).map(End::closed))
            }
            Self::Binomial | Self::BinomialLogit | Self::BetaBinomial => {
                (Some(End::closed(0.0)), argument(0).map(End::closed))
            }
            Self::Bernoulli | Self::BernoulliLogit => {
                (Some(End::closed(0.0)), Some(End::closed(1.0)))
            }
        };
        Interval { low, high }
    }
}

/// x clamped between two bounds, both excluded, and a term that is 0 between them, both included,
/// and −∞ outside and for NaN. Functions of the clamped x are finite everywhere.
pub(super) fn inside(x: Expr<'_>, low: f64, high: f64) -> (Expr<'_>, Expr<'_>) {
    // Next to 0 the derivative of ln x must be finite too, which it is not below the normal range.
    let (lowest, highest) = (low.next_up().max(low + f64::MIN_POSITIVE), high.next_down());
    let above = x.gt(lowest).select(x, lowest);
    let between = above.lt(highest).select(above, highest);
    (between, outside(x, low, high))
}

/// 0 between two bounds, both included, and −∞ elsewhere.
pub(crate) fn outside<'g>(
    x: Expr<'g>,
    low: impl Into<Expr<'g>>,
    high: impl Into<Expr<'g>>,
) -> Expr<'g> {
    let below_high = x.le(high).select(0.0, f64::NEG_INFINITY);
    x.ge(low).select(below_high, f64::NEG_INFINITY)
}
