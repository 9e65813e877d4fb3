//! Finds defects of a target with a few evaluations: noise, a wrong gradient, values that are NaN.

use super::{Unconstrained, Weights, Workspace};
use crate::{
    Batch, Result,
    rng::{Purpose, Stream},
};
use std::fmt;

/// Points that are evaluated twice and whose gradients are compared.
const POINTS: usize = 8;
/// Points around these, at which only the value is checked.
const AROUND: usize = 16;
/// The distance of these points, in widths.
const WIDER: f64 = 3.0;
/// The shortest difference step in widths, and the ratio of each step to the one before.
const STEP: f64 = 1e-5;
const RATIO: f64 = 16.0;
/// Pairs of points on either side, one for each step.
const PAIRS: usize = 3;
/// Differences of log p between two evaluations that rounding explains, as a share of |log p| + 1.
const ROUNDING: f64 = 1e-9;
/// Slopes below this, in nats per width, do not affect results: errors are relative to at least
/// this slope.
const SMALLEST_SLOPE: f64 = 0.1;
/// The draw numbers of directions and of surrounding points.
const DIRECTIONS: u64 = 1 << 40;
const PLACES: u64 = DIRECTIONS + 1;

/// What the check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Defects {
    /// Points that were evaluated twice.
    pub points: usize,
    /// Evaluations in all.
    pub evaluations: usize,
    /// Noise, if two evaluations of a point differed.
    pub noise: Option<Noise>,
    /// The gradient that is furthest from differences; `None` if no difference could be taken.
    pub gradient: Option<WrongSlope>,
    /// Values that are NaN.
    pub not_a_number: Option<NotANumber>,
}

/// The noise in log p, from repeated evaluations of the same points.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Standard deviation of log p about its mean.
    pub sd: f64,
    /// The largest difference.
    pub largest: f64,
    /// The point with the largest difference, in the target's own coordinates.
    pub at: Vec<f64>,
}

/// The slope of log p + log|J| along a direction, one width long, on the whole line.
#[derive(Debug, Clone, PartialEq)]
pub struct WrongSlope {
    /// The slope that the gradient gives, in nats per width.
    pub gradient: f64,
    /// The slope that differences give.
    pub differences: f64,
    /// Their distance relative to the larger of the two.
    pub error: f64,
    /// The point, in the target's own coordinates.
    pub at: Vec<f64>,
}

/// Values that are NaN inside the support.
#[derive(Debug, Clone, PartialEq)]
pub struct NotANumber {
    /// How many values are NaN.
    pub count: usize,
    /// How many values were checked.
    pub of: usize,
    /// The first such point, in the target's own coordinates.
    pub at: Vec<f64>,
}

/// Checks a target for defects at up to eight of the given points of R^d, and around them. The
/// spread of the points sets the lengths of the steps. The check takes fewer than 100 evaluations.
///
/// ```
/// use adaann::{Batch, Program, target::{Unconstrained, find_defects}};
///
/// let half = Program::record(1, |x| (1.0 - x[0]).ln() - x[0].square());
/// let points = Batch::from_points(1, &[[-1.0], [-0.5], [0.0], [0.5]]);
/// let found = find_defects(&Unconstrained::new(&half)?, &points, 1)?;
/// assert!(found.noise.is_none() && found.gradient.as_ref().is_some_and(|slope| slope.error < 1e-6));
/// // The logarithm of a negative number.
/// let first = found.not_a_number.as_ref().expect("points above 1");
/// assert!(first.at[0] > 1.0 && found.to_string().contains("not a number"));
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// Errors of the target.
pub fn find_defects(target: &Unconstrained, points: &Batch, seed: u64) -> Result<Defects> {
    let chosen = evenly(points, POINTS);
    let widths = widths(points);
    let stream = Stream::new(seed, Purpose::Evaluation);
    let around = around(&chosen, &widths, &stream);
    let directions = directions(chosen.len(), &widths, &stream);
    let first: Vec<Vec<f64>> = chosen.iter().chain(&around).cloned().collect();
    let mut moved = Vec::new();
    for (point, direction) in chosen.iter().zip(&directions) {
        let step = |h: f64| point.iter().zip(direction).map(|(z, u)| z + h * u).collect();
        moved.extend(steps().into_iter().flat_map(|h| [step(h), step(-h)]));
    }
    let (values, gradients) = evaluate(target, &first, true)?;
    let (again, _) = evaluate(target, &chosen, true)?;
    let (near, _) = evaluate(target, &moved, false)?;
    let all = || first.iter().chain(&moved).zip(values.iter().chain(&near));
    let mut lost = all().filter(|(_, value)| value.is_nan());
    let not_a_number = lost.next().map(|(point, _)| NotANumber {
        count: 1 + lost.count(),
        of: first.len() + moved.len(),
        at: own(target, point),
    });
    let noise = noise(target, &chosen, &values, &again);
    let sd = noise.as_ref().map_or(0.0, |noise| noise.sd);
    let mut worst: Option<WrongSlope> = None;
    for (i, (point, direction)) in chosen.iter().zip(&directions).enumerate() {
        let gradient: f64 = gradients[i].iter().zip(direction).map(|(g, u)| g * u).sum();
        let Some((differences, error)) = compared(gradient, &near[2 * PAIRS * i..], sd) else {
            continue;
        };
        if worst.as_ref().is_none_or(|worst| error > worst.error || error.is_nan()) {
            worst = Some(WrongSlope { gradient, differences, error, at: own(target, point) });
        }
    }
    let evaluations = target.values_with_gradients(first.len() + chosen.len()) + moved.len();
    Ok(Defects { points: chosen.len(), evaluations, noise, gradient: worst, not_a_number })
}

/// log p + log|J| at points of R^d, NaN included, and its gradient if requested.
fn evaluate(
    target: &Unconstrained,
    points: &[Vec<f64>],
    with_gradient: bool,
) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    if points.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut work = Workspace::zeros(target.dim(), points.len());
    let weights = with_gradient.then_some((Weights { prior: 1.0, likelihood: 1.0 }, 1.0));
    target.evaluate(&Batch::from_points(target.dim(), points), weights, &mut work)?;
    let Workspace { evaluation, log_jacobian, .. } = &work;
    let value = |i: usize| evaluation.log_prior[i] + evaluation.log_likelihood[i] + log_jacobian[i];
    let gradient = |i: usize| evaluation.gradient.point(i);
    let gradients = if with_gradient { (0..points.len()).map(gradient).collect() } else { vec![] };
    Ok(((0..points.len()).map(value).collect(), gradients))
}

/// A point of R^d in the target's own coordinates.
fn own(target: &Unconstrained, point: &[f64]) -> Vec<f64> {
    target.constrain(&Batch::from_points(point.len(), &[point])).0.point(0)
}

/// At most `most` points, spread evenly over their list.
fn evenly(points: &Batch, most: usize) -> Vec<Vec<f64>> {
    let count = points.len().min(most);
    (0..count).map(|i| points.point(i * points.len() / count)).collect()
}

/// The standard deviation of each coordinate; 1 where all points agree.
fn widths(points: &Batch) -> Vec<f64> {
    let width = |d: usize| {
        let row = points.row(d);
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / row.len() as f64;
        if variance > 0.0 && variance.is_finite() { variance.sqrt() } else { 1.0 }
    };
    (0..points.dim()).map(width).collect()
}

/// Steps of the differences, in widths.
fn steps() -> [f64; PAIRS] {
    std::array::from_fn(|k| STEP * RATIO.powi(k as i32))
}

/// Directions in R^d, one width long.
fn directions(count: usize, widths: &[f64], stream: &Stream) -> Vec<Vec<f64>> {
    let mut normals = Batch::zeros(widths.len(), count);
    stream.fill_normals(DIRECTIONS, 0, &mut normals);
    let direction = |i: usize| {
        let u = normals.point(i);
        let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        u.iter().zip(widths).map(|(u, width)| u / length * width).collect()
    };
    (0..count).map(direction).collect()
}

/// Points a few widths away from the chosen ones.
fn around(chosen: &[Vec<f64>], widths: &[f64], stream: &Stream) -> Vec<Vec<f64>> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let mut normals = Batch::zeros(widths.len(), AROUND);
    stream.fill_normals(PLACES, 0, &mut normals);
    let place = |i: usize| {
        let (from, u) = (&chosen[i % chosen.len()], normals.point(i));
        from.iter().zip(u).zip(widths).map(|((z, u), width)| z + WIDER * width * u).collect()
    };
    (0..AROUND).map(place).collect()
}

/// Estimates the noise from two evaluations of each point.
fn noise(
    target: &Unconstrained,
    points: &[Vec<f64>],
    once: &[f64],
    again: &[f64],
) -> Option<Noise> {
    let difference = |i: usize| match (once[i] - again[i]).abs() {
        found if found <= ROUNDING * (1.0 + once[i].abs()) || once[i] == again[i] => 0.0,
        found => found,
    };
    let found: Vec<f64> = (0..points.len()).map(difference).filter(|x| x.is_finite()).collect();
    let mean_square = found.iter().map(|x| x * x).sum::<f64>() / found.len().max(1) as f64;
    if mean_square == 0.0 {
        return None;
    }
    let by_size = |&a: &usize, &b: &usize| difference(a).total_cmp(&difference(b));
    let finite = (0..points.len()).filter(|&i| difference(i).is_finite());
    let most = finite.max_by(by_size)?;
    // The difference of two values has twice the variance of one.
    let (sd, largest) = ((0.5 * mean_square).sqrt(), difference(most));
    Some(Noise { sd, largest, at: own(target, &points[most]) })
}

/// The slope by differences that is nearest to the gradient's, and their relative distance. Short
/// steps suffer from rounding and noise, long ones from curvature, but a correct gradient agrees
/// with one of them. `None` if a value is not finite.
fn compared(gradient: f64, values: &[f64], noise: f64) -> Option<(f64, f64)> {
    if !gradient.is_finite() || values[..2 * PAIRS].iter().any(|value| !value.is_finite()) {
        return None;
    }
    let steps = steps();
    let slope = |k: usize| (values[2 * k] - values[2 * k + 1]) / (2.0 * steps[k]);
    let square = RATIO * RATIO;
    let estimates = (0..PAIRS - 1).map(|k| {
        // Of fourth order.
        let differences = (square * slope(k) - slope(k + 1)) / (square - 1.0);
        let unknown = (3.0 * noise + 4.0 * f64::EPSILON * values[2 * k].abs()) / steps[k];
        let scale = gradient.abs().max(differences.abs()).max(SMALLEST_SLOPE);
        let error = ((gradient - differences).abs() - unknown).max(0.0) / scale;
        (differences, error)
    });
    estimates.min_by(|a, b| a.1.total_cmp(&b.1))
}

impl fmt::Display for Defects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |at: &[f64]| {
            let shown: Vec<String> = at.iter().take(4).map(|x| format!("{x:.4}")).collect();
            let more = if at.len() > 4 { ", ..." } else { "" };
            format!("({}{more})", shown.join(", "))
        };
        if let Some(NotANumber { count, of, at }) = &self.not_a_number {
            write!(f, "log p is not a number at {count} of {of} points, first at {}; ", place(at))?;
        }
        match &self.noise {
            None => write!(f, "two evaluations of {} points agree; ", self.points)?,
            Some(Noise { sd, largest, at }) => write!(
                f,
                "two evaluations of a point differ by up to {largest:.3}, at {}: log p has noise of standard \
                 deviation {sd:.3}; ",
                place(at)
            )?,
        }
        match &self.gradient {
            None => f.write_str("the gradient could not be compared with differences"),
            Some(WrongSlope { gradient, differences, error, at }) => write!(
                f,
                "the gradient is {gradient:.4} per width where differences say {differences:.4}, a relative error \
                 of {error:.0e}, at {}",
                place(at)
            ),
        }
    }
}
