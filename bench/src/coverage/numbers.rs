//! Random settings of the targets, determined by a seed.

use adaann::support::rng::{Purpose, Stream};

/// Consecutive numbers of one stream.
pub(super) struct Numbers {
    stream: Stream,
    used: u64,
}

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, Purpose::Data), used: 0 }
    }

    /// Uniform between two numbers.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.used += 1;
        low + (high - low) * self.stream.uniform_at(self.used)
    }

    /// Uniform in the logarithm.
    pub(super) fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        self.used += 1;
        self.stream.normal_at(self.used)
    }

    /// A rotation: normal rows, orthogonalised twice to limit rounding.
    pub(super) fn rotation(&mut self, dim: usize) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for _ in 0..dim {
            let mut row: Vec<f64> = (0..dim).map(|_| self.normal()).collect();
            for _ in 0..2 {
                for other in &rows {
                    let along: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
                    row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            rows.push(row.iter().map(|x| x / norm).collect());
        }
        rows
    }
}
