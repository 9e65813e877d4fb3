//! Settings shared by the families built on networks.

use crate::{
    Result, error,
    net::Activation,
    rng::{Purpose, Stream},
};
use serde::{Deserialize, Serialize};

/// Upper limit on the units of a hidden layer and on the number of hidden layers: catches typing
/// errors.
const MOST_UNITS: usize = 100_000;
const MOST_HIDDEN: usize = 100;

/// The hidden part of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hidden {
    /// Units of each hidden layer. The default 32 suffices for the shapes of a few dimensions and
    /// is fast.
    pub units: usize,
    /// Number of hidden layers. 2 by default, as in the paper.
    pub layers: usize,
    /// Activation of the hidden units. On smooth densities, after the same number of updates, SiLU
    /// halves the divergence left by rectified units, which are the paper's choice and the fastest.
    pub activation: Activation,
}

impl Default for Hidden {
    fn default() -> Self {
        Self { units: 32, layers: 2, activation: Activation::Silu }
    }
}

impl Hidden {
    pub(super) fn check(&self) -> Result<()> {
        if !(1..=MOST_UNITS).contains(&self.units) {
            return Err(error::setting("hidden", self.units, format!("from 1 to {MOST_UNITS}")));
        }
        if !(1..=MOST_HIDDEN).contains(&self.layers) {
            let range = format!("from 1 to {MOST_HIDDEN}");
            return Err(error::setting("hidden-layers", self.layers, range));
        }
        Ok(())
    }

    /// The activations, layer by layer.
    pub(super) fn activations(&self) -> Vec<Activation> {
        vec![self.activation; self.layers]
    }
}

/// The coordinates that a coupling keeps. Every second coupling keeps the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// Every second coordinate.
    #[default]
    Alternating,
    /// The first half of the coordinates.
    Halves,
    /// A random half, redrawn for every two couplings.
    Random {
        /// Seed of the halves.
        seed: u64,
    },
    /// The listed coordinates.
    Kept(Vec<usize>),
}

impl Mask {
    /// For each coordinate, whether coupling `layer` keeps it. In one dimension the coordinate
    /// moves.
    ///
    /// # Errors
    /// If a list repeats a coordinate, contains one out of range, or leaves none to move or none to
    /// keep.
    pub(super) fn kept(&self, dim: usize, layer: usize) -> Result<Vec<bool>> {
        if dim == 1 {
            return Ok(vec![false]);
        }
        let mut kept = vec![false; dim];
        match self {
            Self::Alternating => (0..dim).step_by(2).for_each(|d| kept[d] = true),
            Self::Halves => kept[..dim.div_ceil(2)].fill(true),
            Self::Random { seed } => {
                let order = shuffled(dim, *seed, layer / 2);
                order[..dim.div_ceil(2)].iter().for_each(|d| kept[*d] = true);
            }
            Self::Kept(list) => {
                for d in list {
                    if *d >= dim || std::mem::replace(&mut kept[*d], true) {
                        let range =
                            format!("a list of different coordinates from 0 to {}", dim - 1);
                        return Err(error::setting("mask", format!("a list with {d}"), range));
                    }
                }
                if list.is_empty() || list.len() == dim {
                    let range = "a list that leaves coordinates both to keep and to move";
                    return Err(error::setting("mask", format!("{} of {dim}", list.len()), range));
                }
            }
        }
        if layer % 2 == 1 {
            kept.iter_mut().for_each(|kept| *kept = !*kept);
        }
        Ok(kept)
    }
}

/// The order in which the coordinates of autoregressive layers depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// First to last in one layer, last to first in the next.
    #[default]
    Alternating,
    /// First to last in all layers.
    Sequential,
    /// Last to first in all layers.
    Reversed,
    /// A random order for each layer.
    Random {
        /// Seed of the orders.
        seed: u64,
    },
}

impl Ordering {
    /// The coordinates of layer `layer` in order.
    pub(super) fn order(self, dim: usize, layer: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..dim).collect();
        match self {
            Self::Sequential => {}
            Self::Reversed => order.reverse(),
            Self::Alternating => {
                if layer % 2 == 1 {
                    order.reverse();
                }
            }
            Self::Random { seed } => order = shuffled(dim, seed, layer),
        }
        order
    }
}

/// A random permutation of 0 to `dim` − 1, uniform over all permutations.
pub(super) fn shuffled(dim: usize, seed: u64, number: usize) -> Vec<usize> {
    let stream = Stream::new(seed, Purpose::Order);
    let mut keyed: Vec<(f64, usize)> =
        (0..dim).map(|d| (stream.normal_at((number * dim + d) as u64), d)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, d)| d).collect()
}
