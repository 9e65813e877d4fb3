//! One iteration of all chains: Hamiltonian trajectories of leapfrog steps, accepted or rejected.
//!
//! All chains take the same number of steps side by side, so that the target evaluates whole batches.

use super::metric::Metric;
use super::places::Places;
use crate::{
    Batch, Result, non_finite,
    path::{Parts, Tempered, Tile},
    rng::Stream,
};
use std::ops::Range;

/// The density on which chains move, and the settings of their trajectories.
pub(super) struct Moves<'a> {
    pub(super) density: &'a Tempered<'a>,
    /// The weights of log p + log|J|.
    pub(super) weights: Parts,
    pub(super) metric: &'a Metric,
    pub(super) stream: &'a Stream,
    pub(super) step_size: f64,
    /// Leapfrog steps.
    pub(super) steps: usize,
}

/// The results of the trajectories, chain by chain.
pub(super) struct Moved {
    pub(super) places: Places,
    /// The ends of the trajectories, accepted or not, and the velocities there, in units of the
    /// metric.
    pub(super) ends: Batch,
    pub(super) velocity: Batch,
    /// The acceptance probability of each.
    pub(super) acceptance: Vec<f64>,
    pub(super) is_taken: Vec<bool>,
    /// Trajectories that met a point without density, or gained more energy than [`DIVERGENCE`].
    pub(super) divergences: usize,
}

impl Moved {
    /// Mean acceptance probability.
    pub(super) fn mean_acceptance(&self) -> f64 {
        self.acceptance.iter().sum::<f64>() / self.acceptance.len() as f64
    }

    /// Median acceptance probability.
    pub(super) fn median_acceptance(&self) -> f64 {
        let mut sorted = self.acceptance.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

/// An energy error that no trajectory with suitable steps reaches; Stan's threshold.
const DIVERGENCE: f64 = 1000.0;

/// Chains that move together: targets evaluate this many points at a time, and two threads share 64
/// chains.
const PIECE: usize = 32;

impl Moves<'_> {
    /// Moves all chains; `iteration` determines the random numbers.
    pub(super) fn iterate(&self, from: &Places, iteration: u64) -> Result<Moved> {
        let pieces = self
            .density
            .each_piece(from.len(), PIECE, |range| self.piece(from, range, iteration))?;
        let parts = |of: fn(&Moved) -> &Batch| pieces.iter().map(of).collect::<Vec<_>>();
        let chains = |of: fn(&Moved) -> &[f64]| pieces.iter().flat_map(of).copied().collect();
        Ok(Moved {
            places: Places {
                z: Batch::concat(&parts(|piece| &piece.places.z)),
                log_density: chains(|piece| &piece.places.log_density),
                gradient: Batch::concat(&parts(|piece| &piece.places.gradient)),
            },
            ends: Batch::concat(&parts(|piece| &piece.ends)),
            velocity: Batch::concat(&parts(|piece| &piece.velocity)),
            acceptance: chains(|piece| &piece.acceptance),
            is_taken: pieces.iter().flat_map(|piece| piece.is_taken.clone()).collect(),
            divergences: pieces.iter().map(|piece| piece.divergences).sum(),
        })
    }

    /// Moves some of the chains.
    fn piece(&self, from: &Places, range: Range<usize>, iteration: u64) -> Result<Moved> {
        let mut places = from.gather(range.clone());
        let (dim, len) = (places.z.dim(), range.len());
        let mut velocity = Batch::zeros(dim, len);
        self.stream.fill_normals(iteration, range.start as u64, &mut velocity);
        let before = kinetic(&velocity);
        let (mut ends, mut tile) = (places.z.clone(), Tile::zeros(dim, len));
        let mut is_non_finite = vec![false; len];
        self.metric.add_stretched_back(0.5 * self.step_size, &places.gradient, &mut velocity);
        for step in 1..=self.steps {
            self.metric.add_stretched(self.step_size, &velocity, &mut ends);
            self.density.evaluate_parts(&ends, Some(self.weights), &mut tile)?;
            let gradient = tile.gradient();
            // Two consecutive half kicks are one full kick.
            let share = if step == self.steps { 0.5 } else { 1.0 };
            self.metric.add_stretched_back(share * self.step_size, gradient, &mut velocity);
            for i in 0..len {
                let slopes = (0..dim).map(|d| gradient.row(d)[i]);
                is_non_finite[i] |=
                    !non_finite::is_followed(tile.log_density(self.weights, i), slopes);
                if is_non_finite[i] {
                    // The trajectory cannot continue from here, and its reverse would stop here too:
                    // it is rejected from both ends. The chain waits at its start.
                    ends.copy_points(i, &places.z, i, 1);
                    (0..dim).for_each(|d| velocity.row_mut(d)[i] = 0.0);
                }
            }
        }
        let after = kinetic(&velocity);
        let (mut acceptance, mut is_taken) = (vec![0.0; len], vec![false; len]);
        let mut divergences = 0;
        for i in 0..len {
            let there = tile.log_density(self.weights, i);
            let gain = there - after[i] - (places.log_density[i] - before[i]);
            if is_non_finite[i] || gain.is_nan() || gain < -DIVERGENCE {
                divergences += 1;
                continue;
            }
            acceptance[i] = gain.min(0.0).exp();
            let uniform = self.stream.point_uniform_at(iteration, (range.start + i) as u64);
            if uniform < acceptance[i] {
                is_taken[i] = true;
                places.z.copy_points(i, &ends, i, 1);
                places.gradient.copy_points(i, tile.gradient(), i, 1);
                places.log_density[i] = there;
            }
        }
        Ok(Moved { places, ends, velocity, acceptance, is_taken, divergences })
    }
}

/// |v|²/2 of every chain.
fn kinetic(velocity: &Batch) -> Vec<f64> {
    let mut sums = vec![0.0; velocity.len()];
    for d in 0..velocity.dim() {
        for (sum, v) in sums.iter_mut().zip(velocity.row(d)) {
            *sum += 0.5 * v * v;
        }
    }
    sums
}
