//! The map that shifts and scales each coordinate: z ← shift + exp(log_scale) z.

use super::{
    Parameter, Stack, Weights,
    rows::{add_to_all, add_up},
};
use crate::{
    Batch, Result, error,
    simd::{self, F64, Kernel, Lane},
};
use fearless_simd::Simd;

/// A shift and a positive scale for each coordinate.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    dim: usize,
}

impl Affine {
    /// The map in `dim` dimensions.
    pub(super) fn new(dim: usize) -> Result<Self> {
        error::at_least_one("dim", dim)?;
        Ok(Self { dim })
    }

    fn map<'a>(&self, weights: Weights<'a>) -> Map<'a> {
        let (scale, per_scale) = weights.derived[..2 * self.dim].split_at(self.dim);
        Map { shift: &weights.parameters[..self.dim], scale, per_scale }
    }

    /// log det, the same for all points.
    fn log_det(&self, weights: Weights) -> f64 {
        weights.derived[2 * self.dim]
    }
}

impl Stack for Affine {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::new("shift", &[self.dim]), Parameter::new("log_scale", &[self.dim])]
    }

    fn derived_len(&self) -> usize {
        // The scales, their reciprocals, and the log-determinant.
        2 * self.dim + 1
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        let log_scale = &parameters[self.dim..2 * self.dim];
        for (d, x) in log_scale.iter().enumerate() {
            derived[d] = x.exp();
            derived[self.dim + d] = (-x).exp();
        }
        derived[2 * self.dim] = log_scale.iter().sum();
    }

    fn tape_len(&self, _: usize) -> usize {
        0
    }

    fn forward(&self, weights: Weights, z: &mut Batch, log_det: &mut [f64], _: Option<&mut [f64]>) {
        add_to_all(self.log_det(weights), &mut log_det[..z.len()]);
        simd::dispatch(Forward { map: self.map(weights), z });
    }

    fn sums_len(&self) -> usize {
        // Shifts, log scales, and the log-determinant, which all log scales share.
        (2 * self.dim + 1) * simd::doubles_per_register()
    }

    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        _: &[f64],
        sums: &mut [f64],
    ) {
        simd::dispatch(Backward { map: self.map(weights), z, g_z, g_log_det, sums });
    }

    fn inverse(&self, weights: Weights, z: &mut Batch, log_det: &mut [f64], _: Option<&mut [f64]>) {
        add_to_all(self.log_det(weights), &mut log_det[..z.len()]);
        simd::dispatch(Inverse { map: self.map(weights), z });
    }

    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        _: &[f64],
        sums: &mut [f64],
    ) {
        simd::dispatch(BackwardInverse { map: self.map(weights), z, g_z, g_log_det, sums });
    }

    fn gradient(&self, _: &[f64], _: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        let lanes = simd::doubles_per_register();
        let sum = |number: usize| sums[number * lanes..][..lanes].iter().sum::<f64>();
        let g_log_det = sum(2 * self.dim);
        for d in 0..self.dim {
            gradient[d] = sum(d);
            gradient[self.dim + d] = sum(self.dim + d) + g_log_det;
        }
    }
}

/// The parameters of the map, one per coordinate.
#[derive(Clone, Copy)]
struct Map<'a> {
    shift: &'a [f64],
    scale: &'a [f64],
    per_scale: &'a [f64],
}

struct Forward<'a> {
    map: Map<'a>,
    z: &'a mut Batch,
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for d in 0..self.z.dim() {
            let shift = F64::splat(simd, self.map.shift[d]);
            let scale = F64::splat(simd, self.map.scale[d]);
            let len = self.z.len();
            let row = self.z.padded_row_mut(d);
            for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
                scale.mul_add(F64::load(simd, &row[at..]), shift).store(&mut row[at..]);
            }
        }
    }
}

struct Inverse<'a> {
    map: Map<'a>,
    z: &'a mut Batch,
}

impl Kernel for Inverse<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for d in 0..self.z.dim() {
            let shift = F64::splat(simd, self.map.shift[d]);
            let per_scale = F64::splat(simd, self.map.per_scale[d]);
            let len = self.z.len();
            let row = self.z.padded_row_mut(d);
            for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
                ((F64::load(simd, &row[at..]) - shift) * per_scale).store(&mut row[at..]);
            }
        }
    }
}

/// The log scale receives g (x − shift), where g and x belong to the image. This avoids a division
/// by the scale.
struct Backward<'a> {
    map: Map<'a>,
    z: &'a mut Batch,
    g_z: &'a mut Batch,
    g_log_det: &'a [f64],
    sums: &'a mut [f64],
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (dim, len) = (self.z.dim(), self.z.len());
        let lanes = <F64<S> as Lane<S>>::LEN;
        for d in 0..dim {
            let shift = F64::splat(simd, self.map.shift[d]);
            let scale = F64::splat(simd, self.map.scale[d]);
            let per_scale = F64::splat(simd, self.map.per_scale[d]);
            let (row, g_row) = (self.z.padded_row_mut(d), self.g_z.padded_row_mut(d));
            let mut g_shift = F64::splat(simd, 0.0);
            let mut g_log_scale = g_shift;
            for at in (0..len).step_by(lanes) {
                let offset = F64::load(simd, &row[at..]) - shift;
                let g = F64::load(simd, &g_row[at..]);
                g_shift = g_shift + g;
                g_log_scale = g.mul_add(offset, g_log_scale);
                (offset * per_scale).store(&mut row[at..]);
                (g * scale).store(&mut g_row[at..]);
            }
            g_shift.accumulate_f64(&mut self.sums[d * lanes..]);
            g_log_scale.accumulate_f64(&mut self.sums[(dim + d) * lanes..]);
        }
        let g_log_det = add_up(simd, self.g_log_det, len);
        g_log_det.accumulate_f64(&mut self.sums[2 * dim * lanes..]);
    }
}

/// g = ḡ/scale for the image; the shift receives −g and the log scale −g scale z = −ḡ z.
struct BackwardInverse<'a> {
    map: Map<'a>,
    z: &'a mut Batch,
    g_z: &'a mut Batch,
    g_log_det: &'a [f64],
    sums: &'a mut [f64],
}

impl Kernel for BackwardInverse<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (dim, len) = (self.z.dim(), self.z.len());
        let lanes = <F64<S> as Lane<S>>::LEN;
        for d in 0..dim {
            let shift = F64::splat(simd, self.map.shift[d]);
            let scale = F64::splat(simd, self.map.scale[d]);
            let per_scale = F64::splat(simd, self.map.per_scale[d]);
            let (row, g_row) = (self.z.padded_row_mut(d), self.g_z.padded_row_mut(d));
            let mut g_shift = F64::splat(simd, 0.0);
            let mut g_log_scale = g_shift;
            for at in (0..len).step_by(lanes) {
                let z = F64::load(simd, &row[at..]);
                let g_base = F64::load(simd, &g_row[at..]);
                let g = g_base * per_scale;
                g_shift = g_shift - g;
                g_log_scale = g_base.neg_mul_add(z, g_log_scale);
                scale.mul_add(z, shift).store(&mut row[at..]);
                g.store(&mut g_row[at..]);
            }
            g_shift.accumulate_f64(&mut self.sums[d * lanes..]);
            g_log_scale.accumulate_f64(&mut self.sums[(dim + d) * lanes..]);
        }
        let g_log_det = add_up(simd, self.g_log_det, len);
        g_log_det.accumulate_f64(&mut self.sums[2 * dim * lanes..]);
    }
}
