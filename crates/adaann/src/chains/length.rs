//! The length of trajectories: the length at which proposals change their distance from the centre most.
//!
//! ChEES is E[(|x' − E x'|² − |x − E x|²)²]/4 (Hoffman, Radul and Sountsov 2021, "An adaptive-MCMC scheme for
//! setting trajectory lengths in Hamiltonian Monte Carlo"). Its derivative with respect to the length of a
//! trajectory is the mean of (|x' − E x'|² − |x − E x|²) ⟨x' − E x', v'⟩, here in the coordinates of the
//! metric, so that no coordinate outweighs another.

use super::trajectory::Moved;
use crate::{Batch, chains::metric::Metric};
use std::f64::consts::PI;

/// The longest trajectory, in units of the metric, where a Gaussian has a period of 2π.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Length {
    log_longest: f64,
    /// Mean of log T, with more weight on later values.
    log_average: f64,
    /// Mean square of the slopes (Adam's, without momentum).
    square: f64,
    count: f64,
}

/// Trajectories last from a third of the longest to all of it. With T = 3π/4 they end between an eighth and
/// three eighths of a period, so that on a Gaussian x' is uncorrelated with x on average, and x'² nearly so
/// with x². For any other period, the trajectories do not all return to their start.
const SHORTEST: f64 = 1.0 / 3.0;
const FIRST: f64 = 0.75 * PI;

/// The rates of the paper.
const RATE: f64 = 0.025;
const FORGETTING: f64 = 0.95;

impl Length {
    pub(super) fn new() -> Self {
        Self { log_longest: FIRST.ln(), log_average: FIRST.ln(), square: 0.0, count: 0.0 }
    }

    /// The length of the trajectories of an iteration. The shares are multiples of the golden ratio, which
    /// fill the interval more evenly than random numbers, and do not depend on the draws.
    pub(super) fn at(&self, iteration: u64) -> f64 {
        self.log_longest.exp() * share(iteration)
    }

    /// The mean length of trajectories.
    pub(super) fn mean(&self) -> f64 {
        0.5 * (SHORTEST + 1.0) * self.log_longest.exp()
    }

    /// Fixes the length at its average so far.
    pub(super) fn settle(&mut self) {
        self.log_longest = self.log_average;
    }

    /// Adapts to the trajectories of an iteration.
    pub(super) fn adapt(&mut self, metric: &Metric, from: &Batch, moved: &Moved, iteration: u64) {
        let slope = self.at(iteration) * slope(metric, from, moved);
        if !slope.is_finite() || slope == 0.0 {
            return;
        }
        self.count += 1.0;
        self.square += (1.0 - FORGETTING) * (slope * slope - self.square);
        let square = self.square / (1.0 - FORGETTING.powf(self.count));
        let bounds = (0.5 * FIRST).ln()..=(8.0 * FIRST).ln();
        self.log_longest += RATE * slope / square.sqrt();
        self.log_longest = self.log_longest.clamp(*bounds.start(), *bounds.end());
        let weight = self.count.powf(-0.5);
        self.log_average += weight * (self.log_longest - self.log_average);
    }
}

/// The share of the longest length for the trajectories of an iteration.
fn share(iteration: u64) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    // The top 53 bits of multiples of 2⁶⁴/φ, as a number below 1.
    let even = (iteration.wrapping_mul(GOLDEN) >> 11) as f64 / (1_u64 << 53) as f64;
    SHORTEST + (1.0 - SHORTEST) * even
}

/// The derivative of ChEES with respect to the length; each trajectory is weighted by its acceptance
/// probability.
fn slope(metric: &Metric, from: &Batch, moved: &Moved) -> f64 {
    let centred = |x: &Batch| {
        let mut u = metric.whitened(x);
        for d in 0..u.dim() {
            let mean = u.row(d).iter().sum::<f64>() / u.len() as f64;
            u.row_mut(d).iter_mut().for_each(|u| *u -= mean);
        }
        u
    };
    let (before, after) = (centred(from), centred(&moved.ends));
    let dot = |a: &Batch, b: &Batch, i: usize| -> f64 {
        (0..a.dim()).map(|d| a.row(d)[i] * b.row(d)[i]).sum()
    };
    let one = |(i, acceptance): (usize, &f64)| {
        let change = dot(&after, &after, i) - dot(&before, &before, i);
        acceptance * change * dot(&after, &moved.velocity, i)
    };
    moved.acceptance.iter().enumerate().map(one).sum::<f64>() / before.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_their_interval_evenly() {
        let mut shares: Vec<f64> = (1_000..1_100).map(share).collect();
        shares.sort_by(f64::total_cmp);
        assert!(shares[0] >= SHORTEST && shares[99] < 1.0);
        for (i, found) in shares.iter().enumerate() {
            let even = SHORTEST + (1.0 - SHORTEST) * (i as f64 + 0.5) / 100.0;
            assert!((found - even).abs() < 0.03, "{i}: {found} is not {even}");
        }
    }
}
