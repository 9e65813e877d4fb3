//! Permutations of the coordinates, for use between layers that treat coordinates unequally.

use super::{Parameter, Stack, Weights, choices::shuffled};
use crate::{Batch, Result, batch::PAD, error};
use serde::{Deserialize, Serialize};

/// The order of the permuted coordinates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The last first.
    Reversed,
    /// A uniformly random order, fixed by the seed and the dimension.
    Random {
        /// Seed.
        seed: u64,
    },
    /// Coordinate i of the image is coordinate `list[i]` of the base point.
    Listed(Vec<usize>),
}

impl Order {
    /// The source of each of `dim` coordinates.
    fn sources(&self, dim: usize) -> Result<Vec<usize>> {
        match self {
            Self::Reversed => Ok((0..dim).rev().collect()),
            Self::Random { seed } => Ok(shuffled(dim, *seed, 0)),
            Self::Listed(list) => {
                let mut sorted = list.clone();
                sorted.sort_unstable();
                if sorted.iter().copied().eq(0..dim) {
                    Ok(list.clone())
                } else {
                    let range = format!("a list that has each of 0 to {} once", dim - 1);
                    Err(error::setting("the order of a permutation", format!("{list:?}"), range))
                }
            }
        }
    }
}

/// A permutation of the coordinates; no parameters, and log det = 0.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    dim: usize,
    /// Row swaps that, applied in order, make the permutation without extra memory.
    swaps: Vec<(usize, usize)>,
}

impl Permutation {
    /// The permutation in `dim` dimensions.
    ///
    /// # Errors
    /// If a list is not a permutation of 0 to `dim` − 1.
    pub(super) fn new(dim: usize, order: &Order) -> Result<Self> {
        error::at_least_one("dim", dim)?;
        let sources = order.sources(dim)?;
        let mut swaps = Vec::new();
        for i in 0..dim {
            // One swap settles row i; its previous content moves to the row it was swapped with.
            let mut from = sources[i];
            while from < i {
                from = sources[from];
            }
            if from != i {
                swaps.push((i, from));
            }
        }
        Ok(Self { dim, swaps })
    }

    fn apply(&self, batch: &mut Batch) {
        for &(a, b) in &self.swaps {
            swap_rows(batch, a, b);
        }
    }

    fn undo(&self, batch: &mut Batch) {
        for &(a, b) in self.swaps.iter().rev() {
            swap_rows(batch, a, b);
        }
    }
}

fn swap_rows(batch: &mut Batch, a: usize, b: usize) {
    let used = batch.padded_len() / PAD;
    let (blocks, stride) = batch.blocks_mut();
    for i in 0..used {
        blocks.swap(a * stride + i, b * stride + i);
    }
}

impl Stack for Permutation {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn derived_len(&self) -> usize {
        0
    }

    fn prepare(&self, _: &[f64], _: &mut [f64]) {}

    fn tape_len(&self, _: usize) -> usize {
        0
    }

    fn forward(&self, _: Weights, z: &mut Batch, _: &mut [f64], _: Option<&mut [f64]>) {
        self.apply(z);
    }

    fn sums_len(&self) -> usize {
        0
    }

    fn backward(
        &self,
        _: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        _: &[f64],
        _: &[f64],
        _: &mut [f64],
    ) {
        self.undo(z);
        self.undo(g_z);
    }

    fn inverse(&self, _: Weights, z: &mut Batch, _: &mut [f64], _: Option<&mut [f64]>) {
        self.undo(z);
    }

    fn backward_inverse(
        &self,
        _: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        _: &[f64],
        _: &[f64],
        _: &mut [f64],
    ) {
        self.apply(z);
        self.apply(g_z);
    }

    fn gradient(&self, _: &[f64], _: &mut [f64], _: &[f64], _: &mut [f64]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The image of the point (0, 1, 2, ...).
    fn image(order: &Order, dim: usize) -> Vec<f64> {
        let point: Vec<_> = (0..dim).map(|d| d as f64).collect();
        let mut batch = Batch::from_points(dim, &[point]);
        Permutation::new(dim, order).unwrap().apply(&mut batch);
        batch.point(0)
    }

    #[test]
    fn coordinates_come_from_where_the_order_says() {
        assert_eq!(image(&Order::Reversed, 4), [3.0, 2.0, 1.0, 0.0]);
        assert_eq!(image(&Order::Listed(vec![2, 0, 3, 1]), 4), [2.0, 0.0, 3.0, 1.0]);
    }

    #[test]
    fn random_orders_have_all_coordinates_and_differ() {
        let first = image(&Order::Random { seed: 1 }, 20);
        assert_ne!(first, image(&Order::Random { seed: 2 }, 20));
        let mut sorted = first;
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.iter().copied().eq((0..20).map(f64::from)));
    }

    #[test]
    fn lists_that_are_no_permutation_are_refused() {
        for list in [vec![0, 1], vec![0, 1, 1], vec![1, 2, 3]] {
            let refusal = Permutation::new(3, &Order::Listed(list)).unwrap_err().to_string();
            assert!(refusal.contains("each of 0 to 2 once"), "{refusal}");
        }
    }
}
