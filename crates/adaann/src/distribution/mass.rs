//! The mass of an interval, which normalises a truncated density.

use super::family::Family;
use super::mean::value;
use super::quadrature::ln_integral;
use crate::Expr;
use crate::simd::{HALF_LN_TAU, Special};
use std::f64::consts::{LN_2, PI};

impl Family {
    /// ln P(low < x < high), to 1e-12 relative to the mass unless arguments are huge; −∞ for an
    /// interval without mass.
    ///
    /// `None` for a flat density, for counts, for arguments out of their ranges and for NaN.
    pub(crate) fn log_mass(self, arguments: &[f64], low: f64, high: f64) -> Option<f64> {
        if self.is_discrete() || self == Self::Flat || !self.accepts(arguments) {
            return None;
        }
        let support = self.support(&arguments.iter().copied().map(Some).collect::<Vec<_>>());
        let (first, last) = (support.low?.at, support.high?.at);
        if low.is_nan() || high.is_nan() {
            return None;
        }
        let (low, high) = (low.max(first), high.min(last));
        if low >= high {
            return Some(f64::NEG_INFINITY);
        }
        if low == first && high == last {
            return Some(0.0);
        }
        // Differences of the distribution function would cancel.
        if let Some(mass) = self.of_narrow(arguments, low, high) {
            return Some(mass);
        }
        self.of_wide(arguments, low, high).map(|mass| mass.min(0.0))
    }

    /// Integrates the density itself, if it changes little.
    fn of_narrow(self, arguments: &[f64], low: f64, high: f64) -> Option<f64> {
        /// The largest change of the log density, and of the width as a share of the distance to a
        /// singular end.
        const MOST: f64 = 0.5;
        let room = match self {
            Self::LogNormal
            | Self::Gamma
            | Self::InvGamma
            | Self::Weibull
            | Self::InverseGaussian
            | Self::LogLogistic => low,
            Self::Beta => low.min(1.0 - high),
            Self::Uniform | Self::LogUniform => return None,
            _ => f64::INFINITY,
        };
        if !(high - low).is_finite() || high - low > MOST * room {
            return None;
        }
        let arguments: Vec<Expr<'_>> = arguments.iter().map(|&x| x.into()).collect();
        let log_p = |x: f64| value(self.log_density(x.into(), &arguments));
        let middle = low + 0.5 * (high - low);
        let [first, second, third] = [low, middle, high].map(log_p);
        let change = (first - second).abs().max((second - third).abs());
        if change < MOST { ln_integral(log_p, low, middle, high) } else { None }
    }

    fn of_wide(self, arguments: &[f64], low: f64, high: f64) -> Option<f64> {
        let a = |i: usize| arguments[i];
        match self {
            Self::Normal => between(|x| normal_tails((x - a(0)) / a(1)), low, high),
            Self::LogNormal => between(|x| normal_tails((x.ln() - a(0)) / a(1)), low, high),
            Self::HalfNormal => half(between(|x| normal_tails(x / a(0)), low, high)),
            Self::Cauchy => between(|x| cauchy_tails((x - a(0)) / a(1)), low, high),
            Self::HalfCauchy => half(between(|x| cauchy_tails(x / a(0)), low, high)),
            Self::Laplace => between(|x| laplace_tails((x - a(0)) / a(1)), low, high),
            Self::Logistic => between(|x| logistic_tails((x - a(0)) / a(1)), low, high),
            Self::Exponential => between(|x| decay_tails(x * a(0)), low, high),
            Self::Weibull => between(|x| decay_tails((x / a(1)).powf(a(0))), low, high),
            Self::Uniform => Some(((high - low) / (a(1) - a(0))).ln()),
            Self::LogUniform => Some(ln_ratio(high, low).ln() - ln_ratio(a(1), a(0)).ln()),
            Self::Gamma => {
                let centred = |x: f64| (a(1) * x / a(0)).ln();
                gamma(a(0), centred(low), centred(high))
            }
            // 1/x is a gamma variate.
            Self::InvGamma => {
                let centred = |x: f64| (a(1) / x / a(0)).ln();
                gamma(a(0), centred(high), centred(low))
            }
            Self::Beta => {
                let centred = |x: f64| x.ln() - (-x).ln_1p() - (a(0) / a(1)).ln();
                beta(a(0), a(1), centred(low), centred(high))
            }
            Self::StudentT => student_t(a(0), (low - a(1)) / a(2), (high - a(1)) / a(2)),
            Self::HalfStudentT => half(student_t(a(0), low / a(1), high / a(1))),
            Self::Gumbel | Self::InverseGaussian | Self::LogLogistic => {
                let arguments: Vec<Expr<'_>> = arguments.iter().map(|&x| x.into()).collect();
                let tails = |x: f64| {
                    let tails = self.log_tails(x.into(), &arguments);
                    tails.map_or((f64::NAN, f64::NAN), |t| (value(t.below), value(t.above)))
                };
                between(tails, low, high)
            }
            Self::SkewNormal => skew_normal(a(2), (low - a(0)) / a(1), (high - a(0)) / a(1)),
            _ => None,
        }
    }
}

/// A skew normal variate around 0 with scale 1: its density is log-concave, with the peak between 0
/// and the mean of |x| for a normal variate.
fn skew_normal(shape: f64, low: f64, high: f64) -> Option<f64> {
    let h = |u: f64| Special::LnNormalCdf.at(shape * u) - 0.5 * u * u;
    let slope = |u: f64| shape * Special::NormalHazard.at(shape * u) - u;
    let (mut first, mut last) = (shape.clamp(-1.0, 0.0), shape.clamp(0.0, 1.0));
    for _ in 0..60 {
        let middle = 0.5 * (first + last);
        *(if slope(middle) > 0.0 { &mut first } else { &mut last }) = middle;
    }
    // Beyond, it is e^−800 of its value at the nearer end.
    let far = 40.0 + low.abs().min(high.abs());
    ln_integral(h, low.max(-far), 0.5 * (first + last), high.min(far))
        .map(|mass| mass + LN_2 - HALF_LN_TAU)
}

fn half(mass: Option<f64>) -> Option<f64> {
    mass.map(|mass| mass + LN_2)
}

/// ln(x/y) for x > y.
fn ln_ratio(x: f64, y: f64) -> f64 {
    if x <= 2.0 * y { ((x - y) / y).ln_1p() } else { x.ln() - y.ln() }
}

/// The log probabilities below and above x.
type Tails = (f64, f64);

/// From the tail that contains both ends, or as the complement of both tails.
fn between(tails: impl Fn(f64) -> Tails, low: f64, high: f64) -> Option<f64> {
    let ((below_low, above_low), (below_high, above_high)) = (tails(low), tails(high));
    Some(if below_high < -LN_2 {
        ln_difference(below_high, below_low)
    } else if above_low < -LN_2 {
        ln_difference(above_low, above_high)
    } else {
        (-(below_low.exp() + above_high.exp())).ln_1p()
    })
}

/// ln(e^a − e^b) for a ≥ b.
fn ln_difference(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY { a } else { a + (-(b - a).exp_m1()).ln() }
}

fn normal_tails(u: f64) -> Tails {
    (Special::LnNormalCdf.at(u), Special::LnNormalCdf.at(-u))
}

fn cauchy_tails(u: f64) -> Tails {
    let (more, less) = (0.5 + u.abs().atan() / PI, u.abs().recip().atan() / PI);
    if u < 0.0 { (less.ln(), more.ln()) } else { (more.ln(), less.ln()) }
}

fn laplace_tails(u: f64) -> Tails {
    let (less, more) = (-u.abs() - LN_2, (-0.5 * (-u.abs()).exp()).ln_1p());
    if u < 0.0 { (less, more) } else { (more, less) }
}

fn logistic_tails(u: f64) -> Tails {
    let more = -(-u.abs()).exp().ln_1p();
    let less = more - u.abs();
    if u < 0.0 { (less, more) } else { (more, less) }
}

/// The tails of a variate with P(X > u) = e^−u.
fn decay_tails(u: f64) -> Tails {
    ((-(-u).exp_m1()).ln(), -u)
}

/// The remainder of Stirling's formula for ln Γ.
fn rest(x: f64) -> f64 {
    Special::LnGammaRest.at(x)
}

/// The mass of a gamma variate of rate 1 whose logarithm, minus ln shape, is between two numbers.
///
/// Its density is e^(shape t − e^t)/Γ(shape); at distance d from the peak it is e^(−shape
/// (e^d − 1 − d)) times the peak.
fn gamma(shape: f64, low: f64, high: f64) -> Option<f64> {
    let h = |d: f64| -shape * (d.exp_m1() - d);
    // Farther away it is e^−60 of its value at the nearer end.
    let nearest = low.max(high.min(0.0) - 1.0 - 100.0 / shape);
    let farthest = high.min(low.max(0.0) + 60.0);
    let mass = ln_integral(h, nearest, 0.0, farthest)?;
    Some(mass + 0.5 * shape.ln() - HALF_LN_TAU - rest(shape))
}

/// The mass of a beta variate whose logit, minus ln(a/b), is between two numbers.
///
/// Its density is e^(a t − (a + b) ln(1 + e^t))/B(a, b); at distance d from the peak, the log of
/// its ratio to the peak is a d − (a + b) ln(1 + (e^d − 1) a/(a + b)).
fn beta(a: f64, b: f64, low: f64, high: f64) -> Option<f64> {
    let sum = a + b;
    // Of two equal forms, use the one with the smaller terms, unless its exponential overflows.
    let h = |d: f64| {
        let first = if d.abs() < 700.0 { a < b } else { d < 0.0 };
        if first {
            a * d - sum * (a / sum * d.exp_m1()).ln_1p()
        } else {
            -b * d - sum * (b / sum * (-d).exp_m1()).ln_1p()
        }
    };
    // Where the logit is 0.
    let middle = b.ln() - a.ln();
    let nearest = low.max(high.min(0.0).min(middle) - 1.0 - 130.0 / a);
    let farthest = high.min(low.max(0.0).max(middle) + 1.0 + 130.0 / b);
    let mass = ln_integral(h, nearest, 0.0, farthest)?;
    let rests = rest(a) + (rest(b) - rest(sum));
    Some(mass + 0.5 * (a.ln() + (b / sum).ln()) - HALF_LN_TAU - rests)
}

/// df/(df + u²) is a beta variate with a = df/2 and b = ½, and each sign has half of the mass.
fn student_t(df: f64, low: f64, high: f64) -> Option<f64> {
    let one_side = |near: f64, far: f64| {
        beta(0.5 * df, 0.5, -2.0 * far.ln(), -2.0 * near.ln()).map(|mass| mass - LN_2)
    };
    if low >= 0.0 {
        return one_side(low, high);
    }
    if high <= 0.0 {
        return one_side(-high, -low);
    }
    let (above, below) = (one_side(0.0, high)?, one_side(0.0, -low)?);
    let (less, more) = (above.min(below), above.max(below));
    Some(more + (less - more).exp().ln_1p())
}
