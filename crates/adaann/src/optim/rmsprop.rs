//! RMSProp: v ← α v + (1 − α) g², θ ← θ − η g/(√v + ε).

use super::lanes::{Elementwise, run};
use crate::simd::{F64, Lane};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// Gradients divided by their running root mean square.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RmsProp {
    /// α, the decay of the running mean square.
    pub decay: f64,
    /// ε, added to the root mean square.
    pub epsilon: f64,
}

impl Default for RmsProp {
    fn default() -> Self {
        Self { decay: 0.99, epsilon: 1e-8 }
    }
}

impl RmsProp {
    pub(super) fn check(&self) -> crate::Result<()> {
        super::check_decay("decay", self.decay)?;
        super::check_epsilon(self.epsilon)
    }

    pub(super) fn update(self, params: &mut [f64], gradient: &[f64], v: &mut [f64], rate: f64) {
        run(Step { settings: self, rate }, params, gradient, [v]);
    }
}

#[derive(Clone, Copy)]
struct Step {
    settings: RmsProp,
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
        let splat = |value| F64::<S>::splat(simd, value);
        let RmsProp { decay, epsilon } = self.settings;
        let v = v.mul_add(splat(decay), splat(1.0 - decay) * g * g);
        let direction = g / (v.sqrt() + splat(epsilon));
        (direction.neg_mul_add(splat(self.rate), param), [v])
    }
}
