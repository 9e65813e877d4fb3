//! Gradients of a program that gives none: central differences, all of them in one batch.

use crate::external::Simulator;
use crate::{
    Batch, Result,
    target::{Support, slope, steps_inside},
};

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
