//! Censored and truncated distributions: probabilities of tails and intervals, draws and means.

use super::value::{Censoring, Law, Value};
use crate::distribution::{self, Family, Tails, ln_complement};
use crate::program::{Expr, log_sum_exp};

/// Rejected draws from a truncated distribution before its quantile function is used.
const MOST_REFUSED: usize = 50;

impl<'g> Law<'g> {
    /// The tails below and above x of a distribution of single numbers; None if the distribution function is not
    /// available.
    pub(super) fn log_tails(&self, x: Expr<'g>) -> Option<Tails<'g>> {
        match self {
            Self::Of { family, arguments } => {
                let plain: Vec<Expr<'g>> = arguments.iter().flat_map(Value::numbers).collect();
                family.log_tails(x, &plain)
            }
            Self::Mixture { weights, parts } => {
                let tails: Option<Vec<Tails<'g>>> =
                    parts.iter().map(|part| part.log_tails(x)).collect();
                let tails = tails?;
                let sum = |side: fn(&Tails<'g>) -> Expr<'g>| {
                    let terms: Vec<Expr<'g>> =
                        weights.iter().zip(&tails).map(|(w, part)| w.ln() + side(part)).collect();
                    log_sum_exp(&terms)
                };
                Some(Tails { below: sum(|tails| tails.below), above: sum(|tails| tails.above) })
            }
            Self::WithZeros { p, part, is_hurdle } => {
                let tails = part.log_tails(x)?;
                // A hurdle distributes the probability above 0 among the counts above 0.
                let above = if *is_hurdle {
                    let least: Expr<'g> = tails.above - part.log_tails(0.0.into())?.above;
                    (-*p).ln_1p() + least
                } else {
                    (-*p).ln_1p() + tails.above
                };
                let is_count = x.ge(0.0);
                Some(Tails {
                    below: is_count.select(ln_complement(above), f64::NEG_INFINITY),
                    above: is_count.select(above, 0.0),
                })
            }
            Self::Censored { .. }
            | Self::Truncated { .. }
            | Self::Categorical { .. }
            | Self::MultiNormal { .. }
            | Self::Dirichlet { .. }
            | Self::Lkj { .. } => None,
        }
    }

    /// ln P(X ≤ x)
    pub(super) fn log_at_most(&self, x: Expr<'g>) -> Option<Expr<'g>> {
        self.log_tails(x).map(|tails| tails.below)
    }

    /// ln P(X ≥ x)
    pub(super) fn log_at_least(&self, x: Expr<'g>) -> Option<Expr<'g>> {
        // For counts, P(X ≥ x) is the probability above the previous count.
        let before = if self.is_discrete() { -(1.0 - x).floor() } else { x };
        self.log_tails(before).map(|tails| tails.above)
    }

    /// ln P(from < X ≤ to)
    pub(super) fn log_after(&self, from: Expr<'g>, to: Expr<'g>) -> Option<Expr<'g>> {
        let next = if self.is_discrete() { from.floor() + 1.0 } else { from };
        self.log_between(Some(next), Some(to))
    }

    /// ln P(lower ≤ X ≤ upper); a missing bound is infinite.
    pub(super) fn log_between(
        &self,
        lower: Option<Expr<'g>>,
        upper: Option<Expr<'g>>,
    ) -> Option<Expr<'g>> {
        let (lower, upper) = match (lower, upper) {
            (None, None) => return Some(0.0.into()),
            (Some(lower), None) => return self.log_at_least(lower),
            (None, Some(upper)) => return self.log_at_most(upper),
            (Some(lower), Some(upper)) => (lower, upper),
        };
        let before = if self.is_discrete() { -(1.0 - lower).floor() } else { lower };
        let (low, high) = (self.log_tails(before)?, self.log_tails(upper)?);
        // Subtract on the side with less probability, to keep precision.
        let from_below = difference(high.below, low.below);
        let from_above = difference(low.above, high.above);
        Some(high.below.lt(low.above).select(from_below, from_above))
    }

    /// The log density of a censored or truncated distribution at x.
    pub(super) fn log_density_of_cut(&self, x: Expr<'g>) -> Expr<'g> {
        let missing = || f64::NAN.into();
        match self {
            Self::Censored { part, limits } => {
                let mut value = part.log_density(&[x]);
                let Censoring { lower, upper, left, right, until } = limits;
                if let Some(until) = until {
                    value = part.log_after(x, *until).unwrap_or_else(missing);
                }
                if let Some(lower) = lower {
                    let below = part.log_at_most(*lower).unwrap_or_else(missing);
                    value = x.le(*lower).select(below, value);
                }
                if let Some(upper) = upper {
                    let above = part.log_at_least(*upper).unwrap_or_else(missing);
                    value = x.ge(*upper).select(above, value);
                }
                if let Some(left) = left {
                    value = left.select(part.log_at_most(x).unwrap_or_else(missing), value);
                }
                if let Some(right) = right {
                    value = right.select(part.log_at_least(x).unwrap_or_else(missing), value);
                }
                value
            }
            Self::Truncated { part, lower, upper } => {
                let mass = part.log_between(*lower, *upper).unwrap_or_else(missing);
                let low = lower.unwrap_or(f64::NEG_INFINITY.into());
                let high = upper.unwrap_or(f64::INFINITY.into());
                part.log_density(&[x]) - mass + distribution::outside(x, low, high)
            }
            _ => self.log_density(&[x]),
        }
    }

    /// A draw between bounds from a distribution of single numbers with constant arguments; NaN if there is no
    /// probability between them.
    pub(super) fn draw_between(
        &self,
        (lower, upper): (f64, f64),
        uniform: &mut impl FnMut() -> f64,
    ) -> Option<f64> {
        for _ in 0..MOST_REFUSED {
            let drawn = self.draw(1, uniform)?[0];
            if drawn.is_nan() || lower <= drawn && drawn <= upper {
                return Some(drawn);
            }
        }
        Some(self.quantile_between((lower, upper), uniform()).unwrap_or(f64::NAN))
    }

    /// The quantile of the distribution between two bounds.
    fn quantile_between(&self, (lower, upper): (f64, f64), share: f64) -> Option<f64> {
        let given = |x: f64| x.is_finite().then(|| Expr::from(x));
        let log_mass = |low: f64, high: f64| {
            self.log_between(given(low), given(high))?.as_constant().filter(|mass| !mass.is_nan())
        };
        let whole = log_mass(lower, upper)?;
        let is_past = |x: f64| log_mass(lower, x).map(|below| below - whole >= share.ln());
        // Bracket with finite points, then bisect.
        let (mut low, mut high) = match (lower.is_finite(), upper.is_finite()) {
            (true, true) => (lower, upper),
            (true, false) => (lower, lower + 1.0),
            (false, true) => (upper - 1.0, upper),
            (false, false) => (-1.0, 1.0),
        };
        let mut step = 1.0;
        while upper.is_infinite() && high < f64::MAX && !is_past(high)? {
            step *= 2.0;
            (low, high) = (high, high + step);
        }
        while lower.is_infinite() && low > -f64::MAX && is_past(low)? {
            step *= 2.0;
            (low, high) = (low - step, low);
        }
        for _ in 0..200 {
            let middle = low + 0.5 * (high - low);
            *(if is_past(middle)? { &mut high } else { &mut low }) = middle;
            if high - low <= f64::EPSILON * high.abs() {
                break;
            }
        }
        let found = if self.is_discrete() { high.floor() } else { high };
        Some(found.clamp(lower, upper))
    }

    /// The mean of a censored or truncated distribution with constant arguments.
    pub(super) fn mean_of_cut(&self) -> Option<f64> {
        let plain = |x: &Option<Expr<'g>>, or: f64| x.map_or(Some(or), Expr::as_constant);
        match self {
            Self::Censored { part, limits } => {
                let lower = plain(&limits.lower, f64::NEG_INFINITY)?;
                let upper = plain(&limits.upper, f64::INFINITY)?;
                if lower.is_infinite() && upper.is_infinite() {
                    return part.mean(0);
                }
                if let Self::Of { family: Family::Normal, arguments } = &**part {
                    let sd = arguments.get(1)?.element(0)?.as_constant()?;
                    return part.mean_of_censored_normal(sd, (lower, upper));
                }
                part.mean_between((lower, upper), |x| {
                    let tails = part.log_tails(x.into())?;
                    Some((tails.below.as_constant()?.exp(), tails.above.as_constant()?.exp()))
                })
            }
            Self::Truncated { part, lower, upper } => {
                let (lower, upper) =
                    (plain(lower, f64::NEG_INFINITY)?, plain(upper, f64::INFINITY)?);
                let given = |x: f64| x.is_finite().then(|| Expr::from(x));
                let mass =
                    |low: f64, high: f64| part.log_between(given(low), given(high))?.as_constant();
                let whole = mass(lower, upper)?;
                // Bounds are included; the probability above a count begins at the next count.
                let next = if part.is_discrete() { 1.0 } else { 0.0 };
                part.mean_between((lower, upper), |x| {
                    Some(((mass(lower, x)? - whole).exp(), (mass(x + next, upper)? - whole).exp()))
                })
            }
            _ => None,
        }
    }

    /// The mean of a censored normal variable, which is `lower` below that limit and `upper` above it: the mean,
    /// plus what is missing below `lower` and minus what exceeds `upper`, each σ (φ(z) + z Φ(z)).
    fn mean_of_censored_normal(&self, sd: f64, (lower, upper): (f64, f64)) -> Option<f64> {
        let mean = self.mean(0)?;
        // The mean distance beyond a limit that lies z standard deviations outwards.
        let beyond = |limit: f64, z: f64, side: fn(&Tails<'g>) -> Expr<'g>| {
            let share = side(&self.log_tails(limit.into())?).as_constant()?.exp();
            Some(sd * ((-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() - z * share))
        };
        let (mut below, mut above) = (0.0, 0.0);
        if lower.is_finite() {
            below = beyond(lower, (mean - lower) / sd, |tails| tails.below)?;
        }
        if upper.is_finite() {
            above = beyond(upper, (upper - mean) / sd, |tails| tails.above)?;
        }
        Some(mean + below - above)
    }

    /// The mean of a variable that is `lower` below that limit and `upper` above it, by integrating its tails on
    /// both sides of an interior point: zero + ∫ P(X > x) dx above zero − ∫ P(X ≤ x) dx below it.
    fn mean_between(
        &self,
        (lower, upper): (f64, f64),
        tails: impl Fn(f64) -> Option<(f64, f64)>,
    ) -> Option<f64> {
        if self.is_discrete() {
            return self.mean_of_counts((lower, upper), tails);
        }
        // Integrating sums over a hundred points for each draw and row would take minutes.
        if self.has_summed_tails() {
            return None;
        }
        let zero = self.mean(0).unwrap_or(0.0).clamp(lower, upper);
        let above = distribution::integral_of_tail(zero, upper, |x| Some(tails(x)?.1))?;
        let below = distribution::integral_of_tail(zero, lower, |x| Some(tails(x)?.0))?;
        Some(zero + above - below)
    }

    /// Is the distribution function a sum over points?
    fn has_summed_tails(&self) -> bool {
        match self {
            Self::Of { family, .. } => family.has_summed_tails(),
            Self::Mixture { parts, .. } => parts.iter().any(Self::has_summed_tails),
            _ => false,
        }
    }

    /// The same for counts: Σ P(X > k) from the lowest count on.
    fn mean_of_counts(
        &self,
        (lower, upper): (f64, f64),
        tails: impl Fn(f64) -> Option<(f64, f64)>,
    ) -> Option<f64> {
        /// Maximum number of counts to sum over.
        const MOST: usize = 10_000;
        let first = lower.max(0.0).ceil();
        let mut mean = first;
        for i in 0..MOST {
            let k = first + i as f64;
            let above = if k >= upper.floor() { 0.0 } else { tails(k)?.1 };
            mean += above;
            if above <= 1e-12 * mean.abs() {
                return Some(mean);
            }
        }
        None
    }
}

/// ln(e^a − e^b) for a ≥ b.
fn difference<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    a + ln_complement(b - a)
}
