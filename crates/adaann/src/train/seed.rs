//! A tile of an update's points: their weights, and the cotangents that start the backward pass.

use super::{point_clip::PointClip, totals::Totals};
use crate::{
    Batch,
    flow::{Flow, Noise},
    non_finite::Probe,
    path::Tile,
    simd::{self, Buffer, F64, Kernel, Lane},
};
use fearless_simd::Simd;

/// The buffers of a tile on its way through the flow, the density and back; allocated once.
pub(super) struct Passage {
    pub(super) noise: Noise,
    /// The weight of each point of an update.
    pub(super) weight: Buffer,
    pub(super) z: Batch,
    pub(super) g_z: Batch,
    pub(super) log_base: Buffer,
    pub(super) log_det: Buffer,
    pub(super) g_log_q: Buffer,
    pub(super) g_log_det: Buffer,
    /// Each point's contribution to the objective: its weight times its loss, or 0 if it is
    /// non-finite.
    pub(super) loss: Buffer,
    /// The factor that shortens each point's gradient.
    scale: Buffer,
    pub(super) density: Tile,
}

impl Passage {
    pub(super) fn zeros(dim: usize, len: usize) -> Self {
        let points = Batch::zeros(dim, len);
        let values = Buffer::zeros(points.padded_len());
        Self {
            noise: points.clone().into(),
            weight: values.clone(),
            z: points.clone(),
            g_z: points,
            log_base: values.clone(),
            log_det: values.clone(),
            g_log_q: values.clone(),
            g_log_det: values.clone(),
            loss: values.clone(),
            scale: values,
            density: Tile::zeros(dim, len),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.noise.truncate(len);
        self.z.truncate(len);
        self.g_z.truncate(len);
    }

    /// Maps the noise to points of the flow.
    pub(super) fn forward(&mut self, flow: &Flow, tape: Option<&mut [f64]>) {
        flow.forward(&self.noise, &mut self.z, &mut self.log_base, &mut self.log_det, tape);
    }

    /// Computes the cotangents of Σ c (log q₀ − log det − log p_t) at the points, and adds the
    /// points to the totals.
    pub(super) fn seed_cotangents(&mut self, t: f64, clip: PointClip, totals: &mut Totals) {
        let len = self.z.len();
        // NaN marks the padding as non-finite.
        self.log_base[len..].fill(f64::NAN);
        simd::dispatch(Seed { t, clip, passage: self, totals });
    }
}

/// Seeds the cotangents of a tile: zero for non-finite points, since one infinite gradient would
/// cost the whole update.
struct Seed<'a> {
    t: f64,
    clip: PointClip,
    passage: &'a mut Passage,
    totals: &'a mut Totals,
}

impl Kernel for Seed<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { t, clip, passage, totals } = self;
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let len = passage.z.padded_len();
        let (log_base, log_det) = (&passage.log_base[..len], &passage.log_det[..len]);
        let (g_log_q, g_log_det) = (&mut passage.g_log_q[..len], &mut passage.g_log_det[..len]);
        let (scale, losses) = (&mut passage.scale[..len], &mut passage.loss[..len]);
        let typical = F64::splat(simd, clip.typical);
        let longest = F64::splat(simd, clip.most.map_or(f64::INFINITY, |most| most * clip.typical));
        let (mut sum, mut total, mut kept, mut above) = (zero, zero, zero, zero);
        for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
            let log_q = F64::load(simd, &log_base[at..]) - F64::load(simd, &log_det[at..]);
            let loss = log_q - passage.density.log_p(simd, t, at);
            let (mut probe, mut square) = (Probe::of(simd, loss), zero);
            for d in 0..passage.z.dim() {
                let gradient = F64::load(simd, &passage.density.gradient().padded_row(d)[at..]);
                probe = probe.and(simd, gradient);
                square = gradient.mul_add(gradient, square);
            }
            let keep = probe.sum().eq(zero);
            let weight = F64::load(simd, &passage.weight[at..]);
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
        for d in 0..passage.z.dim() {
            let gradient = &passage.density.gradient().padded_row(d)[..len];
            let (z, g_z) = (passage.z.padded_row_mut(d), passage.g_z.padded_row_mut(d));
            for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
                let weight = F64::load(simd, &g_log_q[at..]);
                let keep = zero.lt(weight);
                let g = F64::load(simd, &gradient[at..]) * F64::load(simd, &scale[at..]);
                F64::select(keep, -(weight * g), zero).store(&mut g_z[at..]);
                // Zero times an infinite coordinate would be NaN.
                F64::select(keep, F64::load(simd, &z[at..]), zero).store(&mut z[at..]);
            }
        }
        totals.above += above.add_lanes() as usize;
        totals.sum += sum.add_lanes();
        totals.weight += total.add_lanes();
        totals.kept += kept.add_lanes() as usize;
    }
}
