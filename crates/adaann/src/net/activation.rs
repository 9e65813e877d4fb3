//! Activations of hidden units, and their slopes.

use super::{GROUP, Records, tile::Row};
use crate::simd::{F64, Kernel, Lane, Math};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The activation of hidden units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// max(x, 0)
    Relu,
    /// tanh x
    Tanh,
    /// x/(1 + e⁻ˣ)
    #[default]
    Silu,
}

impl Activation {
    /// Number of row blocks that a hidden layer leaves on the tape: values, and slopes unless they
    /// follow from the values.
    pub(super) fn blocks(self) -> usize {
        if self == Self::Silu { 2 } else { 1 }
    }
}

/// Applies the activation to rows in place; the slopes of SiLU go to the block after the values.
pub(super) struct Activate<'a> {
    pub(super) activation: Activation,
    pub(super) rows: Range<usize>,
    /// The first row of the values in a record, and the number of units.
    pub(super) place: (usize, usize),
    pub(super) records: Records,
    pub(super) tape: &'a mut [Row],
}

impl Kernel for Activate<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (at, units) = self.place;
        for group in 0..self.records.groups() {
            let record = &mut self.tape[group * self.records.rows..][..self.records.rows];
            let (values, slopes) = record[at..].split_at_mut(units);
            for i in self.rows.clone() {
                for n in (0..GROUP).step_by(<F64<S> as Lane<S>>::LEN) {
                    let x = F64::load(simd, &values[i][n..]);
                    match self.activation {
                        Activation::Relu => x.max(F64::splat(simd, 0.0)).store(&mut values[i][n..]),
                        Activation::Tanh => x.tanh().store(&mut values[i][n..]),
                        Activation::Silu => {
                            let one = F64::splat(simd, 1.0);
                            let sigmoid = one / (one + (-x).exp());
                            (x * sigmoid).store(&mut values[i][n..]);
                            // σ (1 + x (1 − σ))
                            let slope = sigmoid * x.mul_add(one - sigmoid, one);
                            slope.store(&mut slopes[i][n..]);
                        }
                    }
                }
            }
        }
    }
}

/// Multiplies the cotangents of activated units by the slopes.
pub(super) struct Slope<'a> {
    pub(super) activation: Activation,
    pub(super) rows: Range<usize>,
    pub(super) place: (usize, usize),
    pub(super) records: Records,
    pub(super) tape: &'a [Row],
    pub(super) cotangents: &'a mut [Row],
}

impl Kernel for Slope<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (at, units) = self.place;
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        for group in 0..self.records.groups() {
            let record = group * self.records.rows + at;
            let (values, cotangents) = (&self.tape[record..], &mut self.cotangents[record..]);
            for i in self.rows.clone() {
                for n in (0..GROUP).step_by(<F64<S> as Lane<S>>::LEN) {
                    let h = F64::load(simd, &values[i][n..]);
                    let slope = match self.activation {
                        Activation::Relu => F64::select(zero.lt(h), one, zero),
                        Activation::Tanh => h.neg_mul_add(h, one),
                        Activation::Silu => F64::load(simd, &values[units + i][n..]),
                    };
                    let g = &mut cotangents[i][n..];
                    (slope * F64::load(simd, g)).store(g);
                }
            }
        }
    }
}
