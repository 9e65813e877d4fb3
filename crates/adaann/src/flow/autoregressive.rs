//! Masked and inverse autoregressive flows (Papamakarios, Pavlakou and Murray 2017; Kingma et al. 2016),
//! on one masked network (MADE; Germain, Gregor, Murray and Larochelle 2015).
//!
//! Both have y_i = x_i exp(s_i) + t_i, where s_i and t_i are functions of the coordinates before i. An inverse
//! autoregressive flow conditions on its input and draws in one pass. A masked one conditions on its output and
//! evaluates densities in one pass. The opposite direction proceeds coordinate by coordinate. A naive
//! implementation needs d passes for it. Here each unit of the network is computed once, as soon as its inputs
//! are known, so that the cost is one pass cut into d pieces.

use super::{
    Stack,
    choices::{Hidden, Ordering},
    compose::Compose,
    conditioner::{
        Conditioned, Plan,
        affine::{Affine, ScaleMap},
    },
    realnvp::affine_networks,
};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Affine autoregressive layers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Autoregressive {
    /// Number of layers. 5 by default.
    pub layers: usize,
    /// The network of each layer.
    pub hidden: Hidden,
    /// The order of the coordinates.
    pub order: Ordering,
    /// How the scale is bounded.
    pub scale: ScaleMap,
}

impl Default for Autoregressive {
    fn default() -> Self {
        Self {
            layers: 5,
            hidden: Hidden::default(),
            order: Ordering::Alternating,
            scale: ScaleMap::TanhOutput,
        }
    }
}

impl Autoregressive {
    /// Builds the stack: inverse autoregressive if the layers condition on their input, masked autoregressive
    /// if they condition on their output.
    pub(super) fn build(&self, dim: usize, reads_input: bool) -> Result<Compose> {
        super::check_size(dim, self.layers)?;
        self.hidden.check()?;
        let hidden = affine_networks(&self.hidden, self.scale, false);
        let layers = (0..self.layers).map(|layer| {
            let plan = Plan::autoregressive(self.order.order(dim, layer), self.hidden.units);
            let curve = Affine { scale: self.scale };
            let layer_stack = Conditioned::new(plan, curve, reads_input, &hidden);
            (layer.to_string(), Box::new(layer_stack) as Box<dyn Stack>)
        });
        Ok(Compose::new(dim, layers.collect()))
    }
}
