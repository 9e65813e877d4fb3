//! A distribution with its arguments: its log density, draws from it, and where it lives.

use super::value::{Law, Value};
use crate::distribution;
use crate::program::{Expr, Way, cholesky, in_triangle};

impl<'g> Law<'g> {
    /// How many numbers a draw has, if that is fixed.
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
        }
    }

    /// Is it a law of whole vectors, whose elements cannot be taken one by one?
    pub(super) fn is_joint(&self) -> bool {
        match self {
            Self::Of { .. } => false,
            Self::MultiNormal { .. } | Self::Dirichlet { .. } | Self::Lkj { .. } => true,
            Self::Mixture { parts, .. } => parts.iter().any(Self::is_joint),
        }
    }

    pub(super) fn is_discrete(&self) -> bool {
        match self {
            Self::Of { family, .. } => family.is_discrete(),
            Self::MultiNormal { .. } | Self::Dirichlet { .. } | Self::Lkj { .. } => false,
            Self::Mixture { parts, .. } => parts.iter().any(Self::is_discrete),
        }
    }

    /// log p(x) of all elements of x, with all constants.
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
            // Each element has a component of its own.
            Self::Mixture { weights, parts } => x
                .iter()
                .enumerate()
                .map(|(i, &x)| {
                    mixture(weights, parts.iter().map(|part| part.at(i).log_density(&[x])))
                })
                .sum(),
        }
    }

    /// The law of element `i`.
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
            joint => joint.clone(),
        }
    }

    /// A draw of `size` numbers, if all arguments are constants. `uniform` gives numbers between 0
    /// and 1.
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
            // The triangle of the factor.
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
        }
    }

    /// The mean of element `i`, if all arguments are constants and there is one.
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
        };
        mean.is_finite().then_some(mean)
    }
}

/// The log density of a matrix, row by row: a correlation matrix or the factor of one.
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

/// The part of a whole that a share between 0 and 1 falls into.
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
