//! Choices that families built on networks share.

use crate::{
    Result, error,
    net::Activation,
    rng::{Purpose, Stream},
};
use serde::{Deserialize, Serialize};

/// Units of a hidden layer and hidden layers of a network; more is surely a slip.
const MOST_UNITS: usize = 100_000;
const MOST_HIDDEN: usize = 100;

/// The hidden part of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hidden {
    /// Units of each hidden layer. 32: enough for the shapes of a few dimensions, and quick.
    pub units: usize,
    /// Number of hidden layers. 2, as in the paper.
    pub layers: usize,
    /// Activation of the hidden units. SiLU: on smooth densities it halves the divergence that
    /// rectified units, the paper's choice and the quickest, leave after as many updates.
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

/// Which coordinates a coupling keeps. Every second coupling keeps the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// Every second one.
    #[default]
    Alternating,
    /// The first half.
    Halves,
    /// A random half, another for every two couplings.
    Random {
        /// Fixes the halves.
        seed: u64,
    },
    /// These.
    Kept(Vec<usize>),
}

impl Mask {
    /// For each coordinate, whether coupling `layer` keeps it. In one dimension it moves.
    ///
    /// # Errors
    /// If a list has a coordinate twice, or one that is not there, or leaves none to move or keep.
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

/// In which order the coordinates of autoregressive layers depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// First to last in one layer, last to first in the next.
    #[default]
    Alternating,
    /// First to last in all.
    Sequential,
    /// Last to first in all.
    Reversed,
    /// At random, another in each.
    Random {
        /// Fixes the orders.
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

/// A random order of 0 to `dim` − 1: each number is equally likely at each place.
pub(super) fn shuffled(dim: usize, seed: u64, number: usize) -> Vec<usize> {
    let stream = Stream::new(seed, Purpose::Order);
    let mut keyed: Vec<(f64, usize)> =
        (0..dim).map(|d| (stream.normal_at((number * dim + d) as u64), d)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, d)| d).collect()
}
