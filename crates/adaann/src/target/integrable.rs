//! Checks whether a density falls fast enough in all directions to have a finite integral.
//!
//! Along a direction u, the integral of p over the octave around r is about p(r u)·r. Where this
//! does not fall as r grows, the integral is infinite. So log p + log r must fall along every line,
//! and log p + d log r along almost every ray. Checking a few dozen lines costs a few hundred
//! evaluations; without the check, a sampler would drift along one of them for ever.

use super::{Support, Unconstrained, Weights, Workspace};
use crate::{
    Batch, Error, Result, linear,
    rng::{Purpose, Stream},
};

/// How far a line is followed, as powers of 4: up to 2⁴⁰ widths.
const POWERS: i32 = 20;
/// The verdict depends on the last of these radii.
const LAST: usize = 6;
/// Mass that lies this far below the peak, in nats, is negligible even if its integral is infinite.
const UNSEEN: f64 = 30.0;
/// A smaller fall in log p + log r for each power of 4 counts as no fall.
const NO_FALL: f64 = 1e-3;
/// The fewest finite values for a verdict; numbers along a mapped coordinate overflow eventually.
const ENOUGH: usize = 4;
/// Number of random rays.
const RAYS: usize = 8;
/// The largest dimension in which curvatures are measured for principal axes.
const MOST_AXES: usize = 128;
/// In larger dimensions, only this many axes are followed: those with the least curvature.
const FLATTEST: usize = 32;
/// Corrections back to the ridge at each radius.
const CORRECTIONS: usize = 2;
/// The step of the gradient's differences, in widths.
const STEP: f64 = 1e-4;

/// The result of following the lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Tails {
    /// A direction along which the density does not fall; `None` if it falls in all of them.
    pub endless: Option<Endless>,
    /// Evaluations spent.
    pub evaluations: usize,
}

/// A direction along which a density does not fall.
#[derive(Debug, Clone, PartialEq)]
pub struct Endless {
    /// The direction, as a share of each coordinate on the whole line, the largest ±1.
    pub along: Vec<f64>,
    /// How far it was followed, in widths of the density.
    pub widths: f64,
    /// By how much log p + log|J| fell over that distance.
    pub fall: f64,
    /// The parameters that change along it, the fastest first.
    pub parameters: Vec<String>,
}

/// Follows lines outwards from the best known point of R^d: along coordinates, principal axes and
/// random rays. `factor` is the lower triangle L, row by row, where L Lᵀ approximates the
/// covariance there; it defines the widths.
///
/// ```
/// use adaann::{Program, target::{Unconstrained, tails}};
///
/// let cauchy = Program::record(1, |x| -(1.0 + x[0].square()).ln());
/// assert!(tails(&Unconstrained::new(&cauchy)?, &[0.0], &[1.0])?.endless.is_none());
/// let heavier = Program::record(1, |x| -0.4 * (1.0 + x[0].square()).ln());
/// let found = tails(&Unconstrained::new(&heavier)?, &[0.0], &[1.0])?;
/// assert!(found.evaluations < 1_000);
/// let refusal = found.endless.expect("its integral is infinite").refusal().to_string();
/// assert!(refusal.contains("z1") && refusal.contains("prior"));
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// Errors of the target.
pub fn tails(target: &Unconstrained, at: &[f64], factor: &[f64]) -> Result<Tails> {
    let mut look = Look { target, at, factor, highest: 0.0, evaluations: 0 };
    look.highest = look.heights(&[at.to_vec()])?[0];
    let mut found = None;
    if look.highest.is_finite() {
        for line in look.lines()? {
            if let Some(endless) = look.follow(&line)? {
                found = Some(endless);
                break;
            }
        }
    }
    Ok(Tails { endless: found, evaluations: look.evaluations })
}

/// A line to follow outwards.
struct Line {
    /// One width.
    direction: Vec<f64>,
    /// The power of r by which mass grows: 1 along a line, d along a random ray.
    power: f64,
    /// Directions across the line, one width long, each with its curvature −u·∇²log p·u, used to
    /// bring a point back to a ridge; empty if the line is not corrected.
    across: Vec<(Vec<f64>, f64)>,
}

struct Look<'a> {
    target: &'a Unconstrained<'a>,
    at: &'a [f64],
    factor: &'a [f64],
    highest: f64,
    evaluations: usize,
}

impl Look<'_> {
    /// log p + log|J| at some points.
    fn heights(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.evaluate(points, false).map(|(heights, _)| heights)
    }

    fn evaluate(
        &mut self,
        points: &[Vec<f64>],
        with_gradient: bool,
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
        self.evaluations += self.target.values(points.len(), with_gradient.then_some(Weights::ALL));
        let mut work = Workspace::zeros(self.target.dim(), points.len());
        let weights = with_gradient.then_some((Weights { prior: 1.0, likelihood: 1.0 }, 1.0));
        self.target.evaluate(&Batch::from_points(self.at.len(), points), weights, &mut work)?;
        let Workspace { evaluation, log_jacobian, .. } = &work;
        let height =
            |i: usize| evaluation.log_prior[i] + evaluation.log_likelihood[i] + log_jacobian[i];
        let gradient = |i: usize| evaluation.gradient.point(i);
        let all = 0..points.len();
        let gradients = if with_gradient { all.clone().map(gradient).collect() } else { vec![] };
        Ok((all.map(height).collect(), gradients))
    }

    /// L v
    fn times(&self, v: &[f64]) -> Vec<f64> {
        let dim = self.at.len();
        let row = |d: usize| linear::dot(&self.factor[d * dim..][..=d], &v[..=d]);
        (0..dim).map(row).collect()
    }

    fn moved(&self, direction: &[f64], r: f64) -> Vec<f64> {
        self.at.iter().zip(direction).map(|(z, u)| z + r * u).collect()
    }

    fn lines(&mut self) -> Result<Vec<Line>> {
        let dim = self.at.len();
        let mut lines = Vec::new();
        for d in 0..dim {
            let row = &self.factor[d * dim..][..=d];
            let mut direction = vec![0.0; dim];
            direction[d] = linear::dot(row, row).sqrt();
            lines.push(Line { direction, power: 1.0, across: Vec::new() });
        }
        if dim > 1 {
            lines.extend(self.axes()?);
            let mut normals = Batch::zeros(dim, RAYS);
            Stream::new(1, Purpose::Evaluation).fill_normals(0, 0, &mut normals);
            for i in 0..RAYS {
                let v = normals.point(i);
                let length = linear::dot(&v, &v).sqrt();
                let unit: Vec<f64> = v.iter().map(|v| v / length).collect();
                let (direction, power) = (self.times(&unit), dim as f64);
                lines.push(Line { direction, power, across: Vec::new() });
            }
        }
        lines.retain(|line| line.direction.iter().all(|u| u.is_finite()));
        Ok(lines)
    }

    /// Principal axes of −∇² log p in units of the factor, from differences of the gradient; those
    /// of the factor if the Hessian is not finite or the dimension is large.
    fn axes(&mut self) -> Result<Vec<Line>> {
        let dim = self.at.len();
        if dim > MOST_AXES {
            return Ok(Vec::new());
        }
        let unit =
            |k: usize| -> Vec<f64> { (0..dim).map(|d| f64::from(u8::from(d == k))).collect() };
        let columns: Vec<Vec<f64>> = (0..dim).map(|k| self.times(&unit(k))).collect();
        let points: Vec<Vec<f64>> =
            columns.iter().flat_map(|u| [STEP, -STEP].map(|h| self.moved(u, h))).collect();
        let (_, gradients) = self.evaluate(&points, true)?;
        let mut curvature = vec![0.0; dim * dim];
        for (k, pair) in gradients.chunks_exact(2).enumerate() {
            let change: Vec<f64> = pair[1].iter().zip(&pair[0]).map(|(b, a)| b - a).collect();
            for (j, u) in columns.iter().enumerate() {
                let entry = linear::dot(u, &change) / (2.0 * STEP);
                curvature[k * dim + j] += 0.5 * entry;
                curvature[j * dim + k] += 0.5 * entry;
            }
        }
        if curvature.iter().any(|c| !c.is_finite()) {
            return Ok(Vec::new());
        }
        let (values, vectors) = linear::symmetric_eigen(dim, &curvature);
        let mut axes: Vec<(f64, Vec<f64>)> =
            values.into_iter().zip(&vectors).map(|(value, v)| (value, self.times(v))).collect();
        axes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stiffest = axes.last().map_or(0.0, |(value, _)| value.abs());
        let line = |k: usize| {
            // Directions at least a thousand times as stiff hold a point on the ridge.
            let least = (1e3 * axes[k].0.abs()).max(1e-6 * stiffest);
            let across = axes.iter().filter(|(value, _)| *value > least);
            let across = across.map(|(value, u)| (u.clone(), *value)).collect();
            Line { direction: axes[k].1.clone(), power: 1.0, across }
        };
        Ok((0..dim.min(if dim > FLATTEST { FLATTEST } else { dim })).map(line).collect())
    }

    /// Follows a line to both sides, and returns the side on which the density does not fall.
    fn follow(&mut self, line: &Line) -> Result<Option<Endless>> {
        for sign in [1.0, -1.0] {
            let direction: Vec<f64> = line.direction.iter().map(|u| sign * u).collect();
            if self.falls_far_out(&direction, line)? {
                continue;
            }
            let heights = self.walk(&direction, line)?;
            let is_mapped = (0..self.at.len())
                .any(|d| direction[d] != 0.0 && self.target.target().support(d) != Support::Real);
            if let Some(last) = endless(&heights, self.highest, line.power, is_mapped) {
                let (widths, fall) = (radius(last), self.highest - heights[last]);
                return Ok(Some(self.named(direction, widths, fall)));
            }
        }
        Ok(None)
    }

    /// Whether the two furthest radii carry next to no mass, as on most lines. A corrected line may
    /// leave a ridge by rounding alone, and a line along a mapped coordinate may overflow.
    fn falls_far_out(&mut self, direction: &[f64], line: &Line) -> Result<bool> {
        if !line.across.is_empty() {
            return Ok(false);
        }
        let far = [POWERS - 1, POWERS].map(|k| k as usize);
        let heights = self.heights(&far.map(|k| self.moved(direction, radius(k))))?;
        let is_real = |d: usize| self.target.target().support(d) == Support::Real;
        let all_real = (0..self.at.len()).all(|d| direction[d] == 0.0 || is_real(d));
        Ok(far.iter().zip(heights).all(|(&k, height)| {
            let mass = height + line.power * radius(k).ln();
            let is_non_finite = height == f64::NEG_INFINITY && all_real;
            is_non_finite || mass.is_finite() && mass < self.highest - UNSEEN
        }))
    }

    /// log p at all radii, corrected back to the ridge.
    fn walk(&mut self, direction: &[f64], line: &Line) -> Result<Vec<f64>> {
        let all = 0..=POWERS as usize;
        if line.across.is_empty() {
            let points: Vec<_> = all.map(|k| self.moved(direction, radius(k))).collect();
            return self.heights(&points);
        }
        // The offset from the point to the ridge stays the same; the ridge's bend grows with the radius.
        let offset =
            self.climb_ridge(self.at, line, vec![0.0; direction.len()], 5 * CORRECTIONS)?.1;
        let (mut heights, mut bend) = (Vec::new(), vec![0.0; direction.len()]);
        for k in all {
            let grown = bend.iter().map(|x| 4.0 * x);
            let start: Vec<f64> = offset.iter().zip(grown).map(|(a, b)| a + b).collect();
            let (height, drift) =
                self.climb_ridge(&self.moved(direction, radius(k)), line, start, CORRECTIONS)?;
            bend = drift.iter().zip(&offset).map(|(x, a)| x - a).collect();
            heights.push(height);
        }
        Ok(heights)
    }

    /// The highest log p near a point that steps across the line can reach, and the offset to it.
    fn climb_ridge(
        &mut self,
        from: &[f64],
        line: &Line,
        start: Vec<f64>,
        corrections: usize,
    ) -> Result<(f64, Vec<f64>)> {
        let (mut height, mut best, mut drift) = (f64::NEG_INFINITY, start.clone(), start);
        for _ in 0..=corrections {
            let point: Vec<f64> = from.iter().zip(&drift).map(|(z, x)| z + x).collect();
            let (found, gradients) = self.evaluate(&[point], true)?;
            if found[0].is_nan() || found[0] <= height {
                break;
            }
            (height, best) = (found[0], drift.clone());
            for (u, curvature) in &line.across {
                let step = linear::dot(&gradients[0], u) / curvature;
                drift.iter_mut().zip(u).for_each(|(x, u)| *x += step * u);
            }
        }
        Ok((height, best))
    }

    fn named(&self, direction: Vec<f64>, widths: f64, fall: f64) -> Endless {
        let largest = direction.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        let along: Vec<f64> = direction.iter().map(|u| u / largest).collect();
        let names = self.target.target().names();
        let mut order: Vec<usize> = (0..along.len()).filter(|&d| along[d].abs() > 0.01).collect();
        order.sort_by(|&a, &b| along[b].abs().total_cmp(&along[a].abs()).then(a.cmp(&b)));
        let parameters = order.into_iter().map(|d| names[d].clone()).collect();
        Endless { along, widths, fall, parameters }
    }
}

/// Radius number k, in widths.
fn radius(k: usize) -> f64 {
    4.0_f64.powi(k as i32)
}

/// Whether the mass per octave does not fall over the last radii; returns the last radius checked.
fn endless(heights: &[f64], highest: f64, power: f64, is_mapped: bool) -> Option<usize> {
    let reach = heights.iter().take_while(|height| height.is_finite()).count();
    // On the whole line, a point of zero density ends the density.
    let ends = heights.get(reach).is_some_and(|height| *height == f64::NEG_INFINITY && !is_mapped);
    if ends || reach < ENOUGH {
        return None;
    }
    let last = reach - 1;
    let first = last - LAST.min(reach / 2);
    let mass = |k: usize| heights[k] + power * radius(k).ln();
    let fall = (mass(first) - mass(last)) / (last - first) as f64;
    (fall < NO_FALL && mass(last) > highest - UNSEEN).then_some(last)
}

impl Endless {
    /// Explains in one sentence why there is no posterior and what to do.
    pub fn refusal(&self) -> Error {
        const SHOWN: usize = 3;
        let (named, more) = self.parameters.split_at(self.parameters.len().min(SHOWN));
        let what = match (named, more.len()) {
            ([one], _) => format!("along {one}"),
            (_, 0) => format!("along a combination of {}", named.join(", ")),
            (_, more) => format!("along a combination of {} and {more} more", named.join(", ")),
        };
        let whom = named.first().map_or("the parameters", String::as_str);
        Error::Data(format!(
            "the density has no finite integral: {what} it falls by only {:.1} nats out to {:.0e} widths; \
             give {whom} a proper prior, or bounds",
            self.fall.max(0.0),
            self.widths
        ))
    }
}
