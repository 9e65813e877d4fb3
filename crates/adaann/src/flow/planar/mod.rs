//! Planar flows: each layer moves points along one direction, by an amount that depends on their
//! projection on another (Rezende and Mohamed 2015).
//!
//! A layer has raw parameters w, u in R^d and b. The layer uses û, the vector nearest to u along w
//! that keeps û·w > −1 and so makes the layer invertible:
//!
//! û = u + (c − 1 − w·u) w/|w|², c = log(1 + (e − 1) exp(w·u)), so that û·w = c − 1.
//!
//! At u = 0 the layer is the identity.
//!
//! The tape stores one number for each layer and point: h' and the determinant follow from h, and z
//! follows from z + u h by subtraction.

mod activation;
mod inverse;
mod kernel;
mod parameters;

pub use activation::Activation;

use super::{Parameter, Precision, Stack, Weights, check_size};
use crate::{Batch, Result, simd};
use activation::{Algebraic, Curve, Tanh};
use std::marker::PhantomData;

/// A stack of planar layers.
#[derive(Debug, Clone)]
pub(super) struct Planar {
    dim: usize,
    layers: usize,
    activation: Activation,
    precision: Precision,
}

impl Planar {
    /// A stack of `layers` layers in `dim` dimensions.
    pub(super) fn new(
        dim: usize,
        layers: usize,
        activation: Activation,
        precision: Precision,
    ) -> Result<Self> {
        check_size(dim, layers)?;
        Ok(Self { dim, layers, activation, precision })
    }

    /// The prepared numbers, one record per layer, in the order that kernels read them.
    fn records<'a>(&self, derived: &'a [f64]) -> &'a [f64] {
        &derived[..self.layers * kernel::record_len(self.dim)]
    }

    fn forward_with<A: Curve>(
        &self,
        derived: &[f64],
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        simd::dispatch(kernel::Forward::<A> {
            records: self.records(derived),
            single: self.precision == Precision::Single,
            z,
            log_det,
            tape,
            activation: PhantomData,
        });
    }

    fn backward_with<A: Curve>(
        &self,
        derived: &[f64],
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        simd::dispatch(kernel::Backward::<A> {
            records: self.records(derived),
            single: self.precision == Precision::Single,
            z,
            g_z,
            g_log_det,
            tape,
            sums,
            activation: PhantomData,
        });
    }

    /// Always in double precision: Newton's method must converge to f⁻¹ itself.
    fn inverse_with<A: Curve>(
        &self,
        derived: &[f64],
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        simd::dispatch(inverse::Inverse::<A> {
            records: self.records(derived),
            z,
            log_det,
            tape,
            activation: PhantomData,
        });
    }

    fn backward_inverse_with<A: Curve>(
        &self,
        derived: &[f64],
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        simd::dispatch(inverse::BackwardInverse::<A> {
            records: self.records(derived),
            z,
            g_z,
            g_log_det,
            tape,
            sums,
            sum_lanes: self.sum_lanes(),
            activation: PhantomData,
        });
    }

    /// Doubles per register of sums: the number of lanes in the chosen precision.
    fn sum_lanes(&self) -> usize {
        simd::doubles_per_register() * if self.precision == Precision::Single { 2 } else { 1 }
    }
}

impl Stack for Planar {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("w", &[self.dim, self.layers]),
            Parameter::new("u", &[self.dim, self.layers]),
            Parameter::new("b", &[self.layers]),
        ]
    }

    fn derived_len(&self) -> usize {
        self.layers * kernel::record_len(self.dim) + parameters::scratch_len(self.dim, self.layers)
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        let (records, scratch) = derived.split_at_mut(self.layers * kernel::record_len(self.dim));
        simd::dispatch(parameters::Prepare {
            dim: self.dim,
            layers: self.layers,
            smallest_c: match self.precision {
                Precision::Double => 1e-304,
                Precision::Single => 1e-30,
            },
            parameters,
            records,
            scratch,
        });
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
        match self.activation {
            Activation::Tanh => self.forward_with::<Tanh>(weights.derived, z, log_det, tape),
            Activation::Algebraic => {
                self.forward_with::<Algebraic>(weights.derived, z, log_det, tape)
            }
        }
    }

    fn sums_len(&self) -> usize {
        self.layers * kernel::record_len(self.dim) * self.sum_lanes()
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
        match self.activation {
            Activation::Tanh => {
                self.backward_with::<Tanh>(weights.derived, z, g_z, g_log_det, tape, sums)
            }
            Activation::Algebraic => {
                self.backward_with::<Algebraic>(weights.derived, z, g_z, g_log_det, tape, sums);
            }
        }
    }

    fn gradient(&self, _: &[f64], derived: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        let scratch = &mut derived[self.layers * kernel::record_len(self.dim)..];
        simd::dispatch(parameters::Gradient {
            dim: self.dim,
            layers: self.layers,
            scratch,
            sum_lanes: self.sum_lanes(),
            sums,
            gradient,
        });
    }

    /// Not in single precision: the inverse computes and stores doubles.
    fn shares_tape(&self) -> bool {
        self.precision == Precision::Double
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        match self.activation {
            Activation::Tanh => self.inverse_with::<Tanh>(weights.derived, z, log_det, tape),
            Activation::Algebraic => {
                self.inverse_with::<Algebraic>(weights.derived, z, log_det, tape);
            }
        }
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
        match self.activation {
            Activation::Tanh => {
                self.backward_inverse_with::<Tanh>(weights.derived, z, g_z, g_log_det, tape, sums);
            }
            Activation::Algebraic => self.backward_inverse_with::<Algebraic>(
                weights.derived,
                z,
                g_z,
                g_log_det,
                tape,
                sums,
            ),
        }
    }
}
