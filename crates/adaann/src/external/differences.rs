//! Gradients of a program that gives none: central differences, all of them in one batch.

use crate::external::Simulator;
use crate::{Batch, Result, target::Support};

/// Numbers of displaced points that are in memory at once: 128 MiB.
const MOST_NUMBERS: usize = 1 << 24;

impl Simulator {
    /// The log likelihood and its derivatives by coordinates of the caller's, which `map` turns into
    /// the program's: (f(z + h) − f(z − h))/2h with h = ∛ε max(1, |z|), at 2D + 1 calls a point.
    ///
    /// Where one side is lost the other has to do; with both lost, or the point itself, it is lost.
    ///
    /// # Errors
    /// As for [`Simulator::log_likelihood`].
    pub fn differences(
        &self,
        z: &Batch,
        map: impl Fn(&Batch) -> Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        let steps = |z: &[f64], steps: &mut [f64]| {
            for (step, z) in steps.iter_mut().zip(z) {
                *step = f64::EPSILON.cbrt() * z.abs().max(1.0);
            }
        };
        self.differences_by(z, steps, map, values, slopes)
    }

    /// Differences in the program's own coordinates, with steps that stay inside the supports even
    /// though each coordinate is moved alone.
    pub(super) fn differences_inside(
        &self,
        supports: &[Support],
        theta: &Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        let steps = |theta: &[f64], steps: &mut [f64]| steps_inside(supports, theta, steps);
        self.differences_by(theta, steps, Batch::clone, values, slopes)
    }

    fn differences_by(
        &self,
        z: &Batch,
        steps: impl Fn(&[f64], &mut [f64]),
        map: impl Fn(&Batch) -> Batch,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        self.check(z, true, values, slopes)?;
        let dim = z.dim();
        let at_once = (MOST_NUMBERS / (dim * (2 * dim + 1)).max(1)).max(1);
        for from in (0..z.len()).step_by(at_once) {
            let len = at_once.min(z.len() - from);
            let displaced = displaced(z, from, len, &steps);
            let mut found = vec![0.0; displaced.len()];
            let mapped = map(&displaced);
            self.log_likelihood(&mapped, false, &mut found, &mut Batch::zeros(dim, 0))?;
            for i in 0..len {
                let mut value = found[i];
                for d in 0..dim {
                    // Steps as they were rounded.
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
}

/// The points themselves, and then for each coordinate all of them a step up and a step down.
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

/// The slope from a point below, the point and one above, each with its value; from two of them if
/// the third is lost; none if there are no two.
fn slope([down, here, up]: [(f64, f64); 3]) -> Option<f64> {
    let between = |a: (f64, f64), b: (f64, f64)| {
        let slope = (b.1 - a.1) / (b.0 - a.0);
        slope.is_finite().then_some(slope)
    };
    if !here.1.is_finite() {
        return None;
    }
    // Rounded onto a bound: no step leads anywhere, and θ does not move with z either.
    if down.0 == up.0 {
        return Some(0.0);
    }
    between(down, up).or_else(|| between(here, up)).or_else(|| between(down, here))
}

/// Steps of ∛ε times the distance to the nearest bound, or times max(1, |θ|) if that is less: near a
/// bound a likelihood changes with the logarithm of the distance.
fn steps_inside(supports: &[Support], theta: &[f64], steps: &mut [f64]) {
    for (d, [low, high]) in Support::intervals(supports, theta).enumerate() {
        steps[d] = (theta[d] - low).min(high - theta[d]);
        match supports[d] {
            Support::After => steps[d - 1] = steps[d - 1].min(theta[d] - theta[d - 1]),
            Support::Share { index, of } if index + 2 == of => {
                // No part may take more than what all of them leave.
                let left = high - theta[d];
                for step in &mut steps[d - index..=d] {
                    *step = step.min(left);
                }
            }
            _ => {}
        }
    }
    for (step, theta) in steps.iter_mut().zip(theta) {
        let room = *step;
        let wanted = f64::EPSILON.cbrt() * room.min(theta.abs().max(1.0));
        // At least some units in the last place, at most half of the room.
        *step = wanted.max(4.0 * f64::EPSILON * theta.abs()).min(room / 2.0);
    }
}
