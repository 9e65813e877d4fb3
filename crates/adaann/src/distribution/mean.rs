//! Means of the families.

use super::family::Family;
use crate::Expr;
use crate::simd::Special;
use std::f64::consts::{FRAC_2_PI, PI};

/// The mean of a standard Gumbel variate.
const EULER: f64 = 0.577_215_664_901_532_9;

impl Family {
    /// The mean; NaN if it does not exist or is infinite, and for arguments out of their ranges.
    pub(crate) fn mean(self, arguments: &[f64]) -> f64 {
        if !self.accepts(arguments) {
            return f64::NAN;
        }
        let a = |i: usize| arguments[i];
        let logistic = |x: f64| (1.0 + (-x).exp()).recip();
        let mean = match self {
            Self::Flat | Self::Cauchy | Self::HalfCauchy => f64::NAN,
            Self::Normal | Self::Laplace | Self::Logistic | Self::Poisson | Self::NegBinomial => {
                a(0)
            }
            Self::LogNormal => (a(0) + 0.5 * a(1) * a(1)).exp(),
            Self::StudentT if a(0) > 1.0 => a(1),
            Self::HalfStudentT if a(0) > 1.0 => {
                let ln_beta = value(Expr::from(0.5 * a(0)).ln_beta(0.5));
                2.0 * a(1) * a(0).sqrt() / (a(0) - 1.0) * (-ln_beta).exp()
            }
            Self::InvGamma if a(0) > 1.0 => a(1) / (a(0) - 1.0),
            Self::StudentT | Self::HalfStudentT | Self::InvGamma => f64::NAN,
            Self::HalfNormal => a(0) * FRAC_2_PI.sqrt(),
            Self::Exponential => a(0).recip(),
            Self::Gamma => a(0) / a(1),
            Self::Beta => a(0) / (a(0) + a(1)),
            Self::Uniform => a(0) + 0.5 * (a(1) - a(0)),
            Self::LogUniform => {
                // (high − low)/ln(high/low)
                let width = a(1) - a(0);
                if a(1) <= 2.0 * a(0) {
                    width / (width / a(0)).ln_1p()
                } else {
                    width / (a(1).ln() - a(0).ln())
                }
            }
            Self::Weibull => a(1) * Special::LnGamma.at(1.0 + a(0).recip()).exp(),
            Self::PoissonLog => a(0).exp(),
            Self::Binomial => a(0) * a(1),
            Self::BinomialLogit => a(0) * logistic(a(1)),
            Self::Bernoulli => a(0),
            Self::BernoulliLogit => logistic(a(0)),
            Self::BetaBinomial => a(0) * a(1) / (a(1) + a(2)),
            Self::SkewNormal => a(0) + a(1) * FRAC_2_PI.sqrt() * a(2) / 1.0_f64.hypot(a(2)),
            Self::Gumbel => a(0) + a(1) * EULER,
            // The mean direction; the mean of the angle would depend on where the circle is cut.
            Self::VonMises => a(0),
            Self::InverseGaussian => a(0),
            Self::LogLogistic if a(1) > 1.0 => {
                let angle = PI / a(1);
                a(0) * angle / angle.sin()
            }
            Self::LogLogistic => f64::NAN,
        };
        if mean.is_finite() { mean } else { f64::NAN }
    }
}

/// The value of an expression of constants.
pub(super) fn value(x: Expr<'_>) -> f64 {
    x.as_constant().expect("made of constants")
}
