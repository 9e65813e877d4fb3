//! Glow's steps for vectors (Kingma and Dhariwal 2018): a scale and shift of each coordinate, an
//! invertible linear map, and an affine coupling.
//!
//! The original Glow sets its scales and shifts from the first batch of data. Here points come from
//! the base, whose scale is known, so all steps start at the identity.

use super::{
    Hidden, Mask, RealNvp, ScaleMap, Stack,
    affine::Affine,
    compose::Compose,
    linear::{Linear, Shape},
};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Steps of a scale and shift, a linear map and an affine coupling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Glow {
    /// Number of steps. 8 by default.
    pub layers: usize,
    /// The network of each coupling.
    pub hidden: Hidden,
    /// Which coordinates couplings keep.
    pub mask: Mask,
    /// How couplings bound their scale.
    pub scale: ScaleMap,
}

impl Default for Glow {
    fn default() -> Self {
        Self {
            layers: 8,
            hidden: Hidden::default(),
            mask: Mask::Alternating,
            scale: ScaleMap::TanhOutput,
        }
    }
}

impl Glow {
    pub(super) fn build(&self, dim: usize) -> Result<Compose> {
        super::check_size(dim, self.layers)?;
        self.hidden.check()?;
        let couplings = RealNvp {
            layers: self.layers,
            hidden: self.hidden.clone(),
            mask: self.mask.clone(),
            scale: self.scale,
            separate: false,
        };
        let mut parts: Vec<(String, Box<dyn Stack>)> = Vec::new();
        for step in 0..self.layers {
            parts.push((format!("{step}.norm"), Box::new(Affine::new(dim)?)));
            parts.push((format!("{step}.linear"), Box::new(Linear::new(dim, Shape::Lu)?)));
            let coupling = couplings.coupling(dim, step)?;
            parts.push((format!("{step}.coupling"), Box::new(coupling)));
        }
        Ok(Compose::new(dim, parts))
    }
}
