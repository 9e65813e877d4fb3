//! Steps in the units of where a particle is.
//!
//! A particle first picks a component c of the mixture that describes the particles' shape, by the
//! component's share r(c|x) in the mixture's density at x, and then moves on π(x) r(c|x) with the
//! covariance L Lᵀ of that component. Picking is a Gibbs step, so the pair is left as it is, and a
//! density with modes of different widths has steps of the right length in each.

use super::{Invariant, Uniform};
use crate::Batch;

/// The component that each of some particles has picked.
pub(super) struct Picked {
    pub(super) component: Vec<usize>,
    /// log r(c|x)
    log_share: Vec<f64>,
}

impl Picked {
    /// Picks for particles of which the first has the number `first` among all.
    pub(super) fn new(on: &Invariant, z: &Batch, first: usize) -> Self {
        let shares = on.mixture.log_shares(z);
        let pick = |i: usize| {
            let mut rest = on.uniform(Uniform::Component, first + i);
            for (k, row) in shares.iter().enumerate() {
                rest -= row[i].exp();
                if rest < 0.0 {
                    return k;
                }
            }
            shares.len() - 1
        };
        let component: Vec<usize> = (0..z.len()).map(pick).collect();
        let log_share = component.iter().enumerate().map(|(i, &c)| shares[c][i]).collect();
        Self { component, log_share }
    }

    /// log r(c|y) − log r(c|x)
    pub(super) fn log_share_ratio(&self, on: &Invariant, y: &Batch) -> Vec<f64> {
        let after = on.mixture.log_shares(y);
        let ratio = |(i, &c): (usize, &usize)| after[c][i] - self.log_share[i];
        self.component.iter().enumerate().map(ratio).collect()
    }
}
