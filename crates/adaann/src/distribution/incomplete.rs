//! The incomplete gamma and beta functions, recorded: tails as sums over fixed points.
//!
//! A tail is ∫ e^(h(y)) dy over y > 0 for a decreasing h with h(0) = 0, after the density at its
//! end has been factored out. With y = w exp(s − e^−s), the trapezoidal rule in s converges as fast
//! as the double exponential rules (H. Takahasi, M. Mori 1974) if w is about where e^h has fallen
//! to 1/e. A sum has exact derivatives by all arguments, including the shapes, which have no closed
//! forms.

use super::tails::{Tails, ln_complement};
use crate::Expr;
use crate::program::ln_gamma_rest;
use crate::simd::HALF_LN_TAU;
use std::f64::consts::LN_2;

/// Points of a sum. The error is 1e-13 for gamma tails with shapes above 1e-4, and 1e-12 for beta
/// tails, whose integrands end more abruptly.
const GAMMA_POINTS: usize = 96;
const BETA_POINTS: usize = 128;

/// The range of s; points beyond contribute less than 1e-17.
const FIRST: f64 = -3.7;
const LAST: f64 = 4.2;

/// ln ∫ e^h dy over y > 0.
fn ln_tail<'g>(points: usize, width: Expr<'g>, h: impl Fn(Expr<'g>) -> Expr<'g>) -> Expr<'g> {
    let step = (LAST - FIRST) / (points - 1) as f64;
    let mut sum: Expr<'g> = 0.0.into();
    for i in 0..points {
        let s = FIRST + step * i as f64;
        let y = (s - (-s).exp()).exp();
        sum += (step * y * (1.0 + (-s).exp())) * h(y * width).exp();
    }
    sum.ln() + width.ln()
}

/// Where a density has fallen to about 1/e, from its initial slope and curvature.
fn fall<'g>(slope: Expr<'g>, curvature: Expr<'g>) -> Expr<'g> {
    2.0 / (slope + (slope.square() + 2.0 * curvature).sqrt())
}

/// The tails of a gamma distribution of rate 1 below and above x > 0.
pub(super) fn gamma<'g>(shape: Expr<'g>, x: Expr<'g>) -> Tails<'g> {
    // The density of ln x is shape^½ e^(−shape (e^l − 1 − l) − rest)/√2π with l = ln(x/shape).
    let constant = 0.5 * shape.ln() - HALF_LN_TAU - ln_gamma_rest(shape);
    let log_density = |x: Expr<'g>| {
        let l = (x / shape).ln();
        constant - shape * (l.exp_m1() - l)
    };
    let is_below = x.lt(shape);
    // Only the tail beyond the middle is computed directly; the other is its complement.
    let (low, high) = (x.min(shape), x.max(shape));
    // x e^−y
    let width = fall(shape - low, low) + shape.recip();
    let below = ln_tail(GAMMA_POINTS, width, |y| -low * (-y).exp_m1() - shape * y);
    let below = below + log_density(low);
    // x (1 + y)
    let width = fall(high - shape, high) + high.recip();
    let above = ln_tail(GAMMA_POINTS, width, |y| (shape - 1.0) * y.ln_1p() - high * y);
    let above = above + log_density(high);
    Tails {
        below: is_below.select(below, ln_complement(above)),
        above: is_below.select(ln_complement(below), above),
    }
}

/// The tails of a beta distribution below and above x between 0 and 1; `rest` is 1 − x at full
/// precision.
pub(super) fn beta<'g>(a: Expr<'g>, b: Expr<'g>, x: Expr<'g>, rest: Expr<'g>) -> Tails<'g> {
    let sum = a + b;
    let (a_share, b_share) = (a / sum, b / sum);
    let is_below = x.lt(a_share);
    let below = lower_beta(a, b, x.min(a_share), rest.max(b_share));
    let above = lower_beta(b, a, rest.min(b_share), x.max(a_share));
    Tails {
        below: is_below.select(below, ln_complement(above)),
        above: is_below.select(ln_complement(below), above),
    }
}

/// ln P(X ≤ x) for x up to a/(a + b).
fn lower_beta<'g>(a: Expr<'g>, b: Expr<'g>, x: Expr<'g>, rest: Expr<'g>) -> Expr<'g> {
    let sum = a + b;
    // The density of the logit, from the differences of x and 1 − x from a/(a + b) and b/(a + b).
    let rests = ln_gamma_rest(a) + (ln_gamma_rest(b) - ln_gamma_rest(sum));
    let constant = 0.5 * (a.ln() + (b / sum).ln()) - HALF_LN_TAU - rests;
    let log_density = a * (x * sum / a).ln() + b * (rest * sum / b).ln() + constant;
    // y is the decrease of the logit.
    let width = fall(a - sum * x, sum * x * rest) + a.recip();
    let tail = ln_tail(BETA_POINTS, width, |y| -sum * (x * (-y).exp_m1()).ln_1p() - a * y);
    tail + log_density
}

/// The tails of the absolute value of a Student variate around 0, below and above u > 0.
pub(super) fn half_student_t<'g>(df: Expr<'g>, u: Expr<'g>) -> Tails<'g> {
    // df/(df + u²) is a beta variate with a = df/2 and b = ½.
    let ratio = u.max(1e-150).min(1e150).square() / df;
    let part = (1.0 + ratio).recip();
    beta(0.5 * df, 0.5.into(), part, ratio * part).swapped()
}

/// The tails of a Student distribution around 0, below and above u.
pub(super) fn student_t<'g>(df: Expr<'g>, u: Expr<'g>) -> Tails<'g> {
    // Each sign has half of it.
    let tail = half_student_t(df, u.abs()).above - LN_2;
    let others = ln_complement(tail);
    let is_below = u.lt(0.0);
    Tails { below: is_below.select(tail, others), above: is_below.select(others, tail) }
}
