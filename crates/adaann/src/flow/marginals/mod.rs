//! Maps each coordinate separately to a mixture of normals: x = F⁻¹(Φ(z)).
//!
//! It turns a standard normal into independent coordinates with any number of humps: a product with 2^d
//! modes needs 2 d components. Raw parameters of 0 give the identity.

mod gradient;
mod lanes;
#[cfg(test)]
mod tests;

use super::{Parameter, Stack, Weights};
use crate::{
    Batch,
    simd::{HALF_LN_TAU, dispatch},
    weight::log_sum_exp,
};
use gradient::Pull;
use lanes::{Hump, Pass, Way};

/// The map in `dim` dimensions.
///
/// The tape holds the points on both sides, first z and then x, so that neither direction is recomputed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marginals {
    dim: usize,
    components: usize,
}

impl Marginals {
    pub(crate) fn new(dim: usize, components: usize) -> Self {
        Self { dim, components }
    }

    /// The index of a parameter of component `c` of coordinate `d`: its logit, mean or log standard
    /// deviation.
    pub(crate) fn place(self, block: usize, d: usize, c: usize) -> usize {
        (block * self.dim + d) * self.components + c
    }

    /// All components, coordinate by coordinate.
    fn humps(self, parameters: &[f64]) -> Vec<Hump> {
        let at = |block: usize, d: usize, c: usize| parameters[self.place(block, d, c)];
        let law = |d: usize| {
            let total = log_sum_exp((0..self.components).map(|c| at(0, d, c)));
            (0..self.components).map(move |c| {
                let (log_weight, mean, log_sd) = (at(0, d, c) - total, at(1, d, c), at(2, d, c));
                let log_height = log_weight - log_sd - HALF_LN_TAU;
                Hump { log_weight, mean, sd: log_sd.exp(), per_sd: (-log_sd).exp(), log_height }
            })
        };
        (0..self.dim).flat_map(law).collect()
    }

    /// Moves points in one direction, and stores both sides.
    fn pass(
        self,
        way: Way,
        weights: Weights,
        points: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let humps = self.humps(weights.parameters);
        let start = tape.is_some().then(|| points.clone());
        dispatch(Pass { way, humps: &humps, points: &mut *points, log_det });
        if let (Some(tape), Some(start)) = (tape, start) {
            let (z, x) = match way {
                Way::OfNormal => (&start, &*points),
                Way::ToNormal => (&*points, &start),
            };
            let (before, after) = tape.split_at_mut(self.dim * points.padded_len());
            for d in 0..self.dim {
                let row = d * points.padded_len();
                before[row..][..points.len()].copy_from_slice(&z.row(d)[..points.len()]);
                after[row..][..points.len()].copy_from_slice(&x.row(d)[..points.len()]);
            }
        }
    }

    /// Pulls gradients of one direction back to the points it started from.
    fn pull(
        self,
        way: Way,
        weights: Weights,
        (points, g): (&mut Batch, &mut Batch),
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        let (humps, padded) = (self.humps(weights.parameters), points.padded_len());
        let (before, after) = tape.split_at(self.dim * padded);
        for d in 0..self.dim {
            let law = &humps[d * self.components..][..self.components];
            for i in 0..points.len() {
                let (z, x) = (before[d * padded + i], after[d * padded + i]);
                let pull = Pull::new(law, z, x);
                let (g_here, k) = (g.row(d)[i], g_log_det[i]);
                // The cotangent of the image that the parameters see; negated in the inverse direction.
                let (g_image, g_start) = match way {
                    Way::OfNormal => (g_here, pull.to_start(g_here, k)),
                    Way::ToNormal => {
                        let image = pull.to_image(g_here, k);
                        (-image, image)
                    }
                };
                g.row_mut(d)[i] = g_start;
                points.row_mut(d)[i] = if way == Way::OfNormal { z } else { x };
                for c in 0..self.components {
                    let parts = pull.parameters(&law[c], g_image, k);
                    for (block, part) in parts.into_iter().enumerate() {
                        sums[self.place(block, d, c)] += part;
                    }
                }
            }
        }
    }
}

impl Stack for Marginals {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        let shape = [self.dim, self.components];
        ["logits", "means", "log_sds"].map(|name| Parameter::new(name, &shape)).to_vec()
    }

    fn derived_len(&self) -> usize {
        0
    }

    fn prepare(&self, _: &[f64], _: &mut [f64]) {}

    fn tape_len(&self, padded_points: usize) -> usize {
        2 * self.dim * padded_points
    }

    fn sums_len(&self) -> usize {
        self.parameter_len()
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(Way::OfNormal, weights, z, log_det, tape);
    }

    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        self.pull(Way::OfNormal, weights, (z, g_z), g_log_det, tape, sums);
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(Way::ToNormal, weights, z, log_det, tape);
    }

    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        self.pull(Way::ToNormal, weights, (z, g_z), g_log_det, tape, sums);
    }

    fn gradient(&self, _: &[f64], _: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        gradient.copy_from_slice(sums);
    }
}
