//! Sequences of random numbers for generated targets.

use crate::ladder::matrices;
use adaann::support::rng::{Purpose, Stream};

/// A sequence of random numbers that a class and a seed determine.
pub(crate) struct Dice {
    seed: u64,
    stream: Stream,
    next: u64,
}

impl Dice {
    /// The label makes classes with the same seed independent of each other and of the run.
    pub(crate) fn new(label: &str, seed: u64) -> Self {
        // FNV-1a of the label, and a Weyl step, so that neighbouring seeds differ in many bits.
        let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let seed = hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { seed, stream: Stream::new(seed, Purpose::Data), next: 0 }
    }

    fn index(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let at = self.index();
        low + (high - low) * self.stream.uniform_at(at)
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let at = self.index();
        self.stream.normal_at(at)
    }

    pub(crate) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let at = self.uniform(0.0, choices.len() as f64) as usize;
        choices[at.min(choices.len() - 1)]
    }

    /// A point uniform on the unit sphere.
    pub(crate) fn direction(&mut self, dim: usize) -> Vec<f64> {
        let normals = self.normals(dim);
        let norm = normals.iter().map(|x| x * x).sum::<f64>().sqrt();
        normals.iter().map(|x| x / norm).collect()
    }

    /// A rotation, row by row.
    pub(crate) fn rotation(&mut self, dim: usize) -> Vec<f64> {
        let at = self.index();
        matrices::rotation(dim, self.seed.wrapping_add(at + 1))
    }

    /// A random order of 0, 1, ..., count − 1 (Fisher and Yates).
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.uniform(0.0, (last + 1) as f64) as usize;
            order.swap(last, other.min(last));
        }
        order
    }

    /// Weights of a Dirichlet(2) law, each raised to at least 0.1 before they are normalised again.
    pub(crate) fn weights(&mut self, count: usize) -> Vec<f64> {
        // Gamma(2, 1) is the sum of two exponential numbers.
        let gammas: Vec<f64> =
            (0..count).map(|_| -(self.uniform(0.0, 1.0) * self.uniform(0.0, 1.0)).ln()).collect();
        let raised = normalised(&gammas).iter().map(|w| w.max(0.1)).collect::<Vec<f64>>();
        normalised(&raised)
    }
}

/// The numbers divided by their sum.
pub(crate) fn normalised(values: &[f64]) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| value / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_labels_give_other_numbers_and_the_same_ones_the_same() {
        let first = |label, seed| Dice::new(label, seed).uniform(0.0, 1.0);
        assert_eq!(first("a", 1), first("a", 1));
        assert_ne!(first("a", 1), first("a", 2));
        assert_ne!(first("a", 1), first("b", 1));
    }

    #[test]
    fn orders_are_complete_and_directions_have_length_one() {
        let mut dice = Dice::new("test", 1);
        let mut order = dice.order(20);
        assert_ne!(order, (0..20).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..20).collect::<Vec<_>>());
        let square: f64 = dice.direction(7).iter().map(|x| x * x).sum();
        assert!((square - 1.0).abs() < 1e-14);
        let weights = dice.weights(4);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        // 0.1 over a sum of at most 1 + 3 · 0.1.
        assert!(weights.iter().all(|w| *w >= 0.1 / 1.3));
    }
}
