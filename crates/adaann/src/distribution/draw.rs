//! Exact draws, from uniform numbers between 0 and 1, both excluded.

use super::family::Family;
use std::f64::consts::{PI, TAU};

impl Family {
    /// A draw; NaN if the arguments are out of their ranges, and of a flat density.
    ///
    /// `random` gives uniform numbers between 0 and 1, both excluded, each independent of the others.
    pub(crate) fn draw(self, arguments: &[f64], random: &mut impl FnMut() -> f64) -> f64 {
        if !self.accepts(arguments) {
            return f64::NAN;
        }
        let a = |i: usize| arguments[i];
        match self {
            Self::Flat => f64::NAN,
            Self::Normal => a(0) + a(1) * normal(random),
            Self::LogNormal => (a(0) + a(1) * normal(random)).exp(),
            Self::StudentT => a(1) + a(2) * student_t(a(0), random),
            Self::Cauchy => a(0) + a(1) * cauchy(random),
            Self::HalfNormal => a(0) * normal(random).abs(),
            Self::HalfCauchy => a(0) * cauchy(random).abs(),
            Self::HalfStudentT => a(1) * student_t(a(0), random).abs(),
            Self::Exponential => -random().ln() / a(0),
            Self::Gamma => (ln_gamma_draw(a(0), random) - a(1).ln()).exp(),
            Self::InvGamma => (a(1).ln() - ln_gamma_draw(a(0), random)).exp(),
            Self::Beta => beta(a(0), a(1), random),
            Self::Uniform => (a(0) + (a(1) - a(0)) * random()).clamp(a(0), a(1)),
            Self::LogUniform => {
                let (low, high) = (a(0).ln(), a(1).ln());
                (low + (high - low) * random()).exp().clamp(a(0), a(1))
            }
            Self::Laplace => {
                let u = random() - 0.5;
                a(0) - a(1) * (-2.0 * u.abs()).ln_1p().copysign(-u)
            }
            Self::Logistic => {
                let u = random();
                a(0) + a(1) * (u.ln() - (-u).ln_1p())
            }
            Self::Weibull => a(1) * ((-random().ln()).ln() / a(0)).exp(),
            Self::Poisson => poisson(a(0), random),
            Self::PoissonLog => poisson(a(0).exp(), random),
            Self::Binomial => binomial(a(0), a(1), random),
            Self::BinomialLogit => binomial(a(0), logistic(a(1)), random),
            Self::Bernoulli => binomial(1.0, a(0), random),
            Self::BernoulliLogit => binomial(1.0, logistic(a(0)), random),
            Self::NegBinomial => {
                let mean = a(0) * (ln_gamma_draw(a(1), random) - a(1).ln()).exp();
                poisson(mean, random)
            }
        }
    }
}

fn logistic(x: f64) -> f64 {
    (1.0 + (-x).exp()).recip()
}

/// A standard normal number (Box and Muller).
pub(super) fn normal(random: &mut impl FnMut() -> f64) -> f64 {
    (-2.0 * random().ln()).sqrt() * (TAU * random()).cos()
}

fn cauchy(random: &mut impl FnMut() -> f64) -> f64 {
    (PI * (random() - 0.5)).tan()
}

/// A normal number over the root of a gamma number with mean 1.
fn student_t(df: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let shape = 0.5 * df;
    normal(random) * (0.5 * (shape.ln() - ln_gamma_draw(shape, random))).exp()
}

/// The logarithm of a gamma number with rate 1: for a small shape the number itself underflows.
///
/// G. Marsaglia, W. Tsang, "A simple method for generating gamma variables" (2000).
pub(crate) fn ln_gamma_draw(shape: f64, random: &mut impl FnMut() -> f64) -> f64 {
    if !shape.is_finite() {
        // All proposals would be refused, for ever.
        return shape.ln();
    }
    if shape < 1.0 {
        // A number of shape + 1 times u^(1/shape).
        return ln_gamma_draw(shape + 1.0, random) + random().ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    loop {
        let x = normal(random);
        let v = 1.0 + c * x;
        if v > 0.0 {
            // v³ − 1 − ln v³ by what v differs from 1: d may be large.
            let (log, cube) = (3.0 * (c * x).ln_1p(), c * x * (3.0 + c * x * (3.0 + c * x)));
            if random().ln() < 0.5 * x * x + d * (log - cube) {
                return d.ln() + log;
            }
        }
    }
}

fn beta(a: f64, b: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let logit = ln_gamma_draw(a, random) - ln_gamma_draw(b, random);
    logistic(logit).clamp(f64::MIN_POSITIVE, 1.0_f64.next_down())
}

/// Below, counts are drawn one by one.
const FEW: f64 = 24.0;

/// The time of arrival m of a Poisson process is a gamma number: from it on, the process begins
/// again; if it is beyond the mean, the arrivals before it are uniform.
///
/// J. Ahrens, U. Dieter, "Computer methods for sampling from gamma, beta, Poisson and binomial
/// distributions" (1974).
fn poisson(mean: f64, random: &mut impl FnMut() -> f64) -> f64 {
    if !mean.is_finite() {
        return f64::NAN;
    }
    let (mut count, mut left) = (0.0, mean);
    while left > FEW {
        let arrival = (0.875 * left).floor();
        let time = ln_gamma_draw(arrival, random).exp();
        if time > left {
            return count + binomial(arrival - 1.0, left / time, random);
        }
        count += arrival;
        left -= time;
    }
    let (mut product, end) = (random(), (-left).exp());
    while product > end {
        product *= random();
        count += 1.0;
    }
    count
}

/// Which of n uniform numbers are below p: the middle one of them is a beta number, and those on
/// its other side need not be looked at (Ahrens and Dieter).
fn binomial(n: f64, p: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let (mut n, mut p, mut count) = (n, p, 0.0);
    while n > FEW {
        let middle = 1.0 + (0.5 * n).floor();
        let x = beta(middle, n + 1.0 - middle, random);
        if x >= p {
            n = middle - 1.0;
            p = (p / x).min(1.0);
        } else {
            count += middle;
            n -= middle;
            p = ((p - x) / (1.0 - x)).clamp(0.0, 1.0);
        }
    }
    for _ in 0..n as usize {
        if random() < p {
            count += 1.0;
        }
    }
    count
}
