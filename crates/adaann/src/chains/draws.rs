//! The draws of all chains, stored iteration by iteration and thinned if there would be too many.

use super::{places::Places, rank};
use crate::Batch;
use rayon::prelude::*;

/// Draws: number n·M + m is the draw of chain m in the n-th stored iteration.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Draws {
    chains: usize,
    rows: Vec<Vec<f64>>,
    log_density: Vec<f64>,
    /// The interval between stored iterations.
    every: usize,
    seen: usize,
}

/// The most numbers to store: 64 MiB. Beyond that, every second iteration is dropped. Each look at
/// convergence sorts all of them, and a run that is to stop waits for it: about two seconds.
const MOST: usize = 1 << 23;

impl Draws {
    pub(super) fn new(dim: usize, chains: usize) -> Self {
        Self { chains, rows: vec![Vec::new(); dim], log_density: Vec::new(), every: 1, seen: 0 }
    }

    /// Stores the positions of an iteration, if it is due.
    pub(super) fn push(&mut self, places: &Places) {
        self.push_within(places, MOST);
    }

    fn push_within(&mut self, places: &Places, most: usize) {
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(self.every) {
            return;
        }
        for (d, row) in self.rows.iter_mut().enumerate() {
            row.extend_from_slice(places.z.row(d));
        }
        self.log_density.extend_from_slice(&places.log_density);
        if self.rows.len() * self.log_density.len() > most {
            self.every *= 2;
            let chains = self.chains;
            self.rows.iter_mut().for_each(|row| thin(row, chains));
            thin(&mut self.log_density, chains);
        }
    }

    /// The number of stored iterations.
    pub(super) fn iterations(&self) -> usize {
        self.log_density.len() / self.chains
    }

    /// The values of `of` for each coordinate, and last for the log density.
    pub(super) fn each<T: Send>(&self, of: fn(&[f64], usize) -> T) -> Vec<T> {
        let last = std::slice::from_ref(&self.log_density);
        self.rows.par_iter().chain(last).map(|row| of(row, self.chains)).collect()
    }

    /// The largest R-hat and the smallest bulk effective sample size.
    pub(super) fn look(&self) -> (f64, f64) {
        let [r_hat, bulk_ess] = pairs(self.each(rank::r_hat_and_bulk_ess));
        (largest(&r_hat), smallest(&bulk_ess))
    }

    /// All draws.
    pub(super) fn batch(&self) -> Batch {
        self.some(0, &vec![true; self.chains])
    }

    /// The draws of some chains, without the first iterations.
    pub(super) fn some(&self, from: usize, is_in: &[bool]) -> Batch {
        let count = is_in.iter().filter(|is_in| **is_in).count();
        let mut z = Batch::zeros(self.rows.len(), (self.iterations() - from) * count);
        for (d, row) in self.rows.iter().enumerate() {
            let draws = row[from * self.chains..].iter().zip(is_in.iter().cycle());
            let chosen = draws.filter(|(_, is_in)| **is_in).map(|(z, _)| *z);
            z.row_mut(d).iter_mut().zip(chosen).for_each(|(to, z)| *to = z);
        }
        z
    }

    /// The mean of each chain, without the first iterations.
    pub(super) fn means(&self, from: usize) -> Batch {
        let mut means = Batch::zeros(self.rows.len(), self.chains);
        let count = (self.iterations() - from) as f64;
        for (d, row) in self.rows.iter().enumerate() {
            let draws = row[from * self.chains..].chunks_exact(self.chains);
            let sums = means.row_mut(d);
            draws.for_each(|draws| {
                sums.iter_mut().zip(draws).for_each(|(sum, z)| *sum += z / count)
            });
        }
        means
    }

    /// The log density of each draw.
    pub(super) fn into_log_density(self) -> Vec<f64> {
        self.log_density
    }
}

/// The first elements and the second elements.
pub(super) fn pairs(both: Vec<[f64; 2]>) -> [Vec<f64>; 2] {
    [0, 1].map(|which| both.iter().map(|pair| pair[which]).collect())
}

/// Drops every second iteration.
fn thin(row: &mut Vec<f64>, chains: usize) {
    let mut at = 0;
    row.retain(|_| {
        at += 1;
        ((at - 1) / chains).is_multiple_of(2)
    });
}

/// The largest value; NaN if one is NaN.
pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |a, &b| if b.is_nan() || b > a { b } else { a })
}

/// The smallest value; NaN if one is NaN.
pub(super) fn smallest(values: &[f64]) -> f64 {
    values.iter().fold(f64::INFINITY, |a, &b| if b.is_nan() || b < a { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_thinned_evenly() {
        let mut draws = Draws::new(2, 3);
        for n in 0..100 {
            let places = Places {
                z: Batch::from_points(2, &[[f64::from(n), 0.0]; 3]),
                log_density: vec![-f64::from(n); 3],
                gradient: Batch::zeros(2, 3),
            };
            draws.push_within(&places, 60);
        }
        // 10 iterations of 3 draws of 2 numbers are 60.
        let kept: Vec<f64> = (0..draws.iterations()).map(|n| draws.rows[0][3 * n]).collect();
        assert_eq!(kept, [0.0, 16.0, 32.0, 48.0, 64.0, 80.0, 96.0]);
        assert_eq!(draws.some(5, &[true; 3]).row(0), [80.0, 80.0, 80.0, 96.0, 96.0, 96.0]);
        draws.rows[1] = (0..21).map(f64::from).collect();
        assert_eq!(draws.some(5, &[true, false, true]).row(1), [15.0, 17.0, 18.0, 20.0]);
        assert_eq!(draws.batch().len(), 21);
        assert_eq!(draws.means(5).row(1), [16.5, 17.5, 18.5]);
        assert_eq!(draws.into_log_density()[3..6], [-16.0; 3]);
    }

    #[test]
    fn what_is_no_number_is_the_worst() {
        assert_eq!((largest(&[1.0, 3.0, 2.0]), smallest(&[2.0, 1.0, 3.0])), (3.0, 1.0));
        let nan = f64::NAN;
        assert!(largest(&[1.0, nan]).is_nan() && smallest(&[nan, 1.0]).is_nan());
    }
}
