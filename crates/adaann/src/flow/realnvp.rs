//! realNVP (Dinh, Sohl-Dickstein and Bengio 2017): couplings that scale and shift some coordinates by
//! what networks make of the others.

use super::{
    Stack,
    choices::{Hidden, Mask},
    compose::Compose,
    conditioner::{
        Conditioned, Plan,
        affine::{Affine, ScaleMap},
    },
};
use crate::{Result, net::Activation};
use serde::{Deserialize, Serialize};

/// Affine couplings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RealNvp {
    /// Number of couplings. 8 by default; the paper has 6 and 12.
    pub layers: usize,
    /// The networks.
    pub hidden: Hidden,
    /// Which coordinates are kept.
    pub mask: Mask,
    /// How the scale is bounded. The paper's "tanh right before the output layer" can be read both
    /// ways; most implementations have it on the output.
    pub scale: ScaleMap,
    /// One network for the scale and one for the shift, as in the paper, or one for both, which
    /// costs half.
    pub separate: bool,
}

impl Default for RealNvp {
    fn default() -> Self {
        Self {
            layers: 8,
            hidden: Hidden::default(),
            mask: Mask::Alternating,
            scale: ScaleMap::TanhOutput,
            separate: true,
        }
    }
}

impl RealNvp {
    pub(super) fn build(&self, dim: usize) -> Result<Compose> {
        super::check_size(dim, self.layers)?;
        self.hidden.check()?;
        let couplings = (0..self.layers).map(|layer| {
            let coupling = self.coupling(dim, layer)?;
            Ok((layer.to_string(), Box::new(coupling) as Box<dyn Stack>))
        });
        Ok(Compose::new(dim, couplings.collect::<Result<_>>()?))
    }

    /// Coupling number `layer`.
    pub(super) fn coupling(&self, dim: usize, layer: usize) -> Result<Conditioned<Affine>> {
        let plan = Plan::coupling(&self.mask.kept(dim, layer)?, self.hidden.units);
        let hidden = affine_networks(&self.hidden, self.scale, self.separate);
        Ok(Conditioned::new(plan, Affine { scale: self.scale }, true, &hidden))
    }
}

/// The hidden layers of the networks that make scales and shifts: one network for each, or one.
pub(super) fn affine_networks(
    hidden: &Hidden,
    scale: ScaleMap,
    separate: bool,
) -> Vec<Vec<Activation>> {
    let shifts = hidden.activations();
    let mut scales = shifts.clone();
    if scale == ScaleMap::TanhHidden {
        *scales.last_mut().expect("at least one hidden layer") = Activation::Tanh;
    }
    if separate { vec![scales, shifts] } else { vec![scales] }
}
