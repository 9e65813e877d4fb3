//! Updates on given weighted points: they minimise −Σ w log q without evaluating the target.

use super::{
    shards::{add, cuts, for_each, shard_count, with_tape},
    totals::Totals,
    trainer::Objective,
};
use crate::{
    Batch, Error, Result,
    flow::{Flow, Given},
    rng::Stream,
    simd::Buffer,
};

/// The first draw number for choosing points; smaller numbers are reserved for other uses.
const FIRST_CHOICE: u64 = 1 << 32;

/// The objective −Σ w log q over a set of points; each update uses a random subset.
pub(crate) struct OnPoints<'a> {
    pub(crate) shards: &'a mut PointShards,
    pub(crate) set: &'a PointSet,
    /// The random numbers for choosing points, from draw number [`FIRST_CHOICE`] on.
    pub(crate) stream: &'a Stream,
}

impl Objective for OnPoints<'_> {
    fn gradient(&mut self, flow: &mut Flow, made: usize, gradient: &mut [f64]) -> Result<Totals> {
        let Self { ref mut shards, set, stream } = *self;
        let (draw, batch) = (FIRST_CHOICE + made as u64, shards.points);
        for_each(&mut shards.shards, |shard| {
            shard.gradient(flow, set, stream, draw, batch);
            Ok(())
        })?;
        let (first, rest) = shards.shards.split_first_mut().expect("a batch has points");
        for shard in rest {
            add(&mut first.sums, &shard.sums);
            first.totals.add(&shard.totals);
        }
        flow.gradient_of_given(&first.sums, gradient);
        Ok(first.totals)
    }
}

/// All shards of an update's points.
pub(crate) struct PointShards {
    shards: Vec<Shard>,
    points: usize,
}

impl PointShards {
    /// Splits updates of `points` points into shards.
    pub(crate) fn new(flow: &Flow, points: usize) -> Self {
        let count = shard_count(points, flow.grain().shard);
        let shard = |(first, len)| Shard::new(flow, first, len);
        Self { shards: cuts(points, count).map(shard).collect(), points }
    }
}

/// Largest factor by which a point's weight may grow after it was weighted; more would be noise.
const MOST_GAIN: f64 = 10.0;

/// Points, each with a range of the line of cumulative weights.
pub(crate) struct PointSet {
    points: Batch,
    /// log q under the flow that the weights belong to, if the weights are to follow the flow as 1/q.
    log_q: Option<Vec<f64>>,
    /// Indices of the points with positive weight.
    places: Vec<usize>,
    /// The end of each of their ranges.
    ends: Vec<f64>,
}

impl PointSet {
    /// Points chosen in proportion to their weights. `log_q` is log q at each point under the flow
    /// that the weights were computed with; if given, a weight decreases as q grows there.
    ///
    /// # Errors
    /// If `weights` does not have one entry per point, or no finite point has a positive weight.
    pub(crate) fn new(points: Batch, weights: &[f64], log_q: Option<Vec<f64>>) -> Result<Self> {
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
            let reason = "no training point has a positive weight".to_owned();
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

    /// The point whose range contains the fraction `share` of the line.
    fn choose(&self, share: f64) -> usize {
        let last = self.places.len() - 1;
        let at = share * self.ends[last];
        self.places[self.ends.partition_point(|end| *end <= at).min(last)]
    }
}

/// A range of an update's points with its working memory.
struct Shard {
    first: usize,
    len: usize,
    tile_len: usize,
    tile: Given,
    places: Vec<usize>,
    k: Vec<f64>,
    tape_len: usize,
    sums: Buffer,
    totals: Totals,
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
            totals: Totals::default(),
        }
    }

    /// Sums the gradient of −Σ log q. The choice is stratified: each point of the batch is drawn from
    /// its own stretch of the line, so that the batch represents the set.
    fn gradient(&mut self, flow: &Flow, set: &PointSet, stream: &Stream, draw: u64, batch: usize) {
        let Self { first, len, tile_len, tile, places, k, sums, totals, .. } = self;
        flow.clear_given(sums);
        *totals = Totals::default();
        let end = *first + *len;
        with_tape(self.tape_len, |tape| {
            for at in (*first..end).step_by(*tile_len) {
                let len = (*tile_len).min(end - at);
                tile.truncate(len);
                for i in 0..len {
                    let own = stream.point_uniform_at(draw, (at + i) as u64);
                    places[i] = set.choose(((at + i) as f64 + own) / batch as f64);
                    tile.z.copy_points(i, &set.points, places[i], 1);
                }
                flow.find_log_density(tile, tape);
                for i in 0..len {
                    let now = tile.log_q[i];
                    let gain =
                        set.log_q.as_ref().map_or(1.0, |log_q| (log_q[places[i]] - now).exp());
                    // A NaN becomes 0, and the point is skipped.
                    let counts = if gain > 0.0 { gain.min(MOST_GAIN) } else { 0.0 };
                    k[i] = -counts;
                    totals.weight += counts;
                    if counts > 0.0 {
                        totals.sum -= counts * now;
                        totals.kept += 1;
                    }
                }
                flow.pull_log_density(tile, &k[..len], tape, sums);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        flow::{Base, FlowSpec},
        optim::{Optimizer, RateRule},
        rng::Purpose,
        train::{Pace, State, Trainer},
    };

    /// The maximum-likelihood Gaussian has the weighted mean and standard deviation of the points.
    /// Adam's noise at a rate that falls to 0 is far below 0.01. So is the difference of the last
    /// updates' objective, which is computed on 64 of the points, from ½ log(2πe s²).
    #[test]
    fn a_gaussian_takes_the_moments_of_the_points() {
        let points = Batch::from_points(1, &[[-1.0], [0.5], [4.0], [f64::NAN], [9.0]]);
        let set = PointSet::new(points, &[1.0, 2.0, 5.0, 3.0, 0.0], None).unwrap();
        let mut flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let mut state = State::new(Optimizer::default(), &flow);
        let (mut trainer, mut shards) = (Trainer::new(&flow), PointShards::new(&flow, 64));
        let stream = &Stream::new(3, Purpose::ForwardKl);
        let falling = RateRule::Cosine { over: 4_000, floor: 0.0 };
        let mut objective = f64::NAN;
        for made in 0..4_000 {
            let pace = Pace { rate: 0.02 * falling.factor(made), clip: None };
            let mut points = OnPoints { shards: &mut shards, set: &set, stream };
            let totals = trainer.update(&mut state, &mut flow, &mut points, pace).unwrap();
            assert_eq!((totals.kept, totals.weight), (64, 64.0));
            objective = totals.mean();
        }
        let mean = (-1.0 + 2.0 * 0.5 + 5.0 * 4.0) / 8.0;
        let variance: f64 = [(1.0, -1.0), (2.0, 0.5), (5.0, 4.0)]
            .iter()
            .map(|(w, x): &(f64, f64)| w * (x - mean).powi(2) / 8.0)
            .sum();
        let found = flow.parameters();
        assert!((found[0] - mean).abs() < 0.01, "{found:?}, mean {mean}");
        assert!((found[1] - 0.5 * variance.ln()).abs() < 0.01, "{found:?}, variance {variance}");
        let entropy = 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * variance).ln();
        assert!((objective - entropy).abs() < 0.05, "{objective}, not {entropy}");
        assert_eq!((state.updates(), state.skipped()), (4_000, 0));
    }

    #[test]
    fn points_are_chosen_by_weight_and_none_without() {
        let points = Batch::zeros(1, 5);
        let set = PointSet::new(points.clone(), &[0.0, 1e-300, 3e-300, 0.0, 0.0], None).unwrap();
        let chosen = [0.0, 0.24, 0.26, 0.999, 1.0].map(|share| set.choose(share));
        assert_eq!(chosen, [1, 1, 2, 2, 2]);
        for bad in [&[0.0; 5][..], &[f64::NAN; 5], &[1.0; 4]] {
            assert!(PointSet::new(points.clone(), bad, None).is_err());
        }
    }
}
