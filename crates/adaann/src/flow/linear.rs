//! Linear maps as products of triangular factors, whose determinants and inverses cost no more than
//! the map itself.
//!
//! A diagonal is the exponential of raw parameters; the other entries are raw parameters. Raw
//! parameters of 0 give the identity.

use super::{
    Parameter, Stack, Weights,
    rows::{add_to_all, add_up},
    triangle::{Multiply, Outer, Solve, Triangle, packed_len},
};
use crate::{
    Batch, Result, error,
    simd::{self, F64, Kernel, Lane},
};
use fearless_simd::Simd;
use std::ops::Range;

/// The triangular factors of a [`Linear`] map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// z ← shift + L z, L lower triangular: maps a standard normal to any normal.
    Lower,
    /// z ← L U z, with L unit lower triangular and U upper triangular: the invertible map of Glow
    /// (Kingma and Dhariwal 2018), without the permutation.
    Lu,
}

/// A factor of the shape; its off-diagonal entries are one block of the parameters.
#[derive(Debug, Clone, Copy)]
struct Factor {
    name: &'static str,
    upper: bool,
    /// True if it carries the diagonal, false if its diagonal is ones.
    diagonal: bool,
}

impl Shape {
    /// The factors in the order in which they are applied.
    fn factors(self) -> &'static [Factor] {
        match self {
            Self::Lower => &[Factor { name: "lower", upper: false, diagonal: true }],
            Self::Lu => &[
                Factor { name: "upper", upper: true, diagonal: true },
                Factor { name: "lower", upper: false, diagonal: false },
            ],
        }
    }
}

/// A linear map with triangular factors.
///
/// The flat parameter vector holds the log diagonal, the factors' entries, and the shift if the map
/// has one. The sums have one register per parameter and one for the log-determinant. The tape
/// holds the points before each factor.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    dim: usize,
    shape: Shape,
}

impl Linear {
    /// The map in `dim` dimensions.
    pub(super) fn new(dim: usize, shape: Shape) -> Result<Self> {
        error::at_least_one("dim", dim)?;
        Ok(Self { dim, shape })
    }

    /// The parameter range of factor `f`.
    fn entries(&self, f: usize) -> Range<usize> {
        let first = self.dim + f * packed_len(self.dim);
        first..first + packed_len(self.dim)
    }

    /// The parameter range of the shift.
    fn shift(&self) -> Option<Range<usize>> {
        let end = self.entries(self.shape.factors().len() - 1).end;
        (self.shape == Shape::Lower).then_some(end..end + self.dim)
    }

    fn triangle<'a>(&self, weights: Weights<'a>, f: usize) -> Triangle<'a> {
        let factor = self.shape.factors()[f];
        let (diagonal, per_diagonal) = weights.derived[..2 * self.dim].split_at(self.dim);
        Triangle {
            upper: factor.upper,
            entries: &weights.parameters[self.entries(f)],
            diagonal: factor.diagonal.then_some([diagonal, per_diagonal]),
        }
    }

    /// z ← z + sign · shift
    fn translate(&self, weights: Weights, sign: f64, z: &mut Batch) {
        if let Some(shift) = self.shift() {
            for (row, shift) in z.padded_rows_mut().zip(&weights.parameters[shift]) {
                add_to_all(sign * shift, row);
            }
        }
    }

    fn add_log_det(&self, weights: Weights, z: &Batch, log_det: &mut [f64]) {
        add_to_all(weights.derived[2 * self.dim], &mut log_det[..z.len()]);
    }

    /// Adds the gradient of factor `f`, times `sign`, to the sums. z is the input of the factor and
    /// g the cotangent of its output.
    fn add_outer(&self, f: usize, sign: f64, z: &Batch, g: &Batch, sums: &mut [f64]) {
        let lanes = simd::doubles_per_register();
        let factor = self.shape.factors()[f];
        let (diagonal, entries) = sums.split_at_mut(self.dim * lanes);
        let first = (self.entries(f).start - self.dim) * lanes;
        simd::dispatch(Outer {
            upper: factor.upper,
            sign,
            z,
            g,
            entries: &mut entries[first..][..packed_len(self.dim) * lanes],
            diagonal: factor.diagonal.then_some(diagonal),
        });
    }

    /// Adds the gradients of the shift, times `sign`, and of the log-determinant to the sums.
    fn add_rows(&self, sign: f64, g: &Batch, g_log_det: &[f64], sums: &mut [f64]) {
        let shift = self.shift().map(|shift| shift.start);
        simd::dispatch(AddRows { sign, g, g_log_det, shift, log_det: self.parameter_len(), sums });
    }
}

/// Copies points to stretch `f` of a tape.
fn keep(z: &Batch, f: usize, tape: &mut [f64]) {
    let len = z.padded_len();
    for d in 0..z.dim() {
        tape[(f * z.dim() + d) * len..][..len].copy_from_slice(z.padded_row(d));
    }
}

/// Copies points from stretch `f` of a tape.
fn restore(z: &mut Batch, f: usize, tape: &[f64]) {
    let len = z.padded_len();
    for d in 0..z.dim() {
        let kept = &tape[(f * z.dim() + d) * len..][..len];
        z.padded_row_mut(d).copy_from_slice(kept);
    }
}

impl Stack for Linear {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut blocks = vec![Parameter::new("log_diagonal", &[self.dim])];
        for factor in self.shape.factors() {
            blocks.push(Parameter::new(factor.name, &[packed_len(self.dim)]));
        }
        if self.shift().is_some() {
            blocks.push(Parameter::new("shift", &[self.dim]));
        }
        blocks
    }

    fn derived_len(&self) -> usize {
        // The diagonal, the reciprocals of its entries, and the log-determinant.
        2 * self.dim + 1
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        let log_diagonal = &parameters[..self.dim];
        for (d, x) in log_diagonal.iter().enumerate() {
            derived[d] = x.exp();
            derived[self.dim + d] = (-x).exp();
        }
        derived[2 * self.dim] = log_diagonal.iter().sum();
    }

    fn tape_len(&self, padded_points: usize) -> usize {
        self.shape.factors().len() * self.dim * padded_points
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        mut tape: Option<&mut [f64]>,
    ) {
        for f in 0..self.shape.factors().len() {
            if let Some(tape) = &mut tape {
                keep(z, f, tape);
            }
            simd::dispatch(Multiply { triangle: self.triangle(weights, f), z });
        }
        self.translate(weights, 1.0, z);
        self.add_log_det(weights, z, log_det);
    }

    fn sums_len(&self) -> usize {
        (self.parameter_len() + 1) * simd::doubles_per_register()
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
        self.add_rows(1.0, g_z, g_log_det, sums);
        for f in (0..self.shape.factors().len()).rev() {
            restore(z, f, tape);
            self.add_outer(f, 1.0, z, g_z, sums);
            let triangle = self.triangle(weights, f).transposed();
            simd::dispatch(Multiply { triangle, z: g_z });
        }
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        mut tape: Option<&mut [f64]>,
    ) {
        self.translate(weights, -1.0, z);
        for f in (0..self.shape.factors().len()).rev() {
            simd::dispatch(Solve { triangle: self.triangle(weights, f), z });
            if let Some(tape) = &mut tape {
                keep(z, f, tape);
            }
        }
        self.add_log_det(weights, z, log_det);
    }

    /// The log-determinant does not depend on the points, so g = T⁻ᵀ ḡ for each factor T, whose
    /// gradient is −g zᵀ.
    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        let factors = self.shape.factors().len();
        for f in 0..factors {
            restore(z, f, tape);
            let triangle = self.triangle(weights, f).transposed();
            simd::dispatch(Solve { triangle, z: g_z });
            self.add_outer(f, -1.0, z, g_z, sums);
        }
        simd::dispatch(Multiply { triangle: self.triangle(weights, factors - 1), z });
        self.translate(weights, 1.0, z);
        self.add_rows(-1.0, g_z, g_log_det, sums);
    }

    fn gradient(&self, _: &[f64], derived: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        let lanes = simd::doubles_per_register();
        let sum = |number: usize| sums[number * lanes..][..lanes].iter().sum::<f64>();
        let g_log_det = sum(gradient.len());
        for d in 0..self.dim {
            gradient[d] = derived[d] * sum(d) + g_log_det;
        }
        for number in self.dim..gradient.len() {
            gradient[number] = sum(number);
        }
    }

    fn parameter_len(&self) -> usize {
        let factors = self.shape.factors().len();
        self.shift().map_or(self.entries(factors - 1).end, |shift| shift.end)
    }
}

/// Sums the gradients of the shift and the log-determinant over the points.
struct AddRows<'a> {
    sign: f64,
    g: &'a Batch,
    g_log_det: &'a [f64],
    /// The indices of their registers.
    shift: Option<usize>,
    log_det: usize,
    sums: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (lanes, len) = (<F64<S> as Lane<S>>::LEN, self.g.len());
        let g_log_det = add_up(simd, self.g_log_det, len);
        g_log_det.accumulate_f64(&mut self.sums[self.log_det * lanes..]);
        if let Some(shift) = self.shift {
            for d in 0..self.g.dim() {
                let sum = F64::splat(simd, self.sign) * add_up(simd, self.g.padded_row(d), len);
                sum.accumulate_f64(&mut self.sums[(shift + d) * lanes..]);
            }
        }
    }
}
