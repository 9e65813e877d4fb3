//! Distribution functions, recorded: the log probabilities below and above a number.
//!
//! Each tail is computed separately, so that it is accurate even where the other is 1.

use super::family::Family::{self, *};
use super::incomplete;
use super::tails::{Tails, ln_complement};
use crate::Expr;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

impl Family {
    /// Whether the tails are sums over points, with a thousand times the work of a closed form.
    pub(crate) fn has_summed_tails(self) -> bool {
        matches!(self, Gamma | InvGamma | Beta | StudentT | HalfStudentT)
    }

    /// ln P(X ≤ x) and ln P(X > x), recorded; `None` for a family whose distribution function is
    /// not implemented.
    ///
    /// # Panics
    /// If the number of arguments differs from that of [`Family::arguments`].
    pub(crate) fn log_tails<'g>(self, x: Expr<'g>, arguments: &[Expr<'g>]) -> Option<Tails<'g>> {
        // Numbers up to 0 are replaced by the smallest positive number, for which the whole mass
        // lies above.
        let positive = x.gt(f64::MIN_POSITIVE).select(x, f64::MIN_POSITIVE).min(f64::MAX);
        let standard = |location: Expr<'g>, scale: Expr<'g>| scale.recip() * (x - location);
        let tails = match (self, arguments) {
            (Flat | VonMises | SkewNormal | BetaBinomial, _) => return None,
            (Normal, &[mean, sd]) => normal(standard(mean, sd)),
            (LogNormal, &[log_mean, log_sd]) => {
                normal(log_sd.recip() * (positive.ln() - log_mean)).from(0.0, x)
            }
            (Cauchy, &[location, scale]) => cauchy(standard(location, scale)),
            (Laplace, &[location, scale]) => laplace(standard(location, scale)),
            (Logistic, &[location, scale]) => logistic(standard(location, scale)),
            (Gumbel, &[location, scale]) => decay((-standard(location, scale)).exp()).swapped(),
            (HalfNormal, &[sd]) => half_normal(sd.recip() * positive).from(0.0, x),
            (HalfCauchy, &[scale]) => half_cauchy(scale.recip() * positive).from(0.0, x),
            (Exponential, &[rate]) => decay(rate * positive).from(0.0, x),
            (Weibull, &[shape, scale]) => {
                decay((shape * (positive.ln() - scale.ln())).exp()).from(0.0, x)
            }
            (LogLogistic, &[scale, shape]) => {
                logistic(shape * (positive.ln() - scale.ln())).from(0.0, x)
            }
            (InverseGaussian, &[mean, shape]) => {
                inverse_gaussian(positive, mean, shape).from(0.0, x)
            }
            (Uniform, &[low, high]) => {
                let width = (high - low).ln();
                let part = |size: Expr<'g>| size.max(f64::MIN_POSITIVE).ln() - width;
                Tails { below: part(x - low), above: part(high - x) }.from(low, x).up_to(high, x)
            }
            (LogUniform, &[low, high]) => {
                let part = |ratio: Expr<'g>| (ratio.max(0.0) + f64::MIN_POSITIVE).ln();
                let width = (high.ln() - low.ln()).ln();
                let log_x = positive.ln();
                let (below, above) = (part(log_x - low.ln()), part(high.ln() - log_x));
                Tails { below: below - width, above: above - width }.from(low, x).up_to(high, x)
            }
            (Bernoulli | BernoulliLogit, _) => {
                let log_p = |y: f64| self.log_density(y.into(), arguments);
                Tails { below: log_p(0.0), above: log_p(1.0) }.from(BELOW_ZERO, x).up_to(1.0, x)
            }
            (Gamma, &[shape, rate]) => incomplete::gamma(shape, rate * positive).from(0.0, x),
            (InvGamma, &[shape, scale]) => {
                incomplete::gamma(shape, scale / positive).swapped().from(0.0, x)
            }
            (Beta, &[a, b]) => {
                let inside = positive.min(1.0_f64.next_down());
                incomplete::beta(a, b, inside, 1.0 - inside).from(0.0, x).up_to(1.0, x)
            }
            (StudentT, &[df, location, scale]) => {
                incomplete::student_t(df, standard(location, scale))
            }
            (HalfStudentT, &[df, scale]) => {
                incomplete::half_student_t(df, scale.recip() * positive).from(0.0, x)
            }
            // At most k events by the time `mean`: event k + 1 of the process comes later.
            (Poisson, &[mean]) => poisson(x, mean.max(f64::MIN_POSITIVE)),
            (PoissonLog, &[log_mean]) => poisson(x, log_mean.exp().max(f64::MIN_POSITIVE)),
            (NegBinomial, &[mean, dispersion]) => {
                let sum = (dispersion + mean).recip();
                let (p, rest) = (dispersion * sum, (mean * sum).max(f64::MIN_POSITIVE));
                incomplete::beta(dispersion, count(x) + 1.0, p, rest).from(BELOW_ZERO, x)
            }
            (Binomial, &[n, p]) => binomial(x, n, p, 1.0 - p),
            (BinomialLogit, &[n, logit]) => binomial(x, n, logit.logistic(), (-logit).logistic()),
            _ => panic!("{} takes {} arguments", self.name(), self.arguments().len()),
        };
        Some(tails)
    }
}

/// The largest number below all counts.
const BELOW_ZERO: f64 = -f64::MIN_POSITIVE;

/// The count that a number rounds down to.
fn count(x: Expr<'_>) -> Expr<'_> {
    x.floor().max(0.0)
}

fn poisson<'g>(x: Expr<'g>, mean: Expr<'g>) -> Tails<'g> {
    incomplete::gamma(count(x) + 1.0, mean).swapped().from(BELOW_ZERO, x)
}

/// P(X ≤ k) is the probability that a beta variate with n − k and k + 1 is below 1 − p.
fn binomial<'g>(x: Expr<'g>, n: Expr<'g>, p: Expr<'g>, rest: Expr<'g>) -> Tails<'g> {
    let inside = |p: Expr<'g>| p.max(f64::MIN_POSITIVE).min(1.0_f64.next_down());
    let k = count(x).min(n - 1.0);
    let tails = incomplete::beta((n - k).max(1.0), k.max(0.0) + 1.0, inside(rest), inside(p));
    tails.from(BELOW_ZERO, x).up_to(n, x)
}

fn normal(u: Expr<'_>) -> Tails<'_> {
    Tails { below: u.ln_normal_cdf(), above: (-u).ln_normal_cdf() }
}

/// The tails of a variate with P(X > x) = e^−z.
fn decay(z: Expr<'_>) -> Tails<'_> {
    let z = z.max(f64::MIN_POSITIVE).min(f64::MAX);
    Tails { below: ln_complement(-z), above: -z }
}

fn logistic(u: Expr<'_>) -> Tails<'_> {
    Tails { below: -(-u).softplus(), above: -u.softplus() }
}

fn laplace<'g>(u: Expr<'g>) -> Tails<'g> {
    let side = |u: Expr<'g>| {
        // The tail on the far side of the centre is half of e^−|u|.
        u.lt(0.0).select(u.min(0.0) - LN_2, (-0.5 * (-u.max(0.0)).exp()).ln_1p())
    };
    Tails { below: side(u), above: side(-u) }
}

fn cauchy<'g>(u: Expr<'g>) -> Tails<'g> {
    let side = |u: Expr<'g>| {
        let far = (-u.min(-1.0).recip()).atan() * PI.recip();
        let near = 0.5 + u.max(-1.0).atan() * PI.recip();
        u.lt(-1.0).select(far, near).ln()
    };
    Tails { below: side(u), above: side(-u) }
}

fn half_normal(u: Expr<'_>) -> Tails<'_> {
    Tails { below: (FRAC_1_SQRT_2 * u).erf().ln(), above: (-u).ln_normal_cdf() + LN_2 }
}

fn half_cauchy<'g>(u: Expr<'g>) -> Tails<'g> {
    let part = |u: Expr<'g>| (u.atan() * (2.0 / PI)).ln();
    let below = part(u);
    let above = u.gt(1.0).select(part(u.max(1.0).recip()), ln_complement(part(u.min(1.0))));
    Tails { below, above }
}

/// The lower tail is Φ(a) + e^(2 shape/mean) Φ(b), and the upper tail is Φ(−a) minus the same
/// second term, with a and b = √(shape/x) (x/mean ∓ 1), the latter with its sign reversed. In the
/// upper tail the two terms agree up to a share of mean/x, which bounds the cancellation.
fn inverse_gaussian<'g>(x: Expr<'g>, mean: Expr<'g>, shape: Expr<'g>) -> Tails<'g> {
    let (root, ratio) = ((shape / x).sqrt(), x / mean);
    let first = root * (ratio - 1.0);
    let second = 2.0 * (shape / mean) + (-root * (ratio + 1.0)).ln_normal_cdf();
    let above = (-first).ln_normal_cdf();
    Tails {
        below: first.ln_normal_cdf().log_add_exp(second),
        above: above + ln_complement(second - above),
    }
}
