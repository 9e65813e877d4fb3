//! Particles: points with the values of the target at them.

use crate::{
    Batch, Result, non_finite,
    path::{Parts, Tempered, Tile},
};

/// Number of particles evaluated together. Random numbers come in groups of 16 points and targets process 32
/// at a time; more points would not fit into the caches.
pub(super) const PIECE: usize = 128;

/// Points with the parts of log p at each.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Particles {
    pub(super) z: Batch,
    pub(super) parts: Parts<Vec<f64>>,
    /// Gradient of the log density that they move on, if it is known for all of them.
    pub(super) gradient: Option<Batch>,
}

impl Particles {
    /// Evaluates points: their parts and, if weights are given, the gradient of the weighted sum.
    pub(super) fn evaluate(density: &Tempered, z: Batch, gradient: Option<Parts>) -> Result<Self> {
        let mut tile = Tile::zeros(z.dim(), z.len());
        density.evaluate_parts(&z, gradient, &mut tile)?;
        Ok(Self::evaluated(z, &tile, gradient.is_some()))
    }

    /// Points with the values of an evaluated tile.
    pub(super) fn evaluated(z: Batch, tile: &Tile, with_gradient: bool) -> Self {
        let (dim, len) = (z.dim(), z.len());
        let parts = tile.parts().map(|row| row[..len].to_vec());
        let gradient = with_gradient.then(|| {
            let mut gradient = Batch::zeros(dim, len);
            gradient.copy_points(0, tile.gradient(), 0, len);
            gradient
        });
        Self { z, parts, gradient }
    }

    pub(super) fn len(&self) -> usize {
        self.z.len()
    }

    /// The weighted sum of the parts of one particle; −∞ for a non-finite one.
    pub(super) fn log_density(&self, weights: Parts, i: usize) -> f64 {
        non_finite::log_density(self.parts.as_slices().at(i).dot(weights))
    }

    /// Copies of the chosen particles.
    pub(super) fn gather(&self, indices: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let row = |row: &[f64]| -> Vec<f64> { indices.clone().map(|i| row[i]).collect() };
        let batch = |from: &Batch| {
            let mut to = Batch::zeros(from.dim(), indices.len());
            for d in 0..from.dim() {
                to.row_mut(d).copy_from_slice(&row(from.row(d)));
            }
            to
        };
        Self {
            z: batch(&self.z),
            parts: self.parts.as_slices().map(row),
            gradient: self.gradient.as_ref().map(batch),
        }
    }

    /// Concatenates the particles of sets (at least one); with gradients if every set has them.
    pub(super) fn concat(sets: &[Self]) -> Self {
        let gradients: Option<Vec<_>> = sets.iter().map(|set| set.gradient.as_ref()).collect();
        let row = |of: fn(&Parts<Vec<f64>>) -> &Vec<f64>| -> Vec<f64> {
            sets.iter().flat_map(|set| of(&set.parts).iter().copied()).collect()
        };
        Self {
            z: Batch::concat(&sets.iter().map(|set| &set.z).collect::<Vec<_>>()),
            parts: Parts {
                prior: row(|parts| &parts.prior),
                likelihood: row(|parts| &parts.likelihood),
                jacobian: row(|parts| &parts.jacobian),
                reference: row(|parts| &parts.reference),
            },
            gradient: gradients.map(|gradients| Batch::concat(&gradients)),
        }
    }

    /// Copies particle `i` from another set.
    pub(super) fn take(&mut self, other: &Self, i: usize) {
        self.z.copy_points(i, &other.z, i, 1);
        self.parts.set(i, other.parts.as_slices().at(i));
        if let (Some(own), Some(other)) = (&mut self.gradient, &other.gradient) {
            own.copy_points(i, other, i, 1);
        }
    }
}
