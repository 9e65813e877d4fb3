//! Updates on the flow's own draws, and draws for evaluation.
//!
//! Each shard processes its points in tiles that stay in cache: noise, flow, density, backward
//! pass.

#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod tests;

use super::{
    gradient::Gradient,
    point_clip::PointClip,
    seed::Passage,
    shards::{add, cuts, for_each, shard_count, with_tape},
    totals::Totals,
    trainer::Objective,
};
use crate::{
    Batch, Result, flow::Flow, non_finite::is_followed, path::Tempered, rng::Stream, simd::Buffer,
};

/// The objective E_q[log q − log p_t], with fresh draws of q for each update.
pub(crate) struct OnDraws<'a> {
    pub(crate) shards: &'a mut DrawShards,
    pub(crate) density: &'a Tempered<'a>,
    pub(crate) stream: &'a Stream,
    pub(crate) t: f64,
    pub(crate) clip: PointClip,
    pub(crate) gradient: Gradient,
}

impl Objective for OnDraws<'_> {
    fn gradient(&mut self, flow: &mut Flow, made: usize, gradient: &mut [f64]) -> Result<Totals> {
        let Self { ref mut shards, density, stream, t, clip, gradient: estimate } = *self;
        // Draw numbers of updates start at 1.
        let draw = made as u64 + 1;
        let update = Update { flow, density, stream, draw, t, clip, gradient: estimate };
        let (totals, sums) = shards.sums(&update)?;
        flow.gradient(sums, gradient);
        Ok(totals)
    }
}

/// The inputs of all shards of an update.
#[derive(Clone, Copy)]
struct Update<'a> {
    flow: &'a Flow,
    density: &'a Tempered<'a>,
    stream: &'a Stream,
    draw: u64,
    t: f64,
    clip: PointClip,
    gradient: Gradient,
}

/// Draws of a flow with their log densities.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) a: Vec<f64>,
    /// −∞ where a is not finite: such a point has no density at any t.
    pub(crate) b: Vec<f64>,
    pub(crate) log_q: Vec<f64>,
    /// The points, if requested.
    pub(crate) points: Option<Batch>,
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
pub(crate) struct DrawShards {
    shards: Vec<Shard>,
    points: usize,
}

impl DrawShards {
    /// Splits `points` points into shards; a single shard if `whole`.
    pub(crate) fn new(flow: &Flow, points: usize, whole: bool) -> Self {
        let count = if whole { 1 } else { shard_count(points, flow.grain().shard) };
        let new = |(first, len)| Shard::new(flow, first, len, points, whole);
        Self { shards: cuts(points, count).map(new).collect(), points }
    }

    pub(crate) fn points(&self) -> usize {
        self.points
    }

    /// Sums the gradient of Σ c (log q − log p_t) over fresh points, in the form of the flow's
    /// sums.
    fn sums(&mut self, update: &Update) -> Result<(Totals, &[f64])> {
        for_each(&mut self.shards, |shard| shard.gradient(update))?;
        let (first, rest) = self.shards.split_first_mut().expect("a batch has points");
        for shard in rest {
            add(&mut first.sums, &shard.sums);
            first.totals.add(&shard.totals);
        }
        Ok((first.totals, &first.sums))
    }

    /// Computes a, b and log q at fresh points, and stores the points if `drawn` has room for them.
    pub(crate) fn draw(
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

/// A range of neighbouring points with its working memory.
struct Shard {
    first: usize,
    len: usize,
    /// Points of all shards.
    total: usize,
    tile_len: usize,
    passage: Passage,
    tape_len: usize,
    sums: Buffer,
    totals: Totals,
    drawn: Drawn,
}

impl Shard {
    fn new(flow: &Flow, first: usize, len: usize, total: usize, whole: bool) -> Self {
        let tile_len = if whole { len } else { len.min(flow.grain().tile) };
        Self {
            first,
            len,
            total,
            tile_len,
            passage: Passage::zeros(flow.dim(), tile_len),
            tape_len: flow.tape_len(tile_len),
            sums: Buffer::zeros(flow.sums_len()),
            totals: Totals::default(),
            drawn: Drawn::with_capacity(len),
        }
    }

    /// First point and length of each tile.
    fn tiles(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (first, end, tile_len) = (self.first, self.first + self.len, self.tile_len);
        (first..end).step_by(tile_len).map(move |at| (at, tile_len.min(end - at)))
    }

    fn gradient(&mut self, update: &Update) -> Result<()> {
        update.flow.clear(&mut self.sums);
        self.totals = Totals::default();
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
        let Self { passage, sums, totals, total, .. } = self;
        passage.truncate(len);
        let (noise, weight) = (&mut passage.noise, &mut passage.weight);
        flow.base().draw_stratified(stream, draw, at as u64, *total, noise, weight);
        passage.forward(flow, Some(tape));
        density.evaluate(&passage.z, Some(t), &mut passage.density)?;
        passage.seed_cotangents(t, clip, totals);
        flow.backward(
            &passage.noise,
            &mut passage.z,
            &mut passage.g_z,
            &passage.g_log_q,
            &passage.g_log_det,
            &passage.loss,
            tape,
            sums,
        );
        if gradient == Gradient::Path {
            flow.subtract_score(
                &passage.noise,
                &mut passage.z,
                &mut passage.g_z,
                [&passage.g_log_q, &passage.g_log_det],
                [&mut passage.log_base, &mut passage.log_det],
                tape,
                sums,
            );
        }
        Ok(())
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
            let Self { passage, drawn, first, .. } = self;
            passage.truncate(len);
            flow.base().draw(stream, draw, at as u64, &mut passage.noise);
            passage.forward(flow, None);
            density.evaluate(&passage.z, None, &mut passage.density)?;
            let (a, b) = (&passage.density.a[..len], &passage.density.b[..len]);
            let lost = f64::NEG_INFINITY;
            let b = a.iter().zip(b).map(|(a, b)| if is_followed(*a, []) { *b } else { lost });
            drawn.b.extend(b);
            drawn.a.extend_from_slice(a);
            let log_q = passage.log_base.iter().zip(&passage.log_det[..len]);
            drawn.log_q.extend(log_q.map(|(log_base, log_det)| log_base - log_det));
            if let Some(points) = &mut drawn.points {
                points.copy_points(at - *first, &passage.z, 0, len);
            }
        }
        Ok(())
    }
}
