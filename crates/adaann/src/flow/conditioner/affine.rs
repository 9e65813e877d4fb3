//! y = x eˢ + t, with s and t from the conditioner.

use super::{Curve, outputs::Setting};
use crate::{
    net::Row,
    simd::{F64, Lane, Math},
};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// How s is bounded, so that a layer cannot stretch by more than a network can learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleMap {
    /// s = tanh of the network's output: a layer stretches by at most e.
    #[default]
    TanhOutput,
    /// tanh replaces the activation of the last hidden layer, and s is a linear map of it: bounded
    /// by the weights, which training may move.
    TanhHidden,
}

/// The curve.
#[derive(Debug, Clone, Copy)]
pub(in crate::flow) struct Affine {
    pub(in crate::flow) scale: ScaleMap,
}

const S: usize = 0;
const T: usize = 1;

impl Curve for Affine {
    fn outputs(&self) -> usize {
        2
    }

    #[inline(always)]
    fn settle<L: Simd>(&self, simd: L, outputs: &mut Setting<&mut [Row]>) {
        if self.scale == ScaleMap::TanhOutput {
            let s: F64<L> = outputs.get(simd, S);
            outputs.set(S, s.tanh());
        }
    }

    #[inline(always)]
    fn apply<L: Simd>(&self, simd: L, outputs: &Setting<&[Row]>, x: F64<L>) -> (F64<L>, F64<L>) {
        let s = outputs.get(simd, S);
        (x.mul_add(s.exp(), outputs.get(simd, T)), s)
    }

    #[inline(always)]
    fn solve<L: Simd>(&self, simd: L, outputs: &Setting<&[Row]>, y: F64<L>) -> (F64<L>, F64<L>) {
        let s = outputs.get(simd, S);
        ((y - outputs.get(simd, T)) * (-s).exp(), s)
    }

    #[inline(always)]
    fn pull_back<L: Simd>(
        &self,
        simd: L,
        outputs: &Setting<&[Row]>,
        x: F64<L>,
        g_y: F64<L>,
        g_log_slope: F64<L>,
        g_outputs: &mut Setting<&mut [Row]>,
    ) -> F64<L> {
        let s = outputs.get(simd, S);
        let g_x = g_y * s.exp();
        let g_s = g_x.mul_add(x, g_log_slope);
        g_outputs.set(T, g_y);
        g_outputs.set(
            S,
            match self.scale {
                ScaleMap::TanhOutput => g_s * s.neg_mul_add(s, F64::splat(simd, 1.0)),
                ScaleMap::TanhHidden => g_s,
            },
        );
        g_x
    }

    #[inline(always)]
    fn push<L: Simd>(
        &self,
        simd: L,
        outputs: &Setting<&[Row]>,
        _: F64<L>,
        g_x: F64<L>,
        _: F64<L>,
    ) -> F64<L> {
        let s = outputs.get(simd, S);
        g_x * (-s).exp()
    }
}
