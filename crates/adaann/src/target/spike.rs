//! Checks whether a density grows without bound near the bound of a coordinate, and faster than its
//! width shrinks.
//!
//! With n equal measurements y ~ normal(mu, sigma), the density at mu = y is sigma⁻ⁿ. Towards sigma
//! = 0 it grows without bound, and its integral is infinite. A mode search stops where
//! floating-point resolution ends: at a width below the spacing of doubles around mu. A narrow but
//! integrable density could look the same, so the approach to the bound is checked. From far
//! outside inwards, the mass of a slice (its height times its widths) must grow at every step until
//! resolution ends. In a funnel the height grows too, but no faster than the widths shrink.

use super::{Support, Unconstrained, Weights, Workspace};
use crate::{Batch, Error, Result, error::short};
use std::cell::Cell;

/// The factor by which the distance to the bound shrinks from one slice to the next: outside the
/// starting point, and (below) inside it, where resolution ends.
const FACTOR: f64 = 64.0;
const FACTOR_WITHIN: f64 = 8.0;
/// Slices outside the starting point.
const OUTSIDE: i32 = 4;
/// Largest number of slices inside it.
const MOST_WITHIN: usize = 240;
/// The growth of mass per factor e that counts: one half, where one coordinate contributes one.
const GROWTH: f64 = 0.5;
/// Resolution ends where a width is this many units in the last place.
const LAST_PLACES: f64 = 16.0;
/// A distance far below any measurement.
const NOTHING: f64 = 1e-100;
/// The difference step, in widths.
const STEP: f64 = 0.1;
/// Passes that estimate the widths, and Newton steps of a slice.
const PASSES: usize = 3;
/// In more dimensions than this the check is skipped.
const MOST_DIM: usize = 200;

/// Where a density grows without bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spike {
    /// The coordinate that approaches its bound.
    parameter: String,
    /// The bound.
    bound: f64,
    /// Names and values of the coordinates at the last representable point, starting with
    /// `parameter`.
    place: Vec<(String, f64)>,
    /// The growth of log p there, in nats per factor e of the distance to the bound.
    rate: f64,
}

/// Checks for growth without bound from the highest known point of R^d, where the density has these
/// widths. Also returns the number of evaluations spent.
///
/// # Errors
/// Errors of the target.
pub(crate) fn spike(
    target: &Unconstrained,
    at: &[f64],
    widths: &[f64],
) -> Result<(Option<Spike>, usize)> {
    let used = Cell::new(0);
    let all = if at.len() > MOST_DIM { 0 } else { at.len() };
    for d in 0..all {
        let Some(look) = Look::new(target, at, d, &used) else { continue };
        if look.rises()?
            && let Some(found) = look.follow(widths)?
        {
            return Ok((Some(found), used.get()));
        }
    }
    Ok((None, used.get()))
}

/// Whether a width is below the resolution of doubles at this point.
pub(crate) fn is_at_the_end_of_digits(target: &Unconstrained, at: &[f64], widths: &[f64]) -> bool {
    let z = Batch::from_points(at.len(), &[at]);
    let place = target.constrain(&z).0.point(0);
    (0..at.len()).any(|d| {
        target.target().support(d) == Support::Real && {
            let spread = target.target().standardisation(d).1;
            spread * widths[d] <= LAST_PLACES * f64::EPSILON * place[d].abs()
        }
    })
}

/// A check along one coordinate.
struct Look<'l, 'a> {
    target: &'l Unconstrained<'a>,
    at: &'l [f64],
    d: usize,
    bound: f64,
    /// The side of the bound, and the distance from it.
    side: f64,
    distance: f64,
    /// Evaluations so far.
    used: &'l Cell<usize>,
}

/// The density at one distance from the bound.
struct Slice {
    z: Vec<f64>,
    height: f64,
    /// The widths of the other coordinates; 1 for this coordinate.
    widths: Vec<f64>,
}

impl Slice {
    /// log of height times widths.
    fn mass(&self) -> f64 {
        self.height + self.widths.iter().map(|width| width.ln()).sum::<f64>()
    }
}

impl<'l, 'a> Look<'l, 'a> {
    /// `None` for a coordinate without a bound.
    fn new(
        target: &'l Unconstrained<'a>,
        at: &'l [f64],
        d: usize,
        used: &'l Cell<usize>,
    ) -> Option<Self> {
        let x = target.constrain(&Batch::from_points(at.len(), &[at])).0.point(0)[d];
        let (bound, side) = match target.target().support(d) {
            Support::Above(low) => (low, 1.0),
            Support::Below(high) => (high, -1.0),
            Support::Between(low, high) if x - low < high - x => (low, 1.0),
            Support::Between(_, high) => (high, -1.0),
            _ => return None,
        };
        let distance = (x - bound).abs();
        (distance > 0.0).then_some(Self { target, at, d, bound, side, distance, used })
    }

    /// Whether the density rises all the way from outside. This test is cheap and runs first.
    fn rises(&self) -> Result<bool> {
        let mut points = Vec::new();
        for k in (0..=OUTSIDE).rev() {
            match self.moved(self.at, self.distance * FACTOR.powi(k))? {
                Some(point) => points.push(point),
                None => return Ok(false),
            }
        }
        let (heights, _) = self.evaluate(&points, false)?;
        // The innermost point may be below the resolution of doubles.
        Ok(heights[..OUTSIDE as usize].is_sorted_by(|a, b| a < b))
    }

    fn follow(&self, widths: &[f64]) -> Result<Option<Spike>> {
        let digits = |(z, width): (&f64, &f64)| width.max(f64::EPSILON * z.abs().max(NOTHING));
        let widths: Vec<f64> = self.at.iter().zip(widths).map(digits).collect();
        let least = GROWTH * FACTOR.ln();
        // Outside, the other coordinates stay fixed: further from the bound their values matter
        // less.
        let (mut last, mut rate): (Option<Slice>, f64) = (None, 0.0);
        for k in (1..=OUTSIDE).rev() {
            let grown = FACTOR.powi(k);
            let Some(z) = self.moved(self.at, self.distance * grown)? else { return Ok(None) };
            let guess: Vec<f64> = widths.iter().map(|width| width * grown).collect();
            let Some(slice) = self.slice(z, &guess, 0)? else { return Ok(None) };
            if let Some(last) = &last {
                if slice.mass() < last.mass() + least {
                    return Ok(None);
                }
                rate = (slice.height - last.height) / FACTOR.ln();
            }
            last = Some(slice);
        }
        let Some(mut slice) = last else { return Ok(None) };
        let (mut distance, mut has_grown) = (self.distance * FACTOR, false);
        let least = GROWTH * FACTOR_WITHIN.ln();
        for _ in 0..MOST_WITHIN {
            if distance < NOTHING || is_at_the_end_of_digits(self.target, &slice.z, &slice.widths) {
                return Ok(Some(self.found(&slice, rate)));
            }
            distance /= FACTOR_WITHIN;
            let Some(z) = self.moved(&slice.z, distance)? else { return Ok(None) };
            let guess: Vec<f64> = slice.widths.iter().map(|width| width / FACTOR_WITHIN).collect();
            let Some(next) = self.slice(z, &guess, PASSES)? else { return Ok(None) };
            if next.mass() < slice.mass() + least {
                // Where resolution ends a point cannot be met exactly, and the height falls.
                let is_end = is_at_the_end_of_digits(self.target, &next.z, &next.widths);
                return Ok((is_end && has_grown).then(|| self.found(&slice, rate)));
            }
            rate = (next.height - slice.height) / FACTOR_WITHIN.ln();
            (slice, has_grown) = (next, true);
        }
        Ok(None)
    }

    /// The point moved to another distance from the bound; `None` if that is not possible.
    fn moved(&self, z: &[f64], distance: f64) -> Result<Option<Vec<f64>>> {
        let mut point = self.target.constrain(&Batch::from_points(z.len(), &[z])).0.point(0);
        point[self.d] = self.bound + self.side * distance;
        let is_inside = match self.target.target().support(self.d) {
            Support::Between(low, high) => low < point[self.d] && point[self.d] < high,
            _ => point[self.d] != self.bound,
        };
        if !is_inside || !point[self.d].is_finite() {
            return Ok(None);
        }
        // The others keep their exact bits.
        let found = self.target.unconstrain(&Batch::from_points(z.len(), &[&point[..]]))?.point(0);
        Ok(Some((0..z.len()).map(|e| if e == self.d { found[e] } else { z[e] }).collect()))
    }

    /// The slice at a point, after `steps` Newton steps across; `None` if the density is not
    /// finite.
    fn slice(&self, mut z: Vec<f64>, guess: &[f64], steps: usize) -> Result<Option<Slice>> {
        let mut widths = guess.to_vec();
        widths[self.d] = 1.0;
        let others: Vec<usize> = (0..z.len()).filter(|&e| e != self.d).collect();
        for pass in 0..PASSES.max(steps) {
            let mut points = vec![z.clone()];
            for &e in &others {
                for side in [STEP, -STEP] {
                    let mut point = z.clone();
                    point[e] += side * widths[e];
                    points.push(point);
                }
            }
            let (_, slopes) = self.evaluate(&points, true)?;
            for (i, &e) in others.iter().enumerate() {
                let (above, below) = (&slopes[2 * i + 1], &slopes[2 * i + 2]);
                // The rounded distance, since few digits may be left.
                let apart = points[2 * i + 1][e] - points[2 * i + 2][e];
                let bend = (below[e] - above[e]) / apart;
                if bend.is_finite() && bend > 0.0 {
                    widths[e] = bend.sqrt().recip();
                    let step = slopes[0][e] / bend;
                    if pass < steps && step.is_finite() && step.abs() < widths[e] * FACTOR {
                        z[e] += step;
                    }
                }
            }
        }
        let (heights, _) = self.evaluate(std::slice::from_ref(&z), false)?;
        let is_there = heights[0].is_finite();
        Ok(is_there.then(|| Slice { z, height: heights[0], widths }))
    }

    /// log p + log|J| at some points, and its gradient if requested.
    fn evaluate(
        &self,
        points: &[Vec<f64>],
        with_gradient: bool,
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
        let values = self.target.values(points.len(), with_gradient.then_some(Weights::ALL));
        self.used.set(self.used.get() + values);
        let mut work = Workspace::zeros(self.target.dim(), points.len());
        let weights = with_gradient.then_some((Weights { prior: 1.0, likelihood: 1.0 }, 1.0));
        let points = Batch::from_points(self.at.len(), points);
        self.target.evaluate(&points, weights, &mut work)?;
        let Workspace { evaluation, log_jacobian, .. } = &work;
        let height =
            |i: usize| evaluation.log_prior[i] + evaluation.log_likelihood[i] + log_jacobian[i];
        let all = 0..points.len();
        let slope = |i: usize| evaluation.gradient.point(i);
        let slopes = if with_gradient { all.clone().map(slope).collect() } else { Vec::new() };
        Ok((all.map(height).collect(), slopes))
    }

    fn found(&self, slice: &Slice, rate: f64) -> Spike {
        let names = self.target.target().names();
        let z = Batch::from_points(slice.z.len(), &[&slice.z[..]]);
        let values = self.target.constrain(&z).0.point(0);
        let mut order: Vec<usize> = (0..names.len()).filter(|&e| e != self.d).collect();
        order.insert(0, self.d);
        Spike {
            parameter: names[self.d].clone(),
            bound: self.bound,
            place: order.into_iter().map(|e| (names[e].clone(), values[e])).collect(),
            rate,
        }
    }
}

impl Spike {
    /// Explains in one sentence why there is no posterior and what to do.
    pub(crate) fn refusal(&self) -> Error {
        const SHOWN: usize = 4;
        let Self { parameter, bound, place, rate } = self;
        let shown = place.iter().take(SHOWN).map(|(name, x)| format!("{name} = {}", short(*x)));
        let mut words = shown.collect::<Vec<_>>().join(", ");
        if place.len() > SHOWN {
            words += &format!(" and {} more", place.len() - SHOWN);
        }
        let (side, key) = match place.first() {
            Some((_, x)) if x < bound => ("below", "upper"),
            _ => ("above", "lower"),
        };
        Error::Data(format!(
            "the density grows without bound as {parameter} goes to {bound}, by {rate:.0} nats per factor e, \
             up to the limit of floating-point numbers at {words}. Its integral is infinite. This happens when \
             {parameter} is the error of measurements that are all equal or fitted exactly; give {parameter} \
             a bound {side} {bound} with `{key}`, or a prior that vanishes at {bound} faster than any power, \
             like {parameter} = \"inv_gamma(2, 1)\""
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::pointwise;

    /// The result from a point (x, sigma), with sigma > 0, for n measurements y ± `spread` of x and
    /// a prior that cuts off sigma below `end`.
    fn found(n: f64, y: f64, [spread, end]: [f64; 2], at: [f64; 2]) -> Option<Spike> {
        let target = pointwise(2, move |x, slope| {
            let (off, s) = (x[0] - y, x[1]);
            let square = off * off + spread * spread;
            slope[0] = -n * off / (s * s);
            slope[1] = -n / s + n * square / (s * s * s) - 1.0 + end / (s * s);
            -n * s.ln() - 0.5 * n * square / (s * s) - s - end / s
        });
        let target = target.with_supports([Support::Real, Support::Above(0.0)]).unwrap();
        let unconstrained = Unconstrained::new(&target).unwrap();
        let z = unconstrained.unconstrain(&Batch::from_points(2, &[at])).unwrap().point(0);
        spike(&unconstrained, &z, &[at[1] / n.sqrt(), 1.0]).unwrap().0
    }

    #[test]
    fn equal_measurements_have_no_posterior() {
        for (n, y, sigma) in
            [(20.0, 3.5, 1e-3), (4.0, 0.1, 1e-9), (4e5, 3.5, 1e-17), (4.0, 0.0, 1e-6)]
        {
            let found = found(n, y, [0.0; 2], [y, sigma]).unwrap_or_else(|| panic!("{n} {y}"));
            assert_eq!((&found.parameter[..], found.bound), ("z2", 0.0));
            assert!((found.rate / (n - 1.0) - 1.0).abs() < 0.01, "{found:?}");
            let said = found.refusal().to_string();
            for words in
                ["without bound as z2 goes to 0", "above 0 with `lower`", "inv_gamma", "z1 ="]
            {
                assert!(said.contains(words), "{words}: {said}");
            }
        }
    }

    #[test]
    fn narrow_densities_and_funnels_have_one() {
        // Nearly equal measurements: the density is narrow but bounded.
        assert_eq!(found(20.0, 3.5, [1e-8, 0.0], [3.5, 1e-8]), None);
        // A prior that bounds it.
        assert_eq!(found(20.0, 3.5, [0.0, 1e-6], [3.5, 5e-8]), None);
        // Unbounded, but of finite mass.
        assert_eq!(found(1.0, 0.0, [0.0; 2], [0.0, 1e-3]), None);
    }
}
