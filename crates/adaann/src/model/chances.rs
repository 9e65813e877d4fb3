//! Discrete distributions given by probabilities: categorical, zero-inflated and hurdle.

use super::value::{Law, Truth};
use crate::distribution::ln_complement;
use crate::program::{Expr, log_sum_exp};

/// ln p of each category, from the logarithms of unnormalised probabilities.
pub(super) fn from_logits<'g>(logits: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let sum = log_sum_exp(logits);
    logits.iter().map(|&logit| logit - sum).collect()
}

/// ln p of each category of an ordered logistic distribution: a logistic variable around `location`
/// falls between two neighbouring cutpoints.
pub(super) fn between_cutpoints<'g>(location: Expr<'g>, cutpoints: &[Expr<'g>]) -> Vec<Expr<'g>> {
    // ln P(below c) and ln P(above c)
    let below = |c: Expr<'g>| -(location - c).softplus();
    let above = |c: Expr<'g>| -(c - location).softplus();
    let mut log_p: Vec<Expr<'g>> = cutpoints.first().map(|&c| below(c)).into_iter().collect();
    for pair in cutpoints.windows(2) {
        // F(b) − F(a) = F(b) (1 − F(a)) (1 − e^(a − b)) for the logistic distribution.
        log_p.push(below(pair[1]) + above(pair[0]) + ln_complement(pair[0] - pair[1]));
    }
    log_p.extend(cutpoints.last().map(|&c| above(c)));
    log_p
}

/// ln p of a category x; −∞ if x is not a category.
pub(super) fn log_p_of<'g>(x: Expr<'g>, log_p: &[Expr<'g>]) -> Expr<'g> {
    let mut value: Expr<'g> = f64::NEG_INFINITY.into();
    for (k, &log_p) in log_p.iter().enumerate() {
        value = Truth::equal(x, (k as f64 + 1.0).into()).select(log_p, value);
    }
    value
}

impl<'g> Law<'g> {
    /// ln P(X = 0) of a zero-inflated or hurdle distribution.
    pub(super) fn log_p_of_zero(&self) -> Expr<'g> {
        match self {
            Self::WithZeros { p, is_hurdle: true, .. } => p.ln(),
            Self::WithZeros { p, part, .. } => {
                p.ln().log_add_exp((-*p).ln_1p() + part.log_density(&[0.0.into()]))
            }
            _ => self.log_density(&[0.0.into()]),
        }
    }

    /// ln P(X = y) for y above 0 of a zero-inflated or hurdle distribution.
    pub(super) fn log_p_above_zero(&self, y: Expr<'g>) -> Expr<'g> {
        match self {
            Self::WithZeros { p, part, is_hurdle } => {
                let log_p = (-*p).ln_1p() + part.log_density(&[y]);
                if *is_hurdle {
                    log_p - ln_complement(part.log_density(&[0.0.into()]))
                } else {
                    log_p
                }
            }
            _ => self.log_density(&[y]),
        }
    }
}
