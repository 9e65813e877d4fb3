//! realNVP (Dinh, Sohl-Dickstein and Bengio 2017): couplings that scale and shift some coordinates by
//! functions of the others, given by networks.

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
    /// Number of couplings. 8 by default; the paper uses 6 and 12.
    pub layers: usize,
    /// The networks.
    pub hidden: Hidden,
    /// The kept coordinates.
    pub mask: Mask,
    /// How the scale is bounded. The paper's "tanh right before the output layer" is ambiguous; most
    /// implementations apply it to the output.
    pub scale: ScaleMap,
    /// Whether the scale and the shift have separate networks, as in the paper. A shared network
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

/// The hidden layers of the networks for scales and shifts: two networks, or one shared.
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
