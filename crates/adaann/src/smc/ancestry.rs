//! Monte Carlo errors of a run from its own genealogy.
//!
//! Descendants of the same initial particle are correlated; families are nearly independent. Let S_e
//! be the total weight of the descendants of e. The N families have the mean weight 1/N, so the
//! relative variance of Z is estimated by Σ_e (S_e − 1/N)², and that of a mean by Σ_e (Σ_{i ∈ e} W_i
//! (f_i − mean))² (Chan and Lai 2013; Lee and Whiteley 2018).

use std::collections::BTreeMap;

/// The initial ancestor of each particle.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Ancestry {
    first: Vec<usize>,
    families: usize,
}

impl Ancestry {
    pub(super) fn new(count: usize) -> Self {
        Self { first: (0..count).collect(), families: count }
    }

    /// Number of particles.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// Makes particle i a child of particle `parents[i]`.
    pub(super) fn resample(&mut self, parents: &[usize]) {
        self.first = parents.iter().map(|&parent| self.first[parent]).collect();
    }

    /// Repeats each particle's ancestor for `times` sweeps.
    pub(super) fn repeat(&mut self, times: usize) {
        self.first = self.first.repeat(times);
    }

    /// The families of several islands, in order.
    pub(super) fn join<'a>(islands: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self { first: Vec::new(), families: 0 };
        for island in islands {
            all.first.extend(island.first.iter().map(|first| all.families + first));
            all.families += island.families;
        }
        all
    }

    /// Sums `terms` over each family.
    fn families(&self, terms: impl Iterator<Item = f64>) -> BTreeMap<usize, f64> {
        let mut sums = BTreeMap::new();
        for (&first, term) in self.first.iter().zip(terms) {
            *sums.entry(first).or_insert(0.0) += term;
        }
        sums
    }

    /// Standard error of log Z, for normalised weights.
    pub(super) fn log_z_error(&self, weights: &[f64]) -> f64 {
        let sums = self.families(weights.iter().copied());
        let equal = 1.0 / self.families as f64;
        let alive: f64 = sums.values().map(|sum| (sum - equal).powi(2)).sum();
        (alive + (self.families - sums.len()) as f64 * equal * equal).sqrt()
    }

    /// Standard error of Σ W f, for normalised weights.
    pub(super) fn mean_error(&self, weights: &[f64], values: &[f64]) -> f64 {
        let mean: f64 = weights.iter().zip(values).map(|(w, f)| w * f).sum();
        let terms = weights.iter().zip(values).map(|(w, f)| w * (f - mean));
        self.families(terms).values().map(|s| s * s).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_of_independent_particles_have_no_error() {
        let error = Ancestry::new(100).log_z_error(&[0.01; 100]);
        assert!(error < 1e-12, "{error}");
    }

    /// N independent weights w give the relative variance Σ w²/(Σ w)² − 1/N of Z.
    #[test]
    fn weights_of_independent_particles_have_the_usual_error() {
        let total: f64 = (1..=50).map(f64::from).sum();
        let weights: Vec<f64> = (1..=50).map(|i| f64::from(i) / total).collect();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        let error = Ancestry::new(50).log_z_error(&weights);
        assert!((error.powi(2) - (squares - 0.02)).abs() < 1e-12, "{error}");
    }

    #[test]
    fn families_share_their_luck() {
        let mut ancestry = Ancestry::new(4);
        ancestry.resample(&[0, 0, 0, 3]);
        // Σ W (f − 0.75) is 3 · 0.25 · 0.25 in one family and 0.25 · (−0.75) in the other.
        let error = ancestry.mean_error(&[0.25; 4], &[1.0, 1.0, 1.0, 0.0]);
        assert!((error - (2.0_f64 * 0.1875 * 0.1875).sqrt()).abs() < 1e-15, "{error}");
        // Families of 3, 0, 0 and 1: (1/2)² + 2 (1/4)² + 0.
        let error = ancestry.log_z_error(&[0.25; 4]);
        assert!((error.powi(2) - 0.375).abs() < 1e-15, "{error}");
        ancestry.resample(&[0, 0, 0, 0]);
        ancestry.repeat(2);
        assert_eq!(ancestry.mean_error(&[0.125; 8], &[1.0; 8]), 0.0);
    }
}
