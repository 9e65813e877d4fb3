//! Radial flows: each layer pulls points towards a centre or pushes them away (Rezende and
//! Mohamed 2015).
//!
//! z ← z₀ + s (z − z₀) with s = 1 + (c − 1) κ and κ = α/(α + r), r = |z − z₀|, α > 0, c > 0. In the
//! paper's notation β = α (c − 1), and a layer is invertible if β > −α. The raw parameters of α and
//! c pass through the positive map that takes 0 to 1, so that a layer with raw c of 0 is the
//! identity. log det = (d − 1) log s + log e, with e = 1 + (c − 1) κ².

mod kernel;

use super::{Parameter, Stack, Weights, check_size};
use crate::{Batch, Result, batch::padded, simd};

/// A stack of radial layers.
#[derive(Debug, Clone)]
pub(super) struct Radial {
    dim: usize,
    layers: usize,
}

impl Radial {
    /// A stack of `layers` layers in `dim` dimensions.
    pub(super) fn new(dim: usize, layers: usize) -> Result<Self> {
        check_size(dim, layers)?;
        Ok(Self { dim, layers })
    }

    fn records<'a>(&self, derived: &'a [f64]) -> &'a [f64] {
        &derived[..self.layers * kernel::record_len(self.dim)]
    }
}

impl Stack for Radial {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("centre", &[self.dim, self.layers]),
            Parameter::new("alpha", &[self.layers]),
            Parameter::new("c", &[self.layers]),
        ]
    }

    fn derived_len(&self) -> usize {
        // The records, then rows of α and c for the chain rule.
        self.layers * kernel::record_len(self.dim) + 2 * padded(self.layers)
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        let (dim, layers) = (self.dim, self.layers);
        let (records, rows) = derived.split_at_mut(layers * kernel::record_len(dim));
        let (alpha, c) = rows.split_at_mut(padded(layers));
        alpha[..layers].copy_from_slice(&parameters[dim * layers..][..layers]);
        c[..layers].copy_from_slice(&parameters[(dim + 1) * layers..][..layers]);
        simd::dispatch(kernel::MakePositive(alpha));
        simd::dispatch(kernel::MakePositive(c));
        for (l, record) in records.chunks_exact_mut(kernel::record_len(dim)).enumerate() {
            for d in 0..dim {
                record[d] = parameters[d * layers + l];
            }
            record[dim] = alpha[l];
            record[dim + 1] = c[l];
        }
    }

    fn tape_len(&self, padded_points: usize) -> usize {
        self.layers * padded_points
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        simd::dispatch(kernel::Forward {
            records: self.records(weights.derived),
            z,
            log_det,
            tape,
        });
    }

    fn sums_len(&self) -> usize {
        self.layers * kernel::record_len(self.dim) * simd::doubles_per_register()
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
        let records = self.records(weights.derived);
        simd::dispatch(kernel::Backward { records, z, g_z, g_log_det, tape, sums });
    }

    fn gradient(&self, _: &[f64], derived: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        let (dim, layers) = (self.dim, self.layers);
        let rows = &derived[layers * kernel::record_len(dim)..];
        let numbers = kernel::record_len(dim);
        for (i, register) in sums.chunks_exact(simd::doubles_per_register()).enumerate() {
            let (l, number) = (i / numbers, i % numbers);
            let sum: f64 = register.iter().sum();
            // dα/draw = 1 − e^{−α}, and likewise for c.
            let slope = match number.checked_sub(dim) {
                None => 1.0,
                Some(row) => -(-rows[row * padded(layers) + l]).exp_m1(),
            };
            gradient[number * layers + l] = slope * sum;
        }
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let records = self.records(weights.derived);
        simd::dispatch(kernel::Inverse { records, z, log_det, tape });
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
        let records = self.records(weights.derived);
        simd::dispatch(kernel::BackwardInverse { records, z, g_z, g_log_det, tape, sums });
    }
}
