//! Maps noise to the points of a mixture, each by its own component, and pulls gradients back.

use super::{Covariance, Mixture, full, parameters::below_len};
use crate::{Batch, flow::base::Noise, linear::dot};

/// Points whose noise is transposed from rows of points to rows of coordinates at once: a cache
/// line.
const POINTS: usize = 8;

impl Mixture {
    /// z ← μ_k + L_k ε
    pub(super) fn place(&self, noise: &Noise, z: &mut Batch) {
        match self.covariance {
            Covariance::Diagonal => self.place_diagonal(noise, z),
            Covariance::Full => self.place_full(noise, z),
        }
    }

    /// Adds the gradients of the means and factors through the points from [`Mixture::place`].
    pub(super) fn pull_placed(&self, noise: &Noise, g_z: &Batch, own: &mut [f64]) {
        let dim = self.dim();
        let (g_mean, rest) = own[self.logit.len()..].split_at_mut(self.mean.len());
        let (g_log_scale, g_below) = rest.split_at_mut(self.log_scale.len());
        for i in 0..dim {
            let (g, normal) = (g_z.row(i), noise.normal.row(i));
            for n in 0..g.len() {
                let at = noise.component[n] * dim + i;
                g_mean[at] += g[n];
                g_log_scale[at] += g[n] * normal[n] * self.derived.scale[at];
            }
        }
        if self.covariance == Covariance::Full {
            self.pull_below(noise, g_z, g_below);
        }
    }

    fn place_diagonal(&self, noise: &Noise, z: &mut Batch) {
        let dim = self.dim();
        for i in 0..dim {
            let (row, normal) = (z.padded_row_mut(i), noise.normal.padded_row(i));
            for ((z, e), k) in row.iter_mut().zip(normal).zip(&noise.component) {
                *z = self.mean[k * dim + i] + self.derived.scale[k * dim + i] * e;
            }
        }
    }

    /// Neighbouring points belong to different components, so the lanes run along the rows of the
    /// factors.
    fn place_full(&self, noise: &Noise, z: &mut Batch) {
        let dim = self.dim();
        full::with_scratch(POINTS * dim, |turned| {
            for at in (0..z.padded_len()).step_by(POINTS) {
                turn(&noise.normal, at, turned);
                let components = &noise.component[at..at + POINTS];
                for i in 0..dim {
                    let row = &mut z.padded_row_mut(i)[at..at + POINTS];
                    for (p, k) in components.iter().enumerate() {
                        let (e, entry) = (&turned[p * dim..][..dim], k * dim + i);
                        row[p] = self.mean[entry]
                            + self.derived.scale[entry] * e[i]
                            + dot(full::row_below(self.below_of(*k), i), &e[..i]);
                    }
                }
            }
        });
    }

    /// G_i ε_j for all j < i
    fn pull_below(&self, noise: &Noise, g_z: &Batch, g_below: &mut [f64]) {
        let dim = self.dim();
        let len = below_len(dim);
        full::with_scratch(POINTS * dim, |turned| {
            for at in (0..g_z.len()).step_by(POINTS) {
                turn(&noise.normal, at, turned);
                for i in 1..dim {
                    for (p, g) in g_z.row(i)[at..].iter().take(POINTS).enumerate() {
                        let k = noise.component[at + p];
                        let row = full::row_below_mut(&mut g_below[k * len..][..len], i);
                        for (slot, e) in row.iter_mut().zip(&turned[p * dim..]) {
                            *slot += g * e;
                        }
                    }
                }
            }
        });
    }

    /// The entries below the diagonal of component k.
    pub(super) fn below_of(&self, k: usize) -> &[f64] {
        let len = below_len(self.dim());
        &self.below[k * len..][..len]
    }
}

/// The noise of [`POINTS`] points from `at` on, transposed to point by point.
fn turn(normal: &Batch, at: usize, turned: &mut [f64]) {
    let dim = normal.dim();
    for i in 0..dim {
        for (p, e) in normal.padded_row(i)[at..at + POINTS].iter().enumerate() {
            turned[p * dim + i] = *e;
        }
    }
}
