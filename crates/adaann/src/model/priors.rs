//! From a parameter's prior to its log density, with the bounds and the constants that belong to it.

use super::dims::Dims;
use super::parameter::{Parameter, Shape, factor};
use super::value::Law;
use super::value::{Value, constants};
use crate::distribution::{Family, lkj_factor};
use crate::program::Expr;
use crate::simd::Special;
use std::f64::consts::{LN_2, PI};

/// A parameter's prior, as the posterior needs it.
pub(super) struct Prior<'g> {
    pub(super) log_density: Expr<'g>,
    /// Where its numbers live.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Does it integrate to 1?
    pub(super) is_proper: bool,
    /// Is its integral known to be 1? Of numbers in order that are not alike it is less.
    pub(super) is_normalised: bool,
}

/// The prior of a parameter with coordinates `own` that has a law; or what is wrong with it, in words.
pub(super) fn with_law<'g>(
    parameter: &Parameter,
    own: &[Expr<'g>],
    law: &Law<'g>,
) -> Result<Prior<'g>, String> {
    if law.is_discrete() {
        return Err("a discrete distribution cannot be the prior of a parameter, which is \
                    continuous"
            .into());
    }
    if let Some(prior) = of_correlations(parameter, own, law) {
        return prior;
    }
    let (rows, len) = (parameter.dims.rows(), parameter.dims.width());
    let is_simplex = parameter.shape == Shape::Simplex;
    if let Some(size) = law.size()
        && size != len
    {
        let each = if let Dims::Matrix(..) = parameter.dims { "each row of " } else { "" };
        return Err(format!(
            "the distribution is of {size} numbers, but {each}`{}` has {len}",
            parameter.name
        ));
    }
    if law.is_joint() && parameter.dims == Dims::Number {
        return Err(format!(
            "this is a distribution of vectors, and `{}` is a number",
            parameter.name
        ));
    }
    let numbers = parameter.value_of(own).numbers();
    // A law of vectors is that of each row of a matrix.
    let density = || numbers.chunks(len).map(|row| law.log_density(row)).sum::<Expr<'g>>();
    if is_simplex || law.is_joint() {
        let is_dirichlet = matches!(law, Law::Dirichlet { .. });
        if is_simplex != is_dirichlet {
            return Err(
                "dirichlet is the prior of a simplex, and of nothing else: give support = \
                        \"simplex\" and prior = \"dirichlet([...])\", or neither"
                    .into(),
            );
        }
        let is_bounded = parameter.low.is_finite() || parameter.high.is_finite();
        if !is_simplex && (is_bounded || parameter.shape != Shape::Free) {
            return Err("a joint prior is of an unbounded vector".into());
        }
        let (low, high) = (parameter.low, parameter.high);
        let log_density = density();
        return Ok(Prior { log_density, low, high, is_proper: true, is_normalised: true });
    }
    let (own_low, own_high) = bounds(law)?;
    if parameter.low < own_low && parameter.low.is_finite() {
        return Err(format!(
            "the prior has no density below {own_low}, but lower is {}",
            parameter.low
        ));
    }
    if parameter.high > own_high && parameter.high.is_finite() {
        return Err(format!(
            "the prior has no density above {own_high}, but upper is {}",
            parameter.high
        ));
    }
    let (low, high) = (parameter.low.max(own_low), parameter.high.min(own_high));
    if low >= high {
        return Err(format!("the prior has no density between the bounds {low} and {high}"));
    }
    let mut log_density = density();
    if (low, high) != (own_low, own_high) {
        log_density -= rows as f64 * log_mass(law, len, low, high)?;
    }
    let is_alike = law.size().is_none();
    if parameter.shape == Shape::Ordered && is_alike {
        // All orders of numbers that are alike are equally likely, and one of them is kept.
        log_density += rows as f64 * ln_gamma(len as f64 + 1.0);
    }
    let is_flat = matches!(law, Law::Of { family: Family::Flat, .. });
    let is_normalised = !is_flat && (parameter.shape != Shape::Ordered || is_alike);
    Ok(Prior { log_density, low, high, is_proper: !is_flat, is_normalised })
}

/// The prior of a correlation matrix or its factor, if that or the law of one is there.
fn of_correlations<'g>(
    parameter: &Parameter,
    own: &[Expr<'g>],
    law: &Law<'g>,
) -> Option<Result<Prior<'g>, String>> {
    let is_factor = match parameter.shape {
        Shape::Correlation => Some(false),
        Shape::CorrelationFactor => Some(true),
        _ => None,
    };
    let Law::Lkj { eta, is_factor: of_factor } = law else {
        is_factor?;
        return Some(Err("the prior of a correlation matrix is lkj(eta), and that of its factor \
                         lkj_cholesky(eta)"
            .into()));
    };
    if is_factor != Some(*of_factor) {
        return Some(Err("lkj is the prior of a parameter with support = \"correlation\", and \
                         lkj_cholesky of one with support = \"cholesky-correlation\""
            .into()));
    }
    Some(Ok(correlated(parameter, own, *eta)))
}

/// The prior of a correlation matrix, or its factor, with respect to its coordinates.
fn correlated<'g>(parameter: &Parameter, own: &[Expr<'g>], eta: Expr<'g>) -> Prior<'g> {
    let rows = factor(parameter.dims.rows(), own);
    let diagonal: Vec<Expr<'g>> = rows.iter().enumerate().map(|(i, row)| row[i]).collect();
    let (low, high) = (parameter.low, parameter.high);
    let log_density = lkj_factor(&diagonal, eta);
    Prior { log_density, low, high, is_proper: true, is_normalised: true }
}

/// The prior of a parameter that has none: uniform where that is possible.
pub(super) fn without_law<'g>(parameter: &Parameter, own: &[Expr<'g>]) -> Prior<'g> {
    let Parameter { low, high, .. } = *parameter;
    let len = parameter.len() as f64;
    let (log_density, is_proper) = match parameter.shape {
        Shape::Simplex => {
            (parameter.dims.rows() as f64 * ln_gamma(parameter.dims.width() as f64), true)
        }
        // All correlation matrices are alike.
        Shape::Correlation | Shape::CorrelationFactor => {
            return correlated(parameter, own, 1.0.into());
        }
        Shape::Free if low.is_finite() && high.is_finite() => (-len * (high - low).ln(), true),
        _ => (0.0, false),
    };
    Prior { log_density: log_density.into(), low, high, is_proper, is_normalised: is_proper }
}

/// Where a law of single numbers has density.
fn bounds(law: &Law<'_>) -> Result<(f64, f64), String> {
    match law {
        Law::Of { family, arguments } => {
            let plain: Vec<Option<f64>> = arguments
                .iter()
                .map(|argument| match argument {
                    Value::Number(x) => x.as_constant(),
                    _ => None,
                })
                .collect();
            if *family == Family::VonMises {
                // One turn of the circle.
                return Ok((-PI, PI));
            }
            let interval = family.support(&plain);
            match (interval.low, interval.high) {
                (Some(low), Some(high)) => Ok((low.at, high.at)),
                _ => Err(format!("the bounds of a {} prior must be constants", family.name())),
            }
        }
        Law::Mixture { parts, .. } => {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for part in parts {
                let (part_low, part_high) = bounds(part)?;
                (low, high) = (low.min(part_low), high.max(part_high));
            }
            Ok((low, high))
        }
        Law::MultiNormal { .. } | Law::Dirichlet { .. } | Law::Lkj { .. } => {
            Ok((f64::NEG_INFINITY, f64::INFINITY))
        }
        Law::Truncated { part, lower, upper } => {
            let (low, high) = bounds(part)?;
            let bound = |x: &Option<Expr<'_>>, own: f64| match x.map(|x| x.as_constant()) {
                None => Ok(own),
                Some(Some(x)) => Ok(x),
                Some(None) => Err("the bounds of a truncated prior must be constants".to_owned()),
            };
            Ok((low.max(bound(lower, low)?), high.min(bound(upper, high)?)))
        }
        Law::Censored { .. } => Err(
            "a prior is not censored: censored is for measurements; `truncated` cuts a prior off"
                .into(),
        ),
        Law::Categorical { .. } | Law::WithZeros { .. } => unreachable!("a prior is not discrete"),
    }
}

/// log of the probability that all `len` numbers are between the bounds.
fn log_mass(law: &Law<'_>, len: usize, low: f64, high: f64) -> Result<f64, String> {
    let unknown = || {
        "the share of this prior between its bounds is not known, since its arguments are \
         parameters; use a distribution that lives there, like half_normal or lognormal"
            .to_owned()
    };
    let Law::Of { family, arguments } = law else {
        let what = match law {
            Law::Mixture { .. } => "a mixture cannot be cut off by bounds",
            _ => "a truncated prior has its bounds inside: give both to `truncated`",
        };
        return Err(what.into());
    };
    let mut sum = 0.0;
    for i in 0..len {
        let own: Vec<Expr<'_>> = arguments.iter().filter_map(|value| value.element(i)).collect();
        sum += match constants(&own) {
            Some(plain) => family.log_mass(&plain, low, high).ok_or_else(unknown)?,
            None => {
                let centre = family.symmetric_location().and_then(|at| own[at].as_constant());
                let is_half = centre == Some(low) && high == f64::INFINITY
                    || centre == Some(high) && low == f64::NEG_INFINITY;
                if !is_half {
                    return Err(unknown());
                }
                -LN_2
            }
        };
    }
    Ok(sum)
}

fn ln_gamma(x: f64) -> f64 {
    Special::LnGamma.at(x)
}
