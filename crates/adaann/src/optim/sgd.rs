//! Gradient descent with momentum: v ← μ v + g, θ ← θ − η v.

use super::lanes::{Elementwise, run};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// Gradient descent; plain without momentum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sgd {
    /// μ, the fraction of the previous step that is retained.
    pub momentum: f64,
}

impl Sgd {
    pub(super) fn check(&self) -> crate::Result<()> {
        super::check_decay("momentum", self.momentum)
    }

    pub(super) fn update(self, params: &mut [f64], gradient: &[f64], v: &mut [f64], rate: f64) {
        run(Step { momentum: self.momentum, rate }, params, gradient, [v]);
    }
}

#[derive(Clone, Copy)]
struct Step {
    momentum: f64,
    rate: f64,
}

impl Elementwise<1> for Step {
    #[inline(always)]
    fn apply<S: Simd>(
        self,
        simd: S,
        param: F64<S>,
        g: F64<S>,
        [v]: [F64<S>; 1],
    ) -> (F64<S>, [F64<S>; 1]) {
        let v = v.mul_add(F64::splat(simd, self.momentum), g);
        (v.neg_mul_add(F64::splat(simd, self.rate), param), [v])
    }
}
