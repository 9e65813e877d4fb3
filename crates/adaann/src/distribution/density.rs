//! The log density of each family, recorded.

use super::family::Family::{self, *};
use super::{bounded, circle, count, line, positive, skewed};
use crate::Expr;

impl Family {
    /// log p(x) with all its constants, recorded; 0 for a flat density.
    ///
    /// Outside the support it is −∞. At an end of a continuous family's support, it is the log
    /// density of the nearest number inside, because the map from the whole line may round x there
    /// and such a point must stay finite. Arguments out of their ranges give NaN.
    ///
    /// # Panics
    /// If the number of arguments differs from that of [`Family::arguments`].
    pub(crate) fn log_density<'g>(self, x: Expr<'g>, arguments: &[Expr<'g>]) -> Expr<'g> {
        match (self, arguments) {
            (Flat, []) => 0.0.into(),
            (Normal, &[mean, sd]) => line::normal(x, mean, sd),
            (LogNormal, &[log_mean, log_sd]) => positive::log_normal(x, log_mean, log_sd),
            (StudentT, &[df, location, scale]) => line::student_t(x, df, location, scale),
            (Cauchy, &[location, scale]) => line::cauchy(x, location, scale),
            (HalfNormal, &[sd]) => line::half(x, |x| line::normal(x, 0.0.into(), sd)),
            (HalfCauchy, &[scale]) => line::half(x, |x| line::cauchy(x, 0.0.into(), scale)),
            (HalfStudentT, &[df, scale]) => {
                line::half(x, |x| line::student_t(x, df, 0.0.into(), scale))
            }
            (Exponential, &[rate]) => positive::exponential(x, rate),
            (Gamma, &[shape, rate]) => positive::gamma(x, shape, rate),
            (InvGamma, &[shape, scale]) => positive::inv_gamma(x, shape, scale),
            (Beta, &[a, b]) => bounded::beta(x, a, b),
            (Uniform, &[low, high]) => bounded::uniform(x, low, high),
            (LogUniform, &[low, high]) => bounded::log_uniform(x, low, high),
            (Laplace, &[location, scale]) => line::laplace(x, location, scale),
            (Logistic, &[location, scale]) => line::logistic(x, location, scale),
            (Weibull, &[shape, scale]) => positive::weibull(x, shape, scale),
            (Poisson, &[mean]) => count::poisson(x, mean),
            (PoissonLog, &[log_mean]) => count::poisson_log(x, log_mean),
            (Binomial, &[n, p]) => count::binomial(x, n, p),
            (BinomialLogit, &[n, logit]) => count::binomial_logit(x, n, logit),
            (Bernoulli, &[p]) => count::bernoulli(x, p),
            (BernoulliLogit, &[logit]) => count::bernoulli_logit(x, logit),
            (NegBinomial, &[mean, dispersion]) => count::neg_binomial(x, mean, dispersion),
            (BetaBinomial, &[n, a, b]) => count::beta_binomial(x, n, a, b),
            (SkewNormal, &[location, scale, shape]) => {
                skewed::skew_normal(x, location, scale, shape)
            }
            (Gumbel, &[location, scale]) => skewed::gumbel(x, location, scale),
            (VonMises, &[mean, concentration]) => circle::von_mises(x, mean, concentration),
            (InverseGaussian, &[mean, shape]) => positive::inverse_gaussian(x, mean, shape),
            (LogLogistic, &[scale, shape]) => positive::log_logistic(x, scale, shape),
            _ => panic!("{} takes {} arguments", self.name(), self.arguments().len()),
        }
    }
}
