//! Neural spline flows (Durkan, Bekasov, Murray and Papamakarios 2019): couplings and autoregressive
//! layers that move coordinates along monotone rational-quadratic splines.

use super::{
    Stack,
    choices::{Hidden, Mask, Ordering},
    compose::Compose,
    conditioner::{Conditioned, Plan, spline::Spline},
};
use crate::{Result, error};
use serde::{Deserialize, Serialize};

/// Upper limit on the bins of a spline: beyond it, the least bin widths would fill the interval.
const MOST_BINS: usize = 100;

/// The splines of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SplineSpec {
    /// Number of layers. 4 by default.
    pub layers: usize,
    /// Bins of each spline. 8 by default, as is usual.
    pub bins: usize,
    /// Beyond this distance from 0 a coordinate does not move. The default 10 is five standard
    /// deviations of the default base. Base draws beyond the bound stay there, however small the
    /// density: one in a hundred would cost several nats.
    pub bound: f64,
    /// The network of each layer.
    pub hidden: Hidden,
    /// The coordinates that couplings keep.
    pub mask: Mask,
    /// The order of the coordinates of autoregressive layers.
    pub order: Ordering,
}

impl Default for SplineSpec {
    fn default() -> Self {
        Self {
            layers: 4,
            bins: 8,
            bound: 10.0,
            hidden: Hidden::default(),
            mask: Mask::Alternating,
            order: Ordering::Alternating,
        }
    }
}

impl SplineSpec {
    pub(super) fn build(&self, dim: usize, autoregressive: bool) -> Result<Compose> {
        super::check_size(dim, self.layers)?;
        self.hidden.check()?;
        if !(2..=MOST_BINS).contains(&self.bins) {
            return Err(error::setting("bins", self.bins, format!("from 2 to {MOST_BINS}")));
        }
        if !(self.bound.is_finite() && self.bound > 0.0) {
            return Err(error::setting("spline-bound", self.bound, "positive and finite"));
        }
        let curve = Spline { bins: self.bins, bound: self.bound };
        let layers = (0..self.layers).map(|layer| {
            let plan = if autoregressive {
                Plan::autoregressive(self.order.order(dim, layer), self.hidden.units)
            } else {
                Plan::coupling(&self.mask.kept(dim, layer)?, self.hidden.units)
            };
            let stack = Conditioned::new(plan, curve, true, &[self.hidden.activations()]);
            Ok((layer.to_string(), Box::new(stack) as Box<dyn Stack>))
        });
        Ok(Compose::new(dim, layers.collect::<Result<_>>()?))
    }
}
