//! Exact draws from uniform numbers between 0 and 1, both excluded.

use super::family::Family;
use std::f64::consts::{PI, TAU};

impl Family {
    /// A draw; NaN if the arguments are out of their ranges, and for a flat density.
    ///
    /// `random` returns independent uniform numbers between 0 and 1, both excluded.
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
            Self::BetaBinomial => {
                let p = beta(a(1), a(2), random);
                binomial(a(0), p, random)
            }
            Self::SkewNormal => {
                // δ|z| + √(1 − δ²) y of two normal variates, with δ = shape/√(1 + shape²)
                let length = 1.0_f64.hypot(a(2));
                let (z, y) = (normal(random).abs(), normal(random));
                a(0) + a(1) * (a(2) / length * z + y / length)
            }
            Self::Gumbel => a(0) - a(1) * (-random().ln()).ln(),
            Self::VonMises => von_mises(a(0), a(1), random),
            Self::InverseGaussian => inverse_gaussian(a(0), a(1), random),
            Self::LogLogistic => {
                let u = random();
                a(0) * ((u.ln() - (-u).ln_1p()) / a(1)).exp()
            }
        }
    }
}

/// Given a chi-squared variate, there are two roots: the smaller, or mean² divided by it.
///
/// J. Michael, W. Schucany, R. Haas, "Generating random variates using transformations with multiple
/// roots" (1976).
fn inverse_gaussian(mean: f64, shape: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let excess = 0.5 * mean / shape * normal(random).powi(2);
    // The smaller root 1 + e − √(e (2 + e)) from the larger one, which avoids cancellation.
    let larger = 1.0 + excess + (excess * (2.0 + excess)).sqrt();
    let ratio = if random() * (1.0 + larger.recip()) <= 1.0 { larger.recip() } else { larger };
    mean * ratio
}

/// An angle within π of 0, by rejection from a wrapped Cauchy density, a tight envelope.
///
/// D. Best, N. Fisher, "Efficient simulation of the von Mises distribution" (1979).
fn von_mises(mean: f64, concentration: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let angle = if concentration < 1e-8 {
        TAU * random()
    } else if concentration > 1e8 {
        normal(random) / concentration.sqrt()
    } else {
        let tau = 1.0 + 1.0_f64.hypot(2.0 * concentration);
        let rho = (tau - (2.0 * tau).sqrt()) / (2.0 * concentration);
        let r = (1.0 + rho * rho) / (2.0 * rho);
        loop {
            let z = (PI * random()).cos();
            let cosine = (1.0 + r * z) / (r + z);
            let c = concentration * (r - cosine);
            if (c.ln() - random().ln() + 1.0 - c) >= 0.0 {
                let angle = cosine.clamp(-1.0, 1.0).acos();
                break if random() < 0.5 { -angle } else { angle };
            }
        }
    };
    let turned = (mean + angle + PI).rem_euclid(TAU) - PI;
    turned.clamp(-PI, PI)
}

fn logistic(x: f64) -> f64 {
    (1.0 + (-x).exp()).recip()
}

/// A standard normal variate (Box and Muller).
pub(super) fn normal(random: &mut impl FnMut() -> f64) -> f64 {
    (-2.0 * random().ln()).sqrt() * (TAU * random()).cos()
}

fn cauchy(random: &mut impl FnMut() -> f64) -> f64 {
    (PI * (random() - 0.5)).tan()
}

/// A normal variate divided by the root of a gamma variate with mean 1.
fn student_t(df: f64, random: &mut impl FnMut() -> f64) -> f64 {
    let shape = 0.5 * df;
    normal(random) * (0.5 * (shape.ln() - ln_gamma_draw(shape, random))).exp()
}

/// The logarithm of a gamma variate with rate 1: for a small shape the variate itself underflows.
///
/// G. Marsaglia, W. Tsang, "A simple method for generating gamma variables" (2000).
pub(crate) fn ln_gamma_draw(shape: f64, random: &mut impl FnMut() -> f64) -> f64 {
    if !shape.is_finite() {
        // All proposals would be rejected, for ever.
        return shape.ln();
    }
    if shape < 1.0 {
        // A variate of shape + 1 times u^(1/shape).
        return ln_gamma_draw(shape + 1.0, random) + random().ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    loop {
        let x = normal(random);
        let v = 1.0 + c * x;
        if v > 0.0 {
            // v³ − 1 − ln v³ by the difference of v from 1: d may be large.
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

/// Counts below this are drawn one by one.
const FEW: f64 = 24.0;

/// The time of arrival m of a Poisson process is a gamma variate. From then on the process starts
/// afresh; if it is beyond the mean, the arrivals before it are uniform.
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

/// Counts how many of n uniform numbers are below p: their median is a beta variate, and those on
/// its far side can be skipped (Ahrens and Dieter).
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
