//! Training on points that are given with weights: −Σ w log q falls, and no target is asked.

use super::{
    run::MOST_SKIPPED_IN_A_ROW,
    shard::{add, cuts, for_each, shard_count, with_tape},
};
use crate::{
    Batch, Error, Result,
    flow::{Flow, Given},
    optim::{self, Adam, Optimizer, RateRule, clip_by_norm},
    pieces,
    rng::Stream,
    simd::Buffer,
};
use std::ops::ControlFlow;

/// How a flow is trained on given points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lessons {
    /// Updates of all pools of points together: the rate falls over them by half a cosine.
    pub(crate) updates: usize,
    /// Points in an update.
    pub(crate) batch: usize,
    /// The learning rate at the start.
    pub(crate) lr: f64,
    /// Gradients longer than this are shortened to it.
    pub(crate) clip: Option<f64>,
    /// The random numbers that choose points, from draw number [`FIRST_CHOICE`] on.
    pub(crate) stream: Stream,
}

/// The draw number of the first choice of points; those below are free for others.
pub(crate) const FIRST_CHOICE: u64 = 1 << 32;

/// Lessons under way: several pools of points may follow one another.
pub(crate) struct Trainer {
    lessons: Lessons,
    optimizer: optim::State,
    shards: Vec<Shard>,
    gradient: Vec<f64>,
    made: usize,
    skipped_in_a_row: usize,
}

impl Trainer {
    pub(crate) fn new(flow: &Flow, lessons: &Lessons) -> Self {
        let count = shard_count(lessons.batch, flow.grain().shard);
        let shard = |(first, len)| Shard::new(flow, first, len);
        let parameters = flow.parameters().len();
        Self {
            lessons: *lessons,
            optimizer: optim::State::new(Optimizer::Adam(Adam::default()), parameters),
            shards: cuts(lessons.batch, count).map(shard).collect(),
            gradient: vec![0.0; parameters],
            made: 0,
            skipped_in_a_row: 0,
        }
    }

    /// Makes `updates` of the lessons' updates on a pool of points: each on `batch` of them, chosen by
    /// their weights. `Break` of `after`, which is called after every update, stops it.
    ///
    /// # Errors
    /// If no gradient is finite many times in a row.
    pub(crate) fn train(
        &mut self,
        flow: &mut Flow,
        pool: &Pool,
        updates: usize,
        after: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        for _ in 0..updates {
            self.update(flow, pool)?;
            if after().is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn update(&mut self, flow: &mut Flow, pool: &Pool) -> Result<()> {
        let Lessons { updates, batch, lr, clip, stream } = self.lessons;
        let draw = FIRST_CHOICE + self.made as u64;
        for_each(&mut self.shards, |shard| {
            shard.gradient(flow, pool, &stream, draw, batch);
            Ok(())
        })?;
        let (first, rest) = self.shards.split_first_mut().expect("a batch has points");
        for shard in rest {
            add(&mut first.sums, &shard.sums);
            first.weight += shard.weight;
        }
        flow.gradient_of_given(&first.sums, &mut self.gradient);
        let weight = first.weight;
        pieces::each(&mut self.gradient, |gradient| {
            for g in gradient {
                *g /= weight;
            }
        });
        let falling = RateRule::Cosine { over: updates.max(1), floor: 0.0 };
        let rate = lr * falling.factor(self.made);
        self.made += 1;
        if clip_by_norm(&mut self.gradient, clip.unwrap_or(f64::INFINITY)).is_finite() {
            self.skipped_in_a_row = 0;
            let (optimizer, gradient) = (&mut self.optimizer, &self.gradient);
            flow.update(|parameters| optimizer.update(parameters, gradient, rate));
        } else {
            self.skipped_in_a_row += 1;
        }
        if self.skipped_in_a_row == MOST_SKIPPED_IN_A_ROW {
            let reason = format!(
                "the gradient of log q at given points was not finite {MOST_SKIPPED_IN_A_ROW} times \
                 in a row; lower the learning rate"
            );
            return Err(Error::Diverged { t: 1.0, reason });
        }
        Ok(())
    }
}

/// How much a point may count for more than when it was weighted; beyond that it would be noise.
const MOST_GAIN: f64 = 10.0;

/// Points with the ranges of a line that stand for them.
pub(crate) struct Pool<'a> {
    points: &'a Batch,
    /// log q of the flow that the weights are for, if they are to follow the flow by 1/q.
    log_q: Option<&'a [f64]>,
    /// Those with weight.
    places: Vec<usize>,
    /// Where the range of each of them ends.
    ends: Vec<f64>,
}

impl<'a> Pool<'a> {
    /// See [`train_on`]. With `log_q`, log q at each point by the flow that the weights were made
    /// with, a weight falls as q grows there.
    pub(crate) fn new(
        points: &'a Batch,
        weights: &[f64],
        log_q: Option<&'a [f64]>,
    ) -> Result<Self> {
        if weights.len() != points.len() {
            return Err(Error::Shape {
                what: "the weights of the points".into(),
                found: format!("{} numbers", weights.len()),
                expected: points.len().to_string(),
            });
        }
        let counts = |i: usize| {
            let is_finite = (0..points.dim()).all(|d| points.row(d)[i].is_finite());
            weights[i] > 0.0 && weights[i].is_finite() && is_finite
        };
        let places: Vec<usize> = (0..weights.len()).filter(|i| counts(*i)).collect();
        if places.is_empty() {
            let reason = "no point to train on has a positive weight".to_owned();
            return Err(Error::Diverged { t: 1.0, reason });
        }
        let largest = places.iter().map(|i| weights[*i]).fold(0.0, f64::max);
        let mut end = 0.0;
        let ends = places.iter().map(|i| {
            end += weights[*i] / largest;
            end
        });
        Ok(Self { points, log_q, ends: ends.collect(), places })
    }

    /// The point whose range has the share `share` of the line before it.
    fn choose(&self, share: f64) -> usize {
        let last = self.places.len() - 1;
        let at = share * self.ends[last];
        self.places[self.ends.partition_point(|end| *end <= at).min(last)]
    }
}

/// A run of an update's points with the memory to handle them.
struct Shard {
    first: usize,
    len: usize,
    tile_len: usize,
    tile: Given,
    places: Vec<usize>,
    k: Vec<f64>,
    tape_len: usize,
    sums: Buffer,
    /// What its points count for together.
    weight: f64,
}

impl Shard {
    fn new(flow: &Flow, first: usize, len: usize) -> Self {
        let tile_len = len.min(flow.grain().tile);
        Self {
            first,
            len,
            tile_len,
            tile: Given::zeros(flow.dim(), tile_len),
            places: vec![0; tile_len],
            k: vec![0.0; tile_len],
            tape_len: flow.tape_len(tile_len),
            sums: Buffer::zeros(flow.given_sums_len()),
            weight: 0.0,
        }
    }

    /// Adds up the gradient of −Σ log q. Each point of the batch has a stretch of the line to itself,
    /// so that the batch looks like the pool.
    fn gradient(&mut self, flow: &Flow, pool: &Pool, stream: &Stream, draw: u64, batch: usize) {
        let Self { first, len, tile_len, tile, places, k, sums, weight, .. } = self;
        flow.clear_given(sums);
        *weight = 0.0;
        let end = *first + *len;
        with_tape(self.tape_len, |tape| {
            for at in (*first..end).step_by(*tile_len) {
                let len = (*tile_len).min(end - at);
                tile.truncate(len);
                for i in 0..len {
                    let own = stream.point_uniform_at(draw, (at + i) as u64);
                    places[i] = pool.choose(((at + i) as f64 + own) / batch as f64);
                    tile.z.copy_points(i, pool.points, places[i], 1);
                }
                flow.find_log_density(tile, tape);
                for i in 0..len {
                    let now = tile.log_q[i];
                    let gain = pool.log_q.map_or(1.0, |log_q| (log_q[places[i]] - now).exp());
                    // A NaN becomes 0, and its point is left out.
                    let counts = if gain > 0.0 { gain.min(MOST_GAIN) } else { 0.0 };
                    k[i] = -counts;
                    *weight += counts;
                }
                flow.pull_log_density(tile, &k[..len], tape, sums);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train_on(
        flow: &mut Flow,
        points: &Batch,
        weights: &[f64],
        lessons: &Lessons,
        after: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let pool = Pool::new(points, weights, None)?;
        Trainer::new(flow, lessons).train(flow, &pool, lessons.updates, after)
    }
    use crate::{
        flow::{Base, FlowSpec},
        rng::Purpose,
    };

    fn lessons(updates: usize, lr: f64) -> Lessons {
        Lessons { updates, batch: 64, lr, clip: None, stream: Stream::new(3, Purpose::ForwardKl) }
    }

    /// The Gaussian of most likelihood has the weighted mean and standard deviation of the points.
    /// Noise of Adam at a rate that falls to 0 is far below 0.01.
    #[test]
    fn a_gaussian_takes_the_moments_of_the_points() {
        let points = Batch::from_points(1, &[[-1.0], [0.5], [4.0], [f64::NAN], [9.0]]);
        let weights = [1.0, 2.0, 5.0, 3.0, 0.0];
        let mut flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let never = &mut || ControlFlow::Continue(());
        let told = train_on(&mut flow, &points, &weights, &lessons(4_000, 0.02), never).unwrap();
        assert!(told.is_continue());
        let mean = (-1.0 + 2.0 * 0.5 + 5.0 * 4.0) / 8.0;
        let variance: f64 = [(1.0, -1.0), (2.0, 0.5), (5.0, 4.0)]
            .iter()
            .map(|(w, x): &(f64, f64)| w * (x - mean).powi(2) / 8.0)
            .sum();
        let found = flow.parameters();
        assert!((found[0] - mean).abs() < 0.01, "{found:?}, mean {mean}");
        assert!((found[1] - 0.5 * variance.ln()).abs() < 0.01, "{found:?}, variance {variance}");
    }

    #[test]
    fn points_are_chosen_by_weight_and_none_without() {
        let points = Batch::zeros(1, 5);
        let pool = Pool::new(&points, &[0.0, 1e-300, 3e-300, 0.0, 0.0], None).unwrap();
        let chosen = [0.0, 0.24, 0.26, 0.999, 1.0].map(|share| pool.choose(share));
        assert_eq!(chosen, [1, 1, 2, 2, 2]);
        for bad in [&[0.0; 5][..], &[f64::NAN; 5], &[1.0; 4]] {
            assert!(Pool::new(&points, bad, None).is_err());
        }
    }

    #[test]
    fn it_stops_when_told() {
        let mut flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let mut made = 0;
        let told =
            train_on(&mut flow, &Batch::zeros(1, 3), &[1.0; 3], &lessons(50, 0.01), &mut || {
                made += 1;
                if made == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        assert!(told.unwrap().is_break());
        assert_eq!(made, 7);
    }
}
