//! How strongly the draws of chains are correlated.

use serde::{Deserialize, Serialize};

/// Diagnostics of the chains behind a sample: whether they have mixed, and how many of the sample's draws
/// are equivalent to one independent draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixing {
    /// The largest rank-normalised R-hat over all coordinates; NaN with too few draws.
    pub r_hat: f64,
    /// The smallest effective sample size over all coordinates, bulk or tails.
    pub ess: f64,
    /// Fraction of divergent trajectories.
    pub divergent: f64,
    /// For each coordinate, the number of draws equivalent to one for the mean and the bulk.
    pub per_effective_bulk: Vec<f64>,
    /// The same for the standard deviation and the tails.
    pub per_effective_tail: Vec<f64>,
}

impl Mixing {
    /// Diagnostics of chains with `drawn` draws, thinned to `kept`. The effective sample sizes are those of
    /// all draws.
    pub fn new(
        (r_hat, divergent): (f64, f64),
        bulk_ess: &[f64],
        tail_ess: &[f64],
        (drawn, kept): (usize, usize),
    ) -> Self {
        let bulk = |ess: &f64| per_effective(*ess, drawn, kept);
        let per_effective_bulk: Vec<f64> = bulk_ess.iter().map(bulk).collect();
        let tail = |(ess, bulk): (&f64, &f64)| per_effective(*ess, drawn, kept).max(*bulk);
        // A single NaN makes the minimum NaN.
        let smaller = |a: f64, &b: &f64| if b.is_nan() || b < a { b } else { a };
        Self {
            r_hat,
            ess: bulk_ess.iter().chain(tail_ess).fold(f64::INFINITY, smaller),
            divergent,
            per_effective_tail: tail_ess.iter().zip(&per_effective_bulk).map(tail).collect(),
            per_effective_bulk,
        }
    }

    /// The number of the sample's draws equivalent to one independent draw for any quantity: the largest
    /// over all coordinates.
    pub fn worst_per_effective(&self) -> f64 {
        self.per_effective_tail.iter().chain(&self.per_effective_bulk).copied().fold(1.0, f64::max)
    }
}

/// The number of thinned draws equivalent to one independent draw.
///
/// Models draws of effective size n/τ as an autoregressive chain with τ = (1 + φ)/(1 − φ): thinning by k
/// gives the correlation φ^k. Draws that alternate around the mean (τ < 1) are treated as independent.
/// Infinite if the effective size is unknown.
fn per_effective(ess: f64, drawn: usize, kept: usize) -> f64 {
    let tau = (drawn as f64 / ess).max(1.0);
    if ess.is_nan() || tau.is_infinite() {
        return f64::INFINITY;
    }
    let phi = ((tau - 1.0) / (tau + 1.0)).powf(drawn as f64 / kept.max(1) as f64);
    (1.0 + phi) / (1.0 - phi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_makes_draws_less_correlated() {
        // φ = 1/3 has τ = 2; every second draw has φ² = 1/9 and τ = 10/8.
        assert!((per_effective(500.0, 1_000, 1_000) - 2.0).abs() < 1e-12);
        assert!((per_effective(500.0, 1_000, 500) - 1.25).abs() < 1e-12);
        assert_eq!(per_effective(1_500.0, 1_000, 1_000), 1.0);
        assert_eq!(per_effective(f64::NAN, 1_000, 1_000), f64::INFINITY);
        assert_eq!(per_effective(0.0, 1_000, 1_000), f64::INFINITY);
    }

    #[test]
    fn tails_are_known_no_better_than_the_bulk() {
        let mixing = Mixing::new((1.0, 0.0), &[500.0, 1_000.0], &[800.0, 250.0], (1_000, 1_000));
        assert_eq!(mixing.ess, 250.0);
        assert!((mixing.per_effective_tail[0] - 2.0).abs() < 1e-12);
        assert!((mixing.per_effective_tail[1] - 4.0).abs() < 1e-12);
        assert!((mixing.worst_per_effective() - 4.0).abs() < 1e-12);
        let unknown = Mixing::new((f64::NAN, 0.0), &[f64::NAN], &[f64::NAN], (3, 3));
        assert_eq!(unknown.worst_per_effective(), f64::INFINITY);
        assert!(unknown.ess.is_nan());
    }
}
