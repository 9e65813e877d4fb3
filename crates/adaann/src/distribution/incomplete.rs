//! The incomplete gamma and beta functions, recorded: tails as sums over fixed points.
//!
//! A tail is ∫ e^(h(y)) dy over y > 0 for an h that is 0 at 0 and falls: what is left when the density at
//! its end is taken out. With y = w exp(s − e^−s) the trapezoidal rule in s converges as fast as the double
//! exponential rules do (H. Takahasi, M. Mori 1974) if w is about where e^h has fallen to 1/e. A sum has
//! exact derivatives in all arguments, the shapes among them, for which there are no closed forms.

use super::tails::{Tails, ln_complement};
use crate::Expr;
use crate::program::ln_gamma_rest;
use crate::simd::HALF_LN_TAU;
use std::f64::consts::LN_2;

/// Points of a sum: 1e-13 for gamma tails with shapes above 1e-4, and 1e-12 for beta tails, whose
/// integrands end more abruptly.
const GAMMA_POINTS: usize = 96;
const BETA_POINTS: usize = 128;

/// From where to where s goes: beyond, points are not worth 1e-17.
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

/// Where a density has fallen to about 1/e, from how fast it falls at first and how that grows.
fn fall<'g>(slope: Expr<'g>, curvature: Expr<'g>) -> Expr<'g> {
    2.0 / (slope + (slope.square() + 2.0 * curvature).sqrt())
}

/// What a number x > 0 cuts a gamma distribution of rate 1 into.
pub(super) fn gamma<'g>(shape: Expr<'g>, x: Expr<'g>) -> Tails<'g> {
    // The density of ln x is shape^½ e^(−shape (e^l − 1 − l) − rest)/√2π with l = ln(x/shape).
    let constant = 0.5 * shape.ln() - HALF_LN_TAU - ln_gamma_rest(shape);
    let log_density = |x: Expr<'g>| {
        let l = (x / shape).ln();
        constant - shape * (l.exp_m1() - l)
    };
    let is_below = x.lt(shape);
    // Each tail is computed beyond the middle alone: the other one is what is left.
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

/// What a number x between 0 and 1 cuts a beta distribution into; `rest` is 1 − x with its digits.
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
    // The density of the logit, by how x and 1 − x differ from a/(a + b) and b/(a + b).
    let rests = ln_gamma_rest(a) + (ln_gamma_rest(b) - ln_gamma_rest(sum));
    let constant = 0.5 * (a.ln() + (b / sum).ln()) - HALF_LN_TAU - rests;
    let log_density = a * (x * sum / a).ln() + b * (rest * sum / b).ln() + constant;
    // y is how much less the logit is.
    let width = fall(a - sum * x, sum * x * rest) + a.recip();
    let tail = ln_tail(BETA_POINTS, width, |y| -sum * (x * (-y).exp_m1()).ln_1p() - a * y);
    tail + log_density
}

/// What a number u > 0 cuts the size of a Student number around 0 into.
pub(super) fn half_student_t<'g>(df: Expr<'g>, u: Expr<'g>) -> Tails<'g> {
    // df/(df + u²) is a beta number with a = df/2 and b = ½.
    let ratio = u.max(1e-150).min(1e150).square() / df;
    let part = (1.0 + ratio).recip();
    beta(0.5 * df, 0.5.into(), part, ratio * part).swapped()
}

/// What a number u cuts a Student distribution around 0 into.
pub(super) fn student_t<'g>(df: Expr<'g>, u: Expr<'g>) -> Tails<'g> {
    // Each sign has half of it.
    let tail = half_student_t(df, u.abs()).above - LN_2;
    let others = ln_complement(tail);
    let is_below = u.lt(0.0);
    Tails { below: is_below.select(tail, others), above: is_below.select(others, tail) }
}
