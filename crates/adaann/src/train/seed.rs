//! Seeding an update: what each point stands for, and the cotangents that the way back starts from.

use super::Shard;
use crate::simd::{F64, Kernel, Lane};
use fearless_simd::Simd;

/// What a pass over points found out.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fit) struct Tally {
    /// Σ c (log q − log p_t) over the points kept, with the weight c that each stands for.
    pub(in crate::fit) sum: f64,
    /// Σ c over the points kept: what a sum over them is divided by to be a mean. With every weight
    /// 1, as for a Gaussian base, it is their number.
    pub(in crate::fit) weight: f64,
    /// Points with a finite density and gradient.
    pub(in crate::fit) kept: usize,
    /// Points among them whose gradient is longer than the typical one. What is typical is asked of
    /// points, not of their weights: a limit is there for points that are unlike the others.
    pub(in crate::fit) above: usize,
}

impl Tally {
    /// Estimate of E_q[log q − log p_t]; NaN if no point was kept.
    pub(in crate::fit) fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// How long the gradient of log p_t may be at a single point. A trajectory that almost explodes has
/// one that is longer than all others together by many orders of magnitude; an update that follows
/// it goes nowhere.
#[derive(Debug, Clone, Copy)]
pub(in crate::fit) struct PointClip {
    /// The median length, as far as it is known.
    pub(in crate::fit) typical: f64,
    /// The longest, in units of the median; none for no limit.
    pub(in crate::fit) most: Option<f64>,
}

impl PointClip {
    /// A typical length of 1, which soon moves to where it belongs.
    pub(in crate::fit) fn new(most: Option<f64>) -> Self {
        Self { typical: 1.0, most }
    }

    /// Follows the median: the length that half of the points exceed.
    pub(in crate::fit) fn follow(&mut self, tally: &Tally) {
        let share = tally.above as f64 / tally.kept as f64;
        if self.most.is_some() && share.is_finite() {
            // Far off, it moves by a factor of e an update; near the median by as much as the
            // share is off.
            self.typical *= (2.0 * share - 1.0).exp();
        }
    }
}

/// Seeds the cotangents of a tile: zero for points that are lost, since one infinite gradient would
/// cost the whole update.
pub(super) struct Seed<'a> {
    pub(super) t: f64,
    pub(super) clip: PointClip,
    pub(super) shard: &'a mut Shard,
}

impl Kernel for Seed<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { t, clip, shard } = self;
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let len = shard.z.padded_len();
        let (log_base, log_det) = (&shard.log_base[..len], &shard.log_det[..len]);
        let (g_log_q, g_log_det) = (&mut shard.g_log_q[..len], &mut shard.g_log_det[..len]);
        let (scale, losses) = (&mut shard.scale[..len], &mut shard.loss[..len]);
        let typical = F64::splat(simd, clip.typical);
        let longest = F64::splat(simd, clip.most.map_or(f64::INFINITY, |most| most * clip.typical));
        let (mut sum, mut total, mut kept, mut above) = (zero, zero, zero, zero);
        for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
            let log_q = F64::load(simd, &log_base[at..]) - F64::load(simd, &log_det[at..]);
            let loss = log_q - shard.density.log_p(simd, t, at);
            // 0·x is 0 for a finite x and NaN for any other.
            let (mut probe, mut square) = (zero * loss, zero);
            for d in 0..shard.z.dim() {
                let gradient = F64::load(simd, &shard.density.gradient().padded_row(d)[at..]);
                probe = zero.mul_add(gradient, probe);
                square = gradient.mul_add(gradient, square);
            }
            let keep = probe.eq(zero);
            let weight = F64::load(simd, &shard.weight[at..]);
            let loss = F64::select(keep, weight * loss, zero);
            let weight = F64::select(keep, weight, zero);
            weight.store(&mut g_log_q[at..]);
            (-weight).store(&mut g_log_det[at..]);
            loss.store(&mut losses[at..]);
            sum = sum + loss;
            total = total + weight;
            kept = kept + F64::select(keep, one, zero);
            let length = square.sqrt();
            above = above + F64::select(keep & typical.lt(length), one, zero);
            F64::select(longest.lt(length), longest / length, one).store(&mut scale[at..]);
        }
        for d in 0..shard.z.dim() {
            let gradient = &shard.density.gradient().padded_row(d)[..len];
            let (z, g_z) = (shard.z.padded_row_mut(d), shard.g_z.padded_row_mut(d));
            for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
                let weight = F64::load(simd, &g_log_q[at..]);
                let keep = zero.lt(weight);
                let g = F64::load(simd, &gradient[at..]) * F64::load(simd, &scale[at..]);
                F64::select(keep, -(weight * g), zero).store(&mut g_z[at..]);
                // Zero times an infinite coordinate would be NaN.
                F64::select(keep, F64::load(simd, &z[at..]), zero).store(&mut z[at..]);
            }
        }
        shard.tally.above += above.add_lanes() as usize;
        shard.tally.sum += sum.add_lanes();
        shard.tally.weight += total.add_lanes();
        shard.tally.kept += kept.add_lanes() as usize;
    }
}
