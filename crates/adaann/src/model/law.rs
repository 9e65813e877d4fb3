//! A distribution with its arguments: log density, draws and support.

use super::value::{Law, Value};
use crate::distribution;
use crate::program::{Expr, Way, cholesky, in_triangle};

impl<'g> Law<'g> {
    /// The number of elements of a draw, if it is fixed.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Of { arguments, .. } => arguments.iter().find_map(|argument| match argument {
                Value::Vector(elements) => Some(elements.len()),
                _ => None,
            }),
            Self::MultiNormal { mean, .. } => Some(mean.len()),
            Self::Dirichlet { concentrations } => Some(concentrations.len()),
            Self::Lkj { .. } => None,
            Self::Mixture { parts, .. } => parts.iter().find_map(Self::size),
            Self::Censored { part, .. }
            | Self::Truncated { part, .. }
            | Self::WithZeros { part, .. } => part.size(),
            Self::Categorical { .. } => None,
        }
    }

    /// Is it a distribution of whole vectors, whose elements are not independent?
    pub(super) fn is_joint(&self) -> bool {
        match self {
            Self::MultiNormal { .. } | Self::Dirichlet { .. } | Self::Lkj { .. } => true,
            Self::Mixture { parts, .. } => parts.iter().any(Self::is_joint),
            _ => false,
        }
    }

    pub(super) fn is_discrete(&self) -> bool {
        match self {
            Self::Of { family, .. } => family.is_discrete(),
            Self::MultiNormal { .. } | Self::Dirichlet { .. } | Self::Lkj { .. } => false,
            Self::Mixture { parts, .. } => parts.iter().any(Self::is_discrete),
            Self::Censored { part, .. } | Self::Truncated { part, .. } => part.is_discrete(),
            Self::Categorical { .. } | Self::WithZeros { .. } => true,
        }
    }

    /// log p(x) summed over all elements of x, including all constants.
    pub(super) fn log_density(&self, x: &[Expr<'g>]) -> Expr<'g> {
        match self {
            Self::Of { family, arguments } => {
                let part =
                    |(i, &x): (usize, &Expr<'g>)| family.log_density(x, &elements(arguments, i));
                x.iter().enumerate().map(part).sum()
            }
            Self::MultiNormal { mean, spread, way } => {
                distribution::multi_normal(x, mean, spread, *way)
            }
            Self::Dirichlet { concentrations } => distribution::dirichlet(x, concentrations),
            Self::Lkj { eta, is_factor } => lkj(x, *eta, *is_factor),
            Self::Mixture { weights, parts } if self.is_joint() => {
                mixture(weights, parts.iter().map(|part| part.log_density(x)))
            }
            // Each element has its own component.
            Self::Mixture { weights, parts } => x
                .iter()
                .enumerate()
                .map(|(i, &x)| {
                    mixture(weights, parts.iter().map(|part| part.at(i).log_density(&[x])))
                })
                .sum(),
            Self::Censored { .. } | Self::Truncated { .. } => {
                let part = |(i, &x): (usize, &Expr<'g>)| self.at(i).log_density_of_cut(x);
                x.iter().enumerate().map(part).sum()
            }
            Self::Categorical { log_p, .. } => {
                x.iter().map(|&x| super::chances::log_p_of(x, log_p)).sum()
            }
            Self::WithZeros { .. } => {
                let part = |(i, &x): (usize, &Expr<'g>)| {
                    let own = self.at(i);
                    // A value that is not a count has probability 0 by the density of the part.
                    let above = own.log_p_above_zero(x.gt(0.0).select(x, 1.0));
                    let not_above = x.lt(0.0).select(f64::NEG_INFINITY, own.log_p_of_zero());
                    x.gt(0.0).select(above, not_above)
                };
                x.iter().enumerate().map(part).sum()
            }
        }
    }

    /// The distribution of element `i`.
    pub(super) fn at(&self, i: usize) -> Self {
        match self {
            Self::Of { family, arguments } => {
                let arguments = elements(arguments, i).into_iter().map(Value::Number).collect();
                Self::Of { family: *family, arguments }
            }
            Self::Mixture { weights, parts } => {
                let parts = parts.iter().map(|part| part.at(i)).collect();
                Self::Mixture { weights: weights.clone(), parts }
            }
            Self::Censored { part, limits } => {
                Self::Censored { part: Box::new(part.at(i)), limits: limits.clone() }
            }
            Self::Truncated { part, lower, upper } => {
                Self::Truncated { part: Box::new(part.at(i)), lower: *lower, upper: *upper }
            }
            Self::WithZeros { p, part, is_hurdle } => {
                Self::WithZeros { p: *p, part: Box::new(part.at(i)), is_hurdle: *is_hurdle }
            }
            joint => joint.clone(),
        }
    }

    /// A draw of `size` numbers; None unless all arguments are constants. `uniform` returns numbers
    /// between 0 and 1.
    pub(super) fn draw(&self, size: usize, uniform: &mut impl FnMut() -> f64) -> Option<Vec<f64>> {
        match self {
            Self::Of { family, arguments } => (0..size)
                .map(|i| Some(family.draw(&plain(&elements(arguments, i))?, uniform)))
                .collect(),
            Self::MultiNormal { mean, spread, .. } => {
                let (mean, factor) = (plain(mean)?, spread.plain_factor()?);
                Some(distribution::draw_multi_normal(&mean, &factor, uniform))
            }
            Self::Dirichlet { concentrations } => {
                Some(distribution::draw_dirichlet(&plain(concentrations)?, uniform))
            }
            // The lower triangle of the factor.
            Self::Lkj { eta, .. } => {
                Some(distribution::draw_lkj(size, eta.as_constant()?, uniform))
            }
            Self::Mixture { weights, parts } => {
                let weights = plain(weights)?;
                let count = if self.is_joint() { 1 } else { size };
                let mut drawn = Vec::with_capacity(size);
                for i in 0..count {
                    let part = &parts[choose(&weights, uniform())];
                    if count == 1 {
                        return part.draw(size, uniform);
                    }
                    drawn.extend(part.at(i).draw(1, uniform)?);
                }
                Some(drawn)
            }
            Self::Censored { .. } | Self::Truncated { .. } | Self::WithZeros { .. } => {
                (0..size).map(|i| self.at(i).draw_one(uniform)).collect()
            }
            Self::Categorical { log_p, .. } => {
                let p: Vec<f64> = plain(log_p)?.into_iter().map(f64::exp).collect();
                let is_whole = p.iter().sum::<f64>().is_finite();
                let category = |share: f64| {
                    if is_whole { choose(&p, share) as f64 + 1.0 } else { f64::NAN }
                };
                Some((0..size).map(|_| category(uniform())).collect())
            }
        }
    }

    /// A draw from a distribution of single numbers that is built from another.
    fn draw_one(&self, uniform: &mut impl FnMut() -> f64) -> Option<f64> {
        let bound = |x: &Option<Expr<'g>>, or: f64| x.map_or(Some(or), Expr::as_constant);
        match self {
            // Values beyond a limit are recorded as the limit.
            Self::Censored { part, limits } => {
                let lower = bound(&limits.lower, f64::NEG_INFINITY)?;
                let upper = bound(&limits.upper, f64::INFINITY)?;
                let drawn = part.draw(1, uniform)?[0];
                Some(if drawn.is_nan() { drawn } else { drawn.max(lower).min(upper) })
            }
            Self::Truncated { part, lower, upper } => {
                let lower = bound(lower, f64::NEG_INFINITY)?;
                part.draw_between((lower, bound(upper, f64::INFINITY)?), uniform)
            }
            Self::WithZeros { p, part, is_hurdle } => {
                let p = p.as_constant()?;
                if uniform() < p {
                    return Some(0.0);
                }
                match is_hurdle {
                    true => part.draw_between((1.0, f64::INFINITY), uniform),
                    false => Some(part.draw(1, uniform)?[0]),
                }
            }
            _ => Some(self.draw(1, uniform)?[0]),
        }
    }

    /// The mean of element `i`, if all arguments are constants and the mean exists.
    pub(super) fn mean(&self, i: usize) -> Option<f64> {
        let mean = match self {
            Self::Of { family, arguments } => family.mean(&plain(&elements(arguments, i))?),
            Self::MultiNormal { mean, .. } => mean.get(i)?.as_constant()?,
            Self::Lkj { .. } => return None,
            Self::Dirichlet { concentrations } => {
                let all = plain(concentrations)?;
                all.get(i)? / all.iter().sum::<f64>()
            }
            Self::Mixture { weights, parts } => {
                let (weights, mut sum) = (plain(weights)?, 0.0);
                for (weight, part) in weights.iter().zip(parts) {
                    sum += weight * part.mean(i)?;
                }
                sum / weights.iter().sum::<f64>()
            }
            Self::Censored { .. } | Self::Truncated { .. } => self.at(i).mean_of_cut()?,
            Self::WithZeros { p, part, is_hurdle } => {
                let mean = (1.0 - p.as_constant()?) * part.mean(i)?;
                let of_zero = || part.at(i).log_density(&[0.0.into()]).as_constant();
                if *is_hurdle { mean / -of_zero()?.exp_m1() } else { mean }
            }
            Self::Categorical { log_p, is_ordered: true } => {
                let p = plain(log_p)?;
                p.iter().enumerate().map(|(k, log_p)| (k as f64 + 1.0) * log_p.exp()).sum()
            }
            Self::Categorical { .. } => return None,
        };
        mean.is_finite().then_some(mean)
    }
}

/// The log density of a correlation matrix or of its Cholesky factor, given row by row.
fn lkj<'g>(x: &[Expr<'g>], eta: Expr<'g>, is_factor: bool) -> Expr<'g> {
    let n = x.len().isqrt();
    let diagonal = |x: &dyn Fn(usize) -> Expr<'g>| (0..n).map(x).collect::<Vec<_>>();
    if is_factor {
        return distribution::lkj_factor(&diagonal(&|i| x[i * n + i]), eta);
    }
    let lower: Vec<Expr<'g>> = (0..n).flat_map(|i| x[i * n..][..=i].to_vec()).collect();
    let l = cholesky(&lower, n, Way::Unrolled);
    distribution::lkj(&diagonal(&|i| l[in_triangle(i, i)]), eta)
}

/// The arguments of element `i`.
fn elements<'g>(arguments: &[Value<'g>], i: usize) -> Vec<Expr<'g>> {
    arguments.iter().filter_map(|argument| argument.element(i)).collect()
}

fn plain(numbers: &[Expr<'_>]) -> Option<Vec<f64>> {
    super::value::constants(numbers)
}

fn mixture<'g>(weights: &[Expr<'g>], parts: impl Iterator<Item = Expr<'g>>) -> Expr<'g> {
    let log_weights: Vec<Expr<'g>> = weights.iter().map(|weight| weight.ln()).collect();
    distribution::mixture(&log_weights, &parts.collect::<Vec<_>>())
}

/// The index of the part that a share between 0 and 1 falls into.
fn choose(weights: &[f64], share: f64) -> usize {
    let mut left = share * weights.iter().sum::<f64>();
    for (k, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return k;
        }
    }
    weights.len() - 1
}
