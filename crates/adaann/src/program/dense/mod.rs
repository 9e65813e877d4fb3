//! Dense routines: functions of many values with many results, each run as one instruction over a
//! block.
//!
//! A *triangle* is the lower triangle of a matrix, row by row and with its diagonal; it determines
//! a symmetric matrix. The slope of a symmetric matrix in an off-diagonal element covers both
//! positions of the element. A matrix that is not positive definite has NaN factors.
//!
//! A routine runs over the block of samples in groups of one register, so that every number of a
//! matrix is a register of samples. Sums are tiles of 4 by 4.

mod cholesky;
mod covariance;
mod factor;
mod multi_normal;
mod product;
mod square;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use covariance::{Covariance, CovarianceKind};
pub(super) use values::{UNREAD, Values};
pub(crate) use values::{in_triangle, triangle};

use crate::batch::Block;
use crate::simd::{Kernel, dispatch};
use fearless_simd::Simd;
use std::sync::Arc;

/// The function that a routine computes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Dense {
    /// Maps the triangle of A to that of L with L Lᵀ = A.
    Cholesky { n: usize },
    /// Maps the triangles of L and of its slopes to slopes in A.
    CholeskyBack { n: usize },
    /// Maps residuals and the triangle of a covariance to the log density, followed by its slopes.
    MultiNormal { n: usize },
    /// Maps L, a triangle, and x to L x.
    LowerTimes { n: usize },
    /// Maps L, x and slopes in L x to slopes in L and in x.
    LowerTimesBack { n: usize },
    /// Maps the settings of a covariance function to its values at some distances.
    Covariance(Arc<Covariance>),
    /// Maps settings, values and slopes in these to slopes in the settings.
    CovarianceBack(Arc<Covariance>),
}

impl Dense {
    /// The number of operands.
    pub(super) fn inputs(&self) -> usize {
        match self {
            Self::Cholesky { n } => triangle(*n),
            Self::CholeskyBack { n } => 2 * triangle(*n),
            Self::MultiNormal { n } | Self::LowerTimes { n } => n + triangle(*n),
            Self::LowerTimesBack { n } => 2 * n + triangle(*n),
            Self::Covariance(of) => of.settings(),
            Self::CovarianceBack(of) => of.settings() + 2 * of.distances(),
        }
    }

    /// The number of results.
    pub(super) fn outputs(&self) -> usize {
        match self {
            Self::Cholesky { n } | Self::CholeskyBack { n } => triangle(*n),
            Self::MultiNormal { n } => 1 + n + triangle(*n),
            Self::LowerTimes { n } => *n,
            Self::LowerTimesBack { n } => n + triangle(*n),
            Self::Covariance(of) => of.distances(),
            Self::CovarianceBack(of) => of.settings(),
        }
    }

    /// The number of scratch blocks.
    pub(super) fn scratch(&self) -> usize {
        match self {
            Self::Cholesky { n } => square::blocks(*n, 1),
            Self::CholeskyBack { n } => square::blocks(*n, 2),
            Self::MultiNormal { n } => square::blocks(*n, 1),
            Self::LowerTimes { .. } | Self::LowerTimesBack { .. } => 0,
            Self::Covariance(_) | Self::CovarianceBack(_) => 0,
        }
    }

    /// Runs over a block of samples.
    #[inline(never)]
    pub(super) fn run<S: Simd>(&self, simd: S, values: Values<'_>, scratch: &mut [Block]) {
        simd.vectorize(
            #[inline(always)]
            move || match self {
                Self::Cholesky { n } => cholesky::forward(simd, *n, values, scratch),
                Self::CholeskyBack { n } => cholesky::backward(simd, *n, values, scratch),
                Self::MultiNormal { n } => multi_normal::run(simd, *n, values, scratch),
                Self::LowerTimes { n } => product::forward(simd, *n, values),
                Self::LowerTimesBack { n } => product::backward(simd, *n, values),
                Self::Covariance(of) => of.forward(simd, values),
                Self::CovarianceBack(of) => of.backward(simd, values),
            },
        );
    }

    /// The results for plain numbers, as for one sample.
    pub(super) fn of(&self, inputs: &[f64]) -> Vec<f64> {
        let (first_output, width) = (inputs.len(), self.outputs());
        let mut slots = vec![[0.0; crate::batch::PAD]; first_output + width + self.scratch()];
        for (slot, &input) in slots.iter_mut().zip(inputs) {
            slot.fill(input);
        }
        let (slots, scratch) = slots.split_at_mut(first_output + width);
        let places: Vec<u32> = (0..slots.len() as u32).collect();
        let (inputs, outputs) = places.split_at(first_output);
        dispatch(Fold {
            routine: self,
            values: Values { slots, samples: 1, inputs, outputs },
            scratch,
        });
        slots[first_output..].iter().map(|block| block[0]).collect()
    }
}

struct Fold<'a> {
    routine: &'a Dense,
    values: Values<'a>,
    scratch: &'a mut [Block],
}

impl Kernel for Fold<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.routine.run(simd, self.values, self.scratch);
    }
}
