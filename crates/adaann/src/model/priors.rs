//! From a parameter's prior to its log density, including bounds and normalising constants.

use super::dims::Dims;
use super::edges::expression;
use super::parameter::{Parameter, Shape, factor};
use super::value::Law;
use super::value::{Value, constants};
use crate::distribution::{Family, lkj_factor};
use crate::program::Expr;
use crate::simd::Special;
use crate::target::Edge;
use std::f64::consts::{LN_2, PI};

/// A parameter's prior in the form that the posterior uses.
pub(super) struct Prior<'g> {
    pub(super) log_density: Expr<'g>,
    /// The bounds of its elements.
    pub(super) low: Edge,
    pub(super) high: Edge,
    /// Does it integrate to 1?
    pub(super) is_proper: bool,
    /// Is its integral known to be 1? It is smaller for an ordered vector whose elements have
    /// different distributions.
    pub(super) is_normalised: bool,
}

/// The prior of a parameter with a distribution, given all coordinates, or an error message. Bounds
/// that depend on parameters go down to `least` and up to `most`, as far as that is known.
pub(super) fn with_law<'g>(
    parameter: &Parameter,
    theta: &[Expr<'g>],
    law: &Law<'g>,
    [least, most]: [f64; 2],
) -> Result<Prior<'g>, String> {
    let own = &theta[parameter.first..][..parameter.coordinates()];
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
            "the distribution has {size} elements, but {each}`{}` has {len}",
            parameter.name
        ));
    }
    if law.is_joint() && parameter.dims == Dims::Number {
        return Err(format!(
            "this is a distribution of vectors, but `{}` is a number",
            parameter.name
        ));
    }
    let numbers = parameter.value_of(own).numbers();
    // A distribution of vectors applies to each row of a matrix.
    let density = || numbers.chunks(len).map(|row| law.log_density(row)).sum::<Expr<'g>>();
    if is_simplex || law.is_joint() {
        let is_dirichlet = matches!(law, Law::Dirichlet { .. });
        if is_simplex != is_dirichlet {
            return Err(
                "a simplex needs a dirichlet prior, and dirichlet needs a simplex: set support = \
                        \"simplex\" and prior = \"dirichlet([...])\", or neither"
                    .into(),
            );
        }
        let is_bounded = (&parameter.low, &parameter.high) != (&Edge::Open, &Edge::Open);
        if !is_simplex && (is_bounded || parameter.shape != Shape::Free) {
            return Err(
                "a joint prior needs a vector without bounds and without a constrained support"
                    .into(),
            );
        }
        let (low, high) = (parameter.low.clone(), parameter.high.clone());
        let log_density = density();
        return Ok(Prior { log_density, low, high, is_proper: true, is_normalised: true });
    }
    let (own_low, own_high) = bounds(law)?;
    let (low, high) = match (&parameter.low, &parameter.high) {
        (Edge::At(low), _) if *low < own_low => {
            return Err(format!("the prior has no density below {own_low}, but lower is {low}"));
        }
        (_, Edge::At(high)) if *high > own_high => {
            return Err(format!("the prior has no density above {own_high}, but upper is {high}"));
        }
        (Edge::Beside { .. }, _) if least < own_low => {
            return Err(format!(
                "the prior has no density below {own_low}, but lower can be as low as {least}"
            ));
        }
        (_, Edge::Beside { .. }) if most > own_high => {
            return Err(format!(
                "the prior has no density above {own_high}, but upper can be as high as {most}"
            ));
        }
        (low, high) => (or_own(low, own_low), or_own(high, own_high)),
    };
    if let (Edge::At(low), Edge::At(high)) = (&low, &high)
        && low >= high
    {
        return Err(format!("the prior has no density between the bounds {low} and {high}"));
    }
    let mut log_density = density();
    let (first, last) = (Edge::new(own_low), Edge::new(own_high));
    if (&low, &high) != (&first, &last) {
        let cut = [(&low, &first), (&high, &last)]
            .map(|(edge, own)| expression(edge, theta).filter(|_| edge != own));
        log_density -= rows as f64 * log_mass(law, len, cut)?;
    }
    let is_alike = law.size().is_none();
    if parameter.shape == Shape::Ordered && is_alike {
        // All orders of identically distributed numbers are equally likely; only one of them is
        // allowed.
        log_density += rows as f64 * ln_gamma(len as f64 + 1.0);
    }
    let is_flat = matches!(law, Law::Of { family: Family::Flat, .. });
    let is_normalised = !is_flat && (parameter.shape != Shape::Ordered || is_alike);
    Ok(Prior { log_density, low, high, is_proper: !is_flat, is_normalised })
}

/// The prior of a correlation matrix or its factor; None if neither the parameter nor the distribution
/// is one.
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
        return Some(Err(
            "the prior of a correlation matrix must be lkj(eta), and that of its Cholesky factor \
                         lkj_cholesky(eta)"
                .into(),
        ));
    };
    if is_factor != Some(*of_factor) {
        return Some(Err("lkj needs a parameter with support = \"correlation\", and \
                         lkj_cholesky needs one with support = \"cholesky-correlation\""
            .into()));
    }
    Some(Ok(correlated(parameter, own, *eta)))
}

/// The prior of a correlation matrix, or its factor, with respect to its coordinates.
fn correlated<'g>(parameter: &Parameter, own: &[Expr<'g>], eta: Expr<'g>) -> Prior<'g> {
    let rows = factor(parameter.dims.rows(), own);
    let diagonal: Vec<Expr<'g>> = rows.iter().enumerate().map(|(i, row)| row[i]).collect();
    let (low, high) = (parameter.low.clone(), parameter.high.clone());
    let log_density = lkj_factor(&diagonal, eta);
    Prior { log_density, low, high, is_proper: true, is_normalised: true }
}

/// The prior of a parameter without a distribution, given all coordinates: uniform where possible.
pub(super) fn without_law<'g>(parameter: &Parameter, theta: &[Expr<'g>]) -> Prior<'g> {
    let own = &theta[parameter.first..][..parameter.coordinates()];
    let len = parameter.len() as f64;
    let edges = [&parameter.low, &parameter.high].map(|edge| expression(edge, theta));
    let (log_density, is_proper): (Expr<'g>, bool) = match (parameter.shape, edges) {
        (Shape::Simplex, _) => {
            let each = ln_gamma(parameter.dims.width() as f64);
            ((parameter.dims.rows() as f64 * each).into(), true)
        }
        // Uniform over correlation matrices.
        (Shape::Correlation | Shape::CorrelationFactor, _) => {
            return correlated(parameter, own, 1.0.into());
        }
        (Shape::Free, [Some(low), Some(high)]) => {
            // Keep the value positive, since rounding may give 0 and its logarithm is needed.
            (-len * (high - low).max(f64::MIN_POSITIVE).ln(), true)
        }
        _ => (0.0.into(), false),
    };
    let (low, high) = (parameter.low.clone(), parameter.high.clone());
    Prior { log_density, low, high, is_proper, is_normalised: is_proper }
}

/// The support of a distribution of single numbers.
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
                _ if *family == Family::Uniform => Err("the bounds of a uniform prior must be \
                     constants; for bounds that depend on the parameters above, give lower and upper \
                     without a prior"
                    .into()),
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
        Law::Censored { .. } => {
            Err("a prior cannot be censored; use `truncated` to restrict a prior to bounds".into())
        }
        Law::Categorical { .. } | Law::WithZeros { .. } => unreachable!("a prior is not discrete"),
    }
}

/// A parameter's bound, or the end of its distribution's support if it has none.
fn or_own(edge: &Edge, own: f64) -> Edge {
    if *edge == Edge::Open { Edge::new(own) } else { edge.clone() }
}

/// The log probability that all `len` elements are between bounds; a missing bound is infinite.
fn log_mass<'g>(
    law: &Law<'g>,
    len: usize,
    [low, high]: [Option<Expr<'g>>; 2],
) -> Result<Expr<'g>, String> {
    if let Law::Truncated { .. } = law {
        return Err(
            "a truncated prior cannot have lower or upper: give the bounds to `truncated`".into()
        );
    }
    let mut sum = Expr::from(0.0);
    for i in 0..len {
        let own = law.at(i);
        let mass = of_constants(&own, low, high).or_else(|| own.log_between(low, high));
        sum += mass.ok_or(
            "the probability of this prior between its bounds is not available: use a distribution with that \
             support, like half_normal or lognormal",
        )?;
    }
    Ok(sum)
}

/// The same for one element, if it is a constant.
fn of_constants<'g>(
    law: &Law<'g>,
    low: Option<Expr<'g>>,
    high: Option<Expr<'g>>,
) -> Option<Expr<'g>> {
    let Law::Of { family, arguments } = law else { return None };
    let plain = |edge: Option<Expr<'g>>, open: f64| edge.map_or(Some(open), Expr::as_constant);
    let (low, high) = (plain(low, f64::NEG_INFINITY)?, plain(high, f64::INFINITY)?);
    let own: Vec<Expr<'g>> = arguments.iter().flat_map(Value::numbers).collect();
    if let Some(own) = constants(&own) {
        return family.log_mass(&own, low, high).map(Expr::from);
    }
    let centre = family.symmetric_location().and_then(|at| own[at].as_constant());
    let is_half = centre == Some(low) && high == f64::INFINITY
        || centre == Some(high) && low == f64::NEG_INFINITY;
    is_half.then(|| (-LN_2).into())
}

fn ln_gamma(x: f64) -> f64 {
    Special::LnGamma.at(x)
}
