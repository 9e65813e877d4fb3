//! Steps scaled by the local covariance.
//!
//! A particle first picks a component c of the mixture fitted to the particles, with the
//! component's responsibility r(c|x). It then moves on π(x) r(c|x) with the covariance L Lᵀ of that
//! component. Picking is a Gibbs step, so the joint density is invariant, and each mode of the
//! density has steps of a suitable length.

use super::{Invariant, Uniform};
use crate::Batch;

/// The components picked by some particles.
pub(super) struct Picked {
    component: Vec<usize>,
    /// For each picked component, its particles.
    groups: Vec<(usize, Vec<usize>)>,
    /// log r(c|x)
    log_share: Vec<f64>,
}

impl Picked {
    /// Picks components for particles; `first` is the global number of the first one.
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
        let members =
            |k: usize| -> Vec<usize> { (0..z.len()).filter(|i| component[*i] == k).collect() };
        let groups = (0..shares.len()).map(|k| (k, members(k)));
        let groups = groups.filter(|(_, members)| !members.is_empty()).collect();
        Self { component, groups, log_share }
    }

    /// y ← L ξ for every particle, with the L of its component.
    pub(super) fn stretch(&self, on: &Invariant, from: &Batch, out: &mut Batch) {
        self.each_group(from, out, |k, from, out| on.mixture.components[k].stretch(from, out));
    }

    /// y ← Lᵀ g for every particle, with the L of its component.
    pub(super) fn stretch_back(&self, on: &Invariant, from: &Batch, out: &mut Batch) {
        self.each_group(from, out, |k, from, out| on.mixture.components[k].stretch_back(from, out));
    }

    /// Gathers the particles of each component for `work`, so that it can run along rows.
    fn each_group(&self, from: &Batch, out: &mut Batch, work: impl Fn(usize, &Batch, &mut Batch)) {
        if let [(k, _)] = &self.groups[..] {
            return work(*k, from, out);
        }
        let dim = from.dim();
        for (k, members) in &self.groups {
            let mut own = Batch::zeros(dim, members.len());
            for d in 0..dim {
                let (row, own) = (from.row(d), own.row_mut(d));
                own.iter_mut().zip(members).for_each(|(own, &i)| *own = row[i]);
            }
            let mut done = Batch::zeros(dim, members.len());
            work(*k, &own, &mut done);
            for d in 0..dim {
                let (done, row) = (done.row(d), out.row_mut(d));
                done.iter().zip(members).for_each(|(done, &i)| row[i] = *done);
            }
        }
    }

    /// log r(c|y) − log r(c|x)
    pub(super) fn log_share_ratio(&self, on: &Invariant, y: &Batch) -> Vec<f64> {
        let after = on.mixture.log_shares(y);
        let ratio = |(i, &c): (usize, &usize)| after[c][i] - self.log_share[i];
        self.component.iter().enumerate().map(ratio).collect()
    }
}
