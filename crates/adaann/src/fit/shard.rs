//! The points of an update, split so that threads never change a result.
//!
//! A batch is cut into shards by its length alone. Each shard runs through its points in tiles that
//! stay in cache (noise, flow, density, back), with sums of its own; sums are added in the order of
//! the shards, whoever computed them.

use super::annealed::{Annealed, Tile};
use crate::{
    Batch, Result,
    flow::{Flow, Noise},
    pieces,
    rng::Stream,
    simd::{self, Buffer, F64, Kernel, Lane},
};
use fearless_simd::Simd;
use rayon::prelude::*;
use std::cell::Cell;

#[cfg(test)]
mod tests;

/// What a pass over points found out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// Σ c (log q − log p_t) over the points kept, with the weight c that each stands for.
    pub(super) sum: f64,
    /// Σ c over the points kept: what a sum over them is divided by to be a mean. With every weight
    /// 1, as for a Gaussian base, it is their number.
    pub(super) weight: f64,
    /// Points with a finite density and gradient.
    pub(super) kept: usize,
    /// Points among them whose gradient is longer than the typical one. What is typical is asked of
    /// points, not of their weights: a limit is there for points that are unlike the others.
    pub(super) above: usize,
}

impl Tally {
    /// Estimate of E_q[log q − log p_t]; NaN if no point was kept.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// All shards of a batch.
pub(super) struct Shards {
    shards: Vec<Shard>,
    points: usize,
}

impl Shards {
    /// Cuts `points` points, in one piece if the target asks for that.
    pub(super) fn new(flow: &Flow, points: usize, whole: bool) -> Self {
        let count = if whole { 1 } else { shard_count(points, flow.grain().shard) };
        // Random numbers come in groups of 16 points, so shards begin with one.
        let start = |i: usize| if i == count { points } else { i * points / count / 16 * 16 };
        let shards = (0..count)
            .map(|i| Shard::new(flow, start(i), start(i + 1) - start(i), whole))
            .collect();
        Self { shards, points }
    }

    pub(super) fn points(&self) -> usize {
        self.points
    }

    /// Adds up, over fresh points, the gradient of Σ c (log q − log p_t) as the flow's sums.
    pub(super) fn gradient(
        &mut self,
        flow: &Flow,
        density: &Annealed,
        stream: &Stream,
        draw: u64,
        t: f64,
        clip: PointClip,
    ) -> Result<(Tally, &[f64])> {
        let update = Update { flow, density, stream, draw, points: self.points, t, clip };
        for_each(&mut self.shards, |shard| shard.gradient(&update))?;
        let (first, rest) = self.shards.split_first_mut().expect("a batch has points");
        for shard in rest {
            pieces::zip(&mut first.sums, &shard.sums, |sums, more| {
                for (sum, more) in sums.iter_mut().zip(more) {
                    *sum += more;
                }
            });
            first.tally.sum += shard.tally.sum;
            first.tally.weight += shard.tally.weight;
            first.tally.kept += shard.tally.kept;
            first.tally.above += shard.tally.above;
        }
        Ok((first.tally, &first.sums))
    }

    /// b at fresh points, into `b`.
    pub(super) fn draw_b(
        &mut self,
        flow: &Flow,
        density: &Annealed,
        stream: &Stream,
        draw: u64,
        b: &mut Vec<f64>,
    ) -> Result<()> {
        for_each(&mut self.shards, |shard| shard.draw_b(flow, density, stream, draw))?;
        b.clear();
        for shard in &self.shards {
            b.extend_from_slice(&shard.b);
        }
        Ok(())
    }
}

/// Fewer points than this are never worth a thread of their own.
const SMALLEST_SHARD: usize = 48;

/// Up to eight shards for a batch that fits the caches, more for a huge one; two where a batch can be
/// halved at all, whatever the flow would like. A power of two, which most numbers of threads share
/// evenly.
fn shard_count(points: usize, smallest: usize) -> usize {
    let wanted = (points / smallest).max((points / SMALLEST_SHARD).min(2));
    let most = wanted.min((points / 512).max(8)).clamp(1, 64);
    1 << most.ilog2()
}

/// Runs every shard: on the threads of the pool that this is called in, or here if it has one.
fn for_each(
    shards: &mut [Shard],
    run: impl Fn(&mut Shard) -> Result<()> + Sync + Send,
) -> Result<()> {
    if rayon::current_num_threads() == 1 || shards.len() == 1 {
        shards.iter_mut().try_for_each(run)
    } else {
        shards.par_iter_mut().with_max_len(1).try_for_each(run)
    }
}

thread_local! {
    /// The tape, which nothing reads beyond its tile: one for all shards that a thread handles keeps
    /// the second-level cache for the sums. It is taken and put back, since a target may run other
    /// shards on this thread while it waits for its own.
    static TAPE: Cell<Buffer> = Cell::default();
}

/// What all shards of an update are told.
struct Update<'a> {
    flow: &'a Flow,
    density: &'a Annealed<'a>,
    stream: &'a Stream,
    draw: u64,
    /// Points of all shards.
    points: usize,
    t: f64,
    clip: PointClip,
}

/// A run of neighbouring points with the memory to handle them.
struct Shard {
    first: usize,
    len: usize,
    tile_len: usize,
    noise: Noise,
    /// What each point of an update stands for.
    weight: Buffer,
    z: Batch,
    g_z: Batch,
    log_base: Buffer,
    log_det: Buffer,
    g_log_q: Buffer,
    g_log_det: Buffer,
    /// What each point adds to the objective: its weight times its loss, 0 if it is lost.
    loss: Buffer,
    /// By how much the gradient of each point is shortened.
    scale: Buffer,
    tape_len: usize,
    density: Tile,
    sums: Buffer,
    tally: Tally,
    b: Vec<f64>,
}

impl Shard {
    fn new(flow: &Flow, first: usize, len: usize, whole: bool) -> Self {
        let tile_len = if whole { len } else { len.min(flow.grain().tile) };
        let points = Batch::zeros(flow.dim(), tile_len);
        let values = Buffer::zeros(points.padded_len());
        Self {
            first,
            len,
            tile_len,
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
            tape_len: flow.tape_len(tile_len),
            density: Tile::zeros(flow.dim(), tile_len),
            sums: Buffer::zeros(flow.sums_len()),
            tally: Tally::default(),
            b: Vec::with_capacity(len),
        }
    }

    /// First points and lengths of the tiles.
    fn tiles(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (first, end, tile_len) = (self.first, self.first + self.len, self.tile_len);
        (first..end).step_by(tile_len).map(move |at| (at, tile_len.min(end - at)))
    }

    /// Moves the points that the noise makes.
    fn forward(&mut self, flow: &Flow, tape: Option<&mut [f64]>) {
        flow.forward(&self.noise, &mut self.z, &mut self.log_base, &mut self.log_det, tape);
    }

    fn truncate(&mut self, len: usize) {
        self.noise.truncate(len);
        self.z.truncate(len);
        self.g_z.truncate(len);
    }

    fn gradient(&mut self, update: &Update) -> Result<()> {
        let Update { flow, density, stream, draw, points, t, clip } = *update;
        update.flow.clear(&mut self.sums);
        self.tally = Tally::default();
        let mut tape = TAPE.take();
        tape.reserve(self.tape_len);
        for (at, len) in self.tiles() {
            self.truncate(len);
            let (noise, weight) = (&mut self.noise, &mut self.weight);
            flow.base().draw_stratified(stream, draw, at as u64, points, noise, weight);
            self.forward(flow, Some(&mut tape));
            density.evaluate(&self.z, Some(t), &mut self.density)?;
            self.seed_cotangents(t, clip);
            flow.backward(
                &self.noise,
                &mut self.z,
                &mut self.g_z,
                &self.g_log_q,
                &self.g_log_det,
                &self.loss,
                &tape,
                &mut self.sums,
            );
        }
        TAPE.set(tape);
        Ok(())
    }

    /// Cotangents of Σ c (log q₀ − log det − log p_t) at the points of the tile.
    fn seed_cotangents(&mut self, t: f64, clip: PointClip) {
        let len = self.z.len();
        // The padding is no point: NaN makes it a lost one.
        self.log_base[len..].fill(f64::NAN);
        simd::dispatch(Seed { t, clip, shard: self });
    }

    fn draw_b(
        &mut self,
        flow: &Flow,
        density: &Annealed,
        stream: &Stream,
        draw: u64,
    ) -> Result<()> {
        self.b.clear();
        for (at, len) in self.tiles() {
            self.truncate(len);
            flow.base().draw(stream, draw, at as u64, &mut self.noise);
            self.forward(flow, None);
            density.evaluate(&self.z, None, &mut self.density)?;
            // A point where a is not finite has no density at any t: it is lost whatever b is.
            let (a, b) = (&self.density.a[..len], &self.density.b[..len]);
            let lost = f64::NEG_INFINITY;
            self.b.extend(a.iter().zip(b).map(|(a, b)| if a.is_finite() { *b } else { lost }));
        }
        Ok(())
    }
}

/// How long the gradient of log p_t may be at a single point. A trajectory that almost explodes has
/// one that is longer than all others together by many orders of magnitude; an update that follows
/// it goes nowhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointClip {
    /// The median length, as far as it is known.
    pub(super) typical: f64,
    /// The longest, in units of the median; none for no limit.
    pub(super) most: Option<f64>,
}

impl PointClip {
    /// A typical length of 1, which soon moves to where it belongs.
    pub(super) fn new(most: Option<f64>) -> Self {
        Self { typical: 1.0, most }
    }

    /// Follows the median: the length that half of the points exceed.
    pub(super) fn follow(&mut self, tally: &Tally) {
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
struct Seed<'a> {
    t: f64,
    clip: PointClip,
    shard: &'a mut Shard,
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
