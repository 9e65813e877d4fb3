//! The positions of all chains, with the density and gradient at each.

use crate::{
    Batch, Error, Result, error, non_finite,
    path::{Parts, Tempered, Tile},
};
use std::ops::Range;

/// The position of each chain.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Places {
    pub(super) z: Batch,
    /// log p + log|J|
    pub(super) log_density: Vec<f64>,
    pub(super) gradient: Batch,
}

impl Places {
    /// Positions for `chains` chains: the starts with a finite density and gradient in order, repeated
    /// from the first if there are fewer.
    pub(super) fn start(
        density: &Tempered,
        weights: Parts,
        starts: &Batch,
        chains: usize,
    ) -> Result<Self> {
        let dim = density.target.dim();
        if starts.dim() != dim || starts.is_empty() {
            let found = format!("{} points of {} coordinates", starts.len(), starts.dim());
            return Err(error::shape("starts of chains", found, format!("points of {dim}")));
        }
        let mut tile = Tile::zeros(dim, starts.len());
        density.evaluate_parts(starts, Some(weights), &mut tile)?;
        let gradient = tile.gradient();
        let log_density = |i: usize| tile.log_density(weights, i);
        let is_inside = |&i: &usize| {
            non_finite::is_followed(log_density(i), (0..dim).map(|d| gradient.row(d)[i]))
        };
        let inside: Vec<usize> = (0..starts.len()).filter(is_inside).collect();
        if inside.is_empty() {
            return Err(Error::Target(format!(
                "log density and gradient are finite at none of the {} starts of chains; start from \
                 points inside its support, such as particles of sequential Monte Carlo or draws of the \
                 prior, or define the density at all points nearby",
                starts.len()
            )));
        }
        let mut places = Self {
            z: Batch::zeros(dim, chains),
            log_density: vec![0.0; chains],
            gradient: Batch::zeros(dim, chains),
        };
        for (chain, &i) in (0..chains).zip(inside.iter().cycle()) {
            places.z.copy_points(chain, starts, i, 1);
            places.gradient.copy_points(chain, gradient, i, 1);
            places.log_density[chain] = log_density(i);
        }
        Ok(places)
    }

    /// The number of chains.
    pub(super) fn len(&self) -> usize {
        self.log_density.len()
    }

    /// Some of the positions.
    pub(super) fn gather(&self, range: Range<usize>) -> Self {
        let batch = |from: &Batch| {
            let mut to = Batch::zeros(from.dim(), range.len());
            to.copy_points(0, from, range.start, range.len());
            to
        };
        Self {
            z: batch(&self.z),
            log_density: self.log_density[range.clone()].to_vec(),
            gradient: batch(&self.gradient),
        }
    }

    /// Overwrites the chains from `to` on with other positions.
    pub(super) fn copy(&mut self, to: usize, source: &Self) {
        let len = source.len();
        self.z.copy_points(to, &source.z, 0, len);
        self.gradient.copy_points(to, &source.gradient, 0, len);
        self.log_density[to..to + len].copy_from_slice(&source.log_density);
    }

    /// Moves a chain to the position of another.
    pub(super) fn put(&mut self, chain: usize, other: usize) {
        for batch in [&mut self.z, &mut self.gradient] {
            for d in 0..batch.dim() {
                let row = batch.row_mut(d);
                row[chain] = row[other];
            }
        }
        self.log_density[chain] = self.log_density[other];
    }
}
