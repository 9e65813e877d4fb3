//! The distance that particles have moved, relative to the local covariance.

use crate::{Batch, mixture::Mixture};

/// The original positions of the particles, and the nearest component of a mixture for each.
pub(super) struct Origin<'a> {
    mixture: &'a Mixture,
    z: Batch,
    nearest: Vec<usize>,
}

impl<'a> Origin<'a> {
    pub(super) fn new(mixture: &'a Mixture, z: &Batch) -> Self {
        let shares = mixture.log_shares(z);
        let nearest = |i: usize| {
            (0..shares.len()).max_by(|&a, &b| shares[a][i].total_cmp(&shares[b][i])).unwrap_or(0)
        };
        Self { mixture, z: z.clone(), nearest: (0..z.len()).map(nearest).collect() }
    }

    /// Mean squared distance from the origin to `z` in units of the local covariance, divided by
    /// its value for independent particles. Each particle counts for at most twice that value.
    pub(super) fn distance(&self, z: &Batch) -> f64 {
        let squares: Vec<_> = (self.mixture.components.iter())
            .map(|component| component.squares(z, Some(&self.z)))
            .collect();
        let independent = 2.0 * z.dim() as f64;
        let moved = |(i, &nearest): (usize, &usize)| (squares[nearest][i] / independent).min(2.0);
        self.nearest.iter().enumerate().map(moved).sum::<f64>() / z.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// With standard deviations 1 and 3, a move by both has the squared distance 2; for independent
    /// particles the mean is 4. Each particle counts for at most twice that.
    #[test]
    fn distances_are_in_units_of_the_covariance() {
        let mut z = Batch::zeros(2, 4_000);
        Stream::new(3, Purpose::MonteCarlo).fill_normals(0, 0, &mut z);
        z.row_mut(1).iter_mut().for_each(|y| *y *= 3.0);
        let mixture = Mixture::fit(&z, &[1.0 / 4_000.0; 4_000], None);
        assert_eq!(mixture.components.len(), 1);
        let origin = Origin::new(&mixture, &z);
        assert_eq!(origin.distance(&z), 0.0);
        let moved = |x: f64, y: f64| {
            let mut moved = z.clone();
            moved.row_mut(0).iter_mut().for_each(|z| *z += x);
            moved.row_mut(1).iter_mut().for_each(|z| *z += y);
            origin.distance(&moved)
        };
        // The relative error of the variance of 4,000 draws is √(2/4,000) = 0.022; the error of
        // their correlation is 0.016.
        assert!((moved(1.0, 3.0) - 0.5).abs() < 0.5 * 5.0 * 0.022, "{}", moved(1.0, 3.0));
        assert!((moved(0.0, 3.0) - 0.25).abs() < 0.25 * 5.0 * 0.022);
        assert_eq!(moved(1e9, 0.0), 2.0);
    }
}
