//! Adam (Kingma and Ba 2015): m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 − β₂) g²,
//! θ ← θ − η m̂/(√v̂ + ε) with m̂ = m/(1 − β₁ⁿ), v̂ = v/(1 − β₂ⁿ) at update n.

use super::lanes::{Elementwise, run};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// Running mean of gradients divided by their root mean square, both corrected for their start at
/// 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// β₁, the decay of the running mean.
    pub beta1: f64,
    /// β₂, the decay of the running mean square.
    pub beta2: f64,
    /// ε, added to the root mean square.
    pub epsilon: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl Adam {
    pub(super) fn check(&self) -> crate::Result<()> {
        super::check_decay("beta1", self.beta1)?;
        super::check_decay("beta2", self.beta2)?;
        super::check_epsilon(self.epsilon)
    }

    /// Update number `n`, from 1.
    pub(super) fn update(
        self,
        params: &mut [f64],
        gradient: &[f64],
        m: &mut [f64],
        v: &mut [f64],
        rate: f64,
        n: u64,
    ) {
        let correction = |beta: f64| 1.0 - beta.powf(n as f64);
        let rate = rate / correction(self.beta1);
        let root = correction(self.beta2).sqrt();
        run(Step { settings: self, rate, inverse_root: 1.0 / root }, params, gradient, [m, v]);
    }
}

#[derive(Clone, Copy)]
struct Step {
    settings: Adam,
    /// η/(1 − β₁ⁿ)
    rate: f64,
    /// 1/√(1 − β₂ⁿ)
    inverse_root: f64,
}

impl Elementwise<2> for Step {
    #[inline(always)]
    fn apply<S: Simd>(
        self,
        simd: S,
        param: F64<S>,
        g: F64<S>,
        [m, v]: [F64<S>; 2],
    ) -> (F64<S>, [F64<S>; 2]) {
        let splat = |value| F64::<S>::splat(simd, value);
        let Adam { beta1, beta2, epsilon } = self.settings;
        let m = m.mul_add(splat(beta1), splat(1.0 - beta1) * g);
        let v = v.mul_add(splat(beta2), splat(1.0 - beta2) * g * g);
        // ε is added outside the root and after the correction, as in PyTorch.
        let denominator = v.sqrt().mul_add(splat(self.inverse_root), splat(epsilon));
        ((m / denominator).neg_mul_add(splat(self.rate), param), [m, v])
    }
}
