//! Gradients by central differences, evaluated in one batch, for targets without gradients.

use super::{Evaluation, Support, Target, Weights, slope, steps_inside};
use crate::{Batch, Result};

/// The largest count of displaced coordinates in memory at once: 128 MiB.
const MOST_NUMBERS: usize = 1 << 24;

/// A consecutive range of points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// The first point.
    pub(crate) from: usize,
    /// The number of points.
    pub(crate) len: usize,
}

/// Values and derivatives by (f(z + h) − f(z − h))/2h, at 2D + 1 values per point. `ask` fills in
/// the values of f at displaced points, of which the first `len` are the undisplaced points of a
/// stretch.
///
/// If one side is not finite, a one-sided difference replaces it. If both sides or the point itself
/// are not finite, the point is non-finite.
///
/// # Errors
/// Those of `ask`.
pub(crate) fn by_differences(
    z: &Batch,
    steps: impl Fn(&[f64], &mut [f64]),
    values: &mut [f64],
    slopes: &mut Batch,
    mut ask: impl FnMut(Stretch, &Batch, &mut [f64]) -> Result<()>,
) -> Result<()> {
    let dim = z.dim();
    let at_once = (MOST_NUMBERS / (dim * (2 * dim + 1)).max(1)).max(1);
    for from in (0..z.len()).step_by(at_once) {
        let len = at_once.min(z.len() - from);
        let displaced = displaced(z, from, len, &steps);
        let mut found = vec![0.0; displaced.len()];
        ask(Stretch { from, len }, &displaced, &mut found)?;
        for i in 0..len {
            let mut value = found[i];
            for d in 0..dim {
                // Steps as rounded.
                let (up, down) = (len * (2 * d + 1) + i, len * (2 * d + 2) + i);
                let at = displaced.row(d);
                let slope = slope([down, i, up].map(|k| (at[k], found[k])));
                slopes.row_mut(d)[from + i] = slope.unwrap_or(0.0);
                if slope.is_none() {
                    value = f64::NEG_INFINITY;
                }
            }
            if value == f64::NEG_INFINITY {
                (0..dim).for_each(|d| slopes.row_mut(d)[from + i] = 0.0);
            }
            values[from + i] = value;
        }
    }
    Ok(())
}

/// The points themselves, followed by all points a step up and a step down in each coordinate.
fn displaced(z: &Batch, from: usize, len: usize, steps: &impl Fn(&[f64], &mut [f64])) -> Batch {
    let dim = z.dim();
    let mut displaced = Batch::zeros(dim, len * (2 * dim + 1));
    (0..=2 * dim).for_each(|k| displaced.copy_points(len * k, z, from, len));
    let mut step = vec![0.0; dim];
    for i in 0..len {
        steps(&z.point(from + i), &mut step);
        for (d, step) in step.iter().enumerate() {
            displaced.row_mut(d)[len * (2 * d + 1) + i] += step;
            displaced.row_mut(d)[len * (2 * d + 2) + i] -= step;
        }
    }
    displaced
}

/// A target without a gradient, with central differences in its place.
///
/// Only values of the inner target are evaluated: 2D + 1 points for each point of a batch, all in
/// one call. Steps are ∛ε max(1, |x|), and shorter near the bounds of a support.
///
/// ```
/// use adaann::{Batch, Result, target::{ByDifferences, Evaluation, Target, Weights}};
///
/// struct Cubic;
///
/// impl Target for Cubic {
///     fn dim(&self) -> usize {
///         1
///     }
///
///     fn evaluate(&self, x: &Batch, _: Option<Weights>, out: &mut Evaluation) -> Result<()> {
///         for (i, x) in x.row(0).iter().enumerate() {
///             (out.log_prior[i], out.log_likelihood[i]) = (0.0, -x.powi(4) + x);
///         }
///         Ok(())
///     }
/// }
///
/// let mut out = Evaluation::zeros(1, 1);
/// let weights = Weights { prior: 1.0, likelihood: 1.0 };
/// ByDifferences(Cubic).evaluate(&Batch::from_points(1, &[[0.5]]), Some(weights), &mut out)?;
/// assert!((out.gradient.row(0)[0] - 0.5).abs() < 1e-8);
/// # Ok::<(), adaann::Error>(())
/// ```
pub struct ByDifferences<T>(pub T);

impl<T: Target> Target for ByDifferences<T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let Some(weights) = gradient else { return self.0.evaluate(points, None, out) };
        let dim = self.dim();
        let supports: Vec<Support> = (0..dim).map(|d| self.support(d)).collect();
        let steps = |x: &[f64], steps: &mut [f64]| steps_inside(&supports, x, steps);
        let mut values = vec![0.0; points.len()];
        let Evaluation { log_prior, log_likelihood, gradient } = out;
        by_differences(points, steps, &mut values, gradient, |stretch, displaced, found| {
            let mut parts = Evaluation::zeros(dim, displaced.len());
            self.0.evaluate(displaced, None, &mut parts)?;
            let Stretch { from, len } = stretch;
            log_prior[from..from + len].copy_from_slice(&parts.log_prior[..len]);
            log_likelihood[from..from + len].copy_from_slice(&parts.log_likelihood[..len]);
            for (i, found) in found.iter_mut().enumerate() {
                // At weight 0, skip a part that is not finite.
                let part =
                    |weight: f64, value: f64| if weight == 0.0 { 0.0 } else { weight * value };
                *found = part(weights.prior, parts.log_prior[i])
                    + part(weights.likelihood, parts.log_likelihood[i]);
            }
            Ok(())
        })
    }

    fn wants_whole_batch(&self) -> bool {
        self.0.wants_whole_batch()
    }

    fn has_prior(&self) -> bool {
        self.0.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.0.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.0.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.0.standardisation(d)
    }

    fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
        self.0.exact_draws(count, seed)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.0.notes();
        notes.push(format!("gradient by differences: {} values a point", 2 * self.dim() + 1));
        notes
    }

    /// The inner target's estimate for a value with its gradient is an upper bound for a value.
    fn operations(&self) -> Option<f64> {
        self.0.operations().map(|each| each * (2 * self.dim() + 1) as f64)
    }

    fn values_per_gradient(&self, _: Weights) -> usize {
        2 * self.dim() + 1
    }

    fn is_log_concave(&self) -> bool {
        self.0.is_log_concave()
    }

    fn has_formulas(&self) -> bool {
        self.0.has_formulas()
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }
}
