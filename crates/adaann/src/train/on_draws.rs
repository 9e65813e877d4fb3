//! The points of an update, split so that threads never change a result.
//!
//! A batch is cut into shards by its length alone. Each shard runs through its points in tiles that
//! stay in cache (noise, flow, density, back), with sums of its own; sums are added in the order of
//! the shards, whoever computed them.

#[cfg(test)]
mod path_tests;
mod seed;
#[cfg(test)]
mod tests;

pub(super) use seed::{PointClip, Tally};

use super::Gradient;
use crate::{
    Batch, Result,
    flow::{Flow, Noise},
    path::{Tempered, Tile},
    pieces,
    rng::Stream,
    simd::{self, Buffer},
};
use rayon::prelude::*;
use seed::Seed;
use std::cell::Cell;

/// What all shards of an update are told.
#[derive(Clone, Copy)]
pub(super) struct Update<'a> {
    pub(super) flow: &'a Flow,
    pub(super) density: &'a Tempered<'a>,
    pub(super) stream: &'a Stream,
    pub(super) draw: u64,
    pub(super) t: f64,
    pub(super) clip: PointClip,
    pub(super) gradient: Gradient,
}

/// Draws of a flow with what its densities say of them.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) a: Vec<f64>,
    /// −∞ where a is not finite: such a point has no density at any t.
    pub(super) b: Vec<f64>,
    pub(super) log_q: Vec<f64>,
    /// The points themselves, if they are to be kept.
    pub(super) points: Option<Batch>,
}

impl Drawn {
    /// Room for `len` draws.
    fn with_capacity(len: usize) -> Self {
        let room = || Vec::with_capacity(len);
        Self { a: room(), b: room(), log_q: room(), points: None }
    }

    fn clear(&mut self) {
        for numbers in [&mut self.a, &mut self.b, &mut self.log_q] {
            numbers.clear();
        }
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
        let new = |(first, len)| Shard::new(flow, first, len, points, whole);
        Self { shards: cuts(points, count).map(new).collect(), points }
    }

    pub(super) fn points(&self) -> usize {
        self.points
    }

    /// Adds up, over fresh points, the gradient of Σ c (log q − log p_t) as the flow's sums.
    pub(super) fn gradient(&mut self, update: &Update) -> Result<(Tally, &[f64])> {
        for_each(&mut self.shards, |shard| shard.gradient(update))?;
        let (first, rest) = self.shards.split_first_mut().expect("a batch has points");
        for shard in rest {
            add(&mut first.sums, &shard.sums);
            first.tally.sum += shard.tally.sum;
            first.tally.weight += shard.tally.weight;
            first.tally.kept += shard.tally.kept;
            first.tally.above += shard.tally.above;
        }
        Ok((first.tally, &first.sums))
    }

    /// a, b and log q at fresh points, and the points if `drawn` has room for them.
    pub(super) fn draw(
        &mut self,
        flow: &Flow,
        density: &Tempered,
        stream: &Stream,
        draw: u64,
        drawn: &mut Drawn,
    ) -> Result<()> {
        let keep = drawn.points.is_some();
        for_each(&mut self.shards, |shard| shard.draw(flow, density, stream, draw, keep))?;
        drawn.clear();
        for shard in &self.shards {
            drawn.a.extend_from_slice(&shard.drawn.a);
            drawn.b.extend_from_slice(&shard.drawn.b);
            drawn.log_q.extend_from_slice(&shard.drawn.log_q);
            if let (Some(all), Some(own)) = (&mut drawn.points, &shard.drawn.points) {
                all.copy_points(shard.first, own, 0, shard.len);
            }
        }
        Ok(())
    }
}

/// First points and lengths of `count` shards. Random numbers come in groups of 16 points, so each
/// begins with one.
pub(super) fn cuts(points: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    let start = move |i: usize| if i == count { points } else { i * points / count / 16 * 16 };
    (0..count).map(move |i| (start(i), start(i + 1) - start(i)))
}

/// Adds the sums of another shard.
pub(super) fn add(sums: &mut [f64], more: &[f64]) {
    pieces::zip(sums, more, |sums, more| {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum += more;
        }
    });
}

/// Fewer points than this are never worth a thread of their own.
const SMALLEST_SHARD: usize = 48;

/// Up to eight shards for a batch that fits the caches, more for a huge one; two where a batch can be
/// halved at all, whatever the flow would like. A power of two, which most numbers of threads share
/// evenly.
pub(super) fn shard_count(points: usize, smallest: usize) -> usize {
    let wanted = (points / smallest).max((points / SMALLEST_SHARD).min(2));
    let most = wanted.min((points / 512).max(8)).clamp(1, 64);
    1 << most.ilog2()
}

/// Runs every shard: on the threads of the pool that this is called in, or here if it has one.
pub(super) fn for_each<T: Send>(
    shards: &mut [T],
    run: impl Fn(&mut T) -> Result<()> + Sync + Send,
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

/// Hands a tape of this length to `work`.
pub(super) fn with_tape<T>(len: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
    let mut tape = TAPE.take();
    tape.reserve(len);
    let made = work(&mut tape);
    TAPE.set(tape);
    made
}

/// A run of neighbouring points with the memory to handle them.
struct Shard {
    first: usize,
    len: usize,
    /// Points of all shards.
    total: usize,
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
    drawn: Drawn,
}

impl Shard {
    fn new(flow: &Flow, first: usize, len: usize, total: usize, whole: bool) -> Self {
        let tile_len = if whole { len } else { len.min(flow.grain().tile) };
        let points = Batch::zeros(flow.dim(), tile_len);
        let values = Buffer::zeros(points.padded_len());
        Self {
            first,
            len,
            total,
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
            drawn: Drawn::with_capacity(len),
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
        update.flow.clear(&mut self.sums);
        self.tally = Tally::default();
        with_tape(self.tape_len, |tape| {
            self.tiles().try_for_each(|(at, len)| self.tile_gradient(update, at, len, tape))
        })
    }

    fn tile_gradient(
        &mut self,
        update: &Update,
        at: usize,
        len: usize,
        tape: &mut [f64],
    ) -> Result<()> {
        let Update { flow, density, stream, draw, t, clip, gradient } = *update;
        self.truncate(len);
        let (noise, weight) = (&mut self.noise, &mut self.weight);
        flow.base().draw_stratified(stream, draw, at as u64, self.total, noise, weight);
        self.forward(flow, Some(tape));
        density.evaluate(&self.z, Some(t), &mut self.density)?;
        self.seed_cotangents(t, clip);
        flow.backward(
            &self.noise,
            &mut self.z,
            &mut self.g_z,
            &self.g_log_q,
            &self.g_log_det,
            &self.loss,
            tape,
            &mut self.sums,
        );
        if gradient == Gradient::Path {
            flow.subtract_score(
                &self.noise,
                &mut self.z,
                &mut self.g_z,
                [&self.g_log_q, &self.g_log_det],
                [&mut self.log_base, &mut self.log_det],
                tape,
                &mut self.sums,
            );
        }
        Ok(())
    }

    /// Cotangents of Σ c (log q₀ − log det − log p_t) at the points of the tile.
    fn seed_cotangents(&mut self, t: f64, clip: PointClip) {
        let len = self.z.len();
        // The padding is no point: NaN makes it a lost one.
        self.log_base[len..].fill(f64::NAN);
        simd::dispatch(Seed { t, clip, shard: self });
    }

    fn draw(
        &mut self,
        flow: &Flow,
        density: &Tempered,
        stream: &Stream,
        draw: u64,
        keep_points: bool,
    ) -> Result<()> {
        self.drawn.clear();
        if keep_points && self.drawn.points.is_none() {
            self.drawn.points = Some(Batch::zeros(flow.dim(), self.len));
        }
        for (at, len) in self.tiles() {
            self.truncate(len);
            flow.base().draw(stream, draw, at as u64, &mut self.noise);
            self.forward(flow, None);
            density.evaluate(&self.z, None, &mut self.density)?;
            let (a, b) = (&self.density.a[..len], &self.density.b[..len]);
            let lost = f64::NEG_INFINITY;
            let b = a.iter().zip(b).map(|(a, b)| if a.is_finite() { *b } else { lost });
            self.drawn.b.extend(b);
            self.drawn.a.extend_from_slice(a);
            let log_q = self.log_base.iter().zip(&self.log_det[..len]);
            self.drawn.log_q.extend(log_q.map(|(log_base, log_det)| log_base - log_det));
            if let Some(points) = &mut self.drawn.points {
                points.copy_points(at - self.first, &self.z, 0, len);
            }
        }
        Ok(())
    }
}
