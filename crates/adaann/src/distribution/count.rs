//! Probabilities of counts.

use super::interval::outside;
use crate::Expr;
use crate::program::ln_gamma_rest;

/// A count clamped to 0 or above, and a term that is 0 if it was valid and −∞ otherwise.
fn count(y: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let is_whole = y.floor().ge(y).select(0.0, f64::NEG_INFINITY);
    let outside = y.ge(0.0).select(is_whole, f64::NEG_INFINITY);
    (y.gt(0.0).select(y, 0.0), outside)
}

/// The same for a count of at most n.
fn count_of<'g>(y: Expr<'g>, n: Expr<'g>) -> (Expr<'g>, Expr<'g>) {
    let (count, not_count) = count(y);
    (count.lt(n).select(count, n), not_count + outside(y, 0.0, n))
}

/// ½ ln p, NaN for negative p; at p = 0 the lowest finite number, so that 2y times it is 0 for
/// y = 0 and −∞ for any other count.
fn half_ln(p: Expr<'_>) -> Expr<'_> {
    let at_most_zero = p.lt(0.0).select(f64::NAN, -f64::MAX);
    p.gt(0.0).select(0.5 * p.max(f64::MIN_POSITIVE).ln(), at_most_zero)
}

/// ½ ln(1 − p), computed in the same way.
fn half_ln_complement(p: Expr<'_>) -> Expr<'_> {
    let at_least_one = p.gt(1.0).select(f64::NAN, -f64::MAX);
    p.lt(1.0).select(0.5 * (-p.min(1.0_f64.next_down())).ln_1p(), at_least_one)
}

/// ln C(n, y) = −ln(n + 1) − ln B(y + 1, n − y + 1)
fn ln_choose<'g>(n: Expr<'g>, y: Expr<'g>) -> Expr<'g> {
    -(n + 1.0).ln() - (y + 1.0).ln_beta(n - y + 1.0)
}

pub(super) fn poisson<'g>(y: Expr<'g>, mean: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count(y);
    (2.0 * y) * half_ln(mean) - mean - (y + 1.0).ln_gamma() + outside
}

pub(super) fn poisson_log<'g>(y: Expr<'g>, log_mean: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count(y);
    y * log_mean - log_mean.exp() - (y + 1.0).ln_gamma() + outside
}

pub(super) fn binomial<'g>(y: Expr<'g>, n: Expr<'g>, p: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count_of(y, n);
    successes(y, n, p) + ln_choose(n, y) + outside
}

pub(super) fn bernoulli<'g>(y: Expr<'g>, p: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count_of(y, 1.0.into());
    successes(y, 1.0.into(), p) + outside
}

/// y ln p + (n − y) ln(1 − p), where 0 ln 0 is 0.
fn successes<'g>(y: Expr<'g>, n: Expr<'g>, p: Expr<'g>) -> Expr<'g> {
    (2.0 * y) * half_ln(p) + (2.0 * (n - y)) * half_ln_complement(p)
}

pub(super) fn binomial_logit<'g>(y: Expr<'g>, n: Expr<'g>, logit: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count_of(y, n);
    y * logit - n * logit.softplus() + ln_choose(n, y) + outside
}

pub(super) fn bernoulli_logit<'g>(y: Expr<'g>, logit: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count_of(y, 1.0.into());
    y * logit - logit.softplus() + outside
}

/// ln C(n, y) + ln B(y + a, n − y + b) − ln B(a, b)
pub(super) fn beta_binomial<'g>(y: Expr<'g>, n: Expr<'g>, a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count_of(y, n);
    ln_choose(n, y) + (y + a).ln_beta(n - y + b) - a.ln_beta(b) + outside
}

/// With φ the dispersion, ln Γ(y + φ) − ln Γ(φ) − ln y! + φ ln(φ/(φ + mean)) + y
/// ln(mean/(φ + mean)), where Stirling's formula removes the large parts of the first two terms.
pub(super) fn neg_binomial<'g>(y: Expr<'g>, mean: Expr<'g>, dispersion: Expr<'g>) -> Expr<'g> {
    let (y, outside) = count(y);
    let inverse = dispersion.recip();
    let log_excess = (inverse * mean).ln_1p();
    let rests = ln_gamma_rest(y + dispersion) - ln_gamma_rest(dispersion);
    (dispersion + (y - 0.5)) * (inverse * y).ln_1p() + rests - dispersion * log_excess
        + (2.0 * y) * half_ln(mean)
        - y * log_excess
        - (y + (y + 1.0).ln_gamma())
        + outside
}
