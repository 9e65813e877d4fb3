//! Detects whether moves raise b, a sign that particles lag behind their density.
//!
//! Reweighting from t to t + ε keeps the particles representative, and moves leave the density at
//! t + ε invariant. So moves change the distribution of b only by chance. Lagging particles have too
//! low a b, since the mean of b increases with t, and moves let them catch up. The test is that of
//! Mann, Whitney and Wilcoxon: it needs no scale, and is robust to the tails of b, which are long
//! near t = 0.

use crate::non_finite::is_non_finite;

/// b of weighted particles, in ascending order.
pub(super) struct Before {
    /// Each b with the cumulative weight up to it.
    sorted: Vec<(f64, f64)>,
    /// The reciprocal of the effective number of particles.
    squares: f64,
}

impl Before {
    /// `None` if no particle has a finite b.
    pub(super) fn new(b: &[f64], weights: &[f64]) -> Option<Self> {
        let (mut sorted, squares) = usable(b, weights)?;
        sorted.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut below = 0.0;
        for (_, weight) in &mut sorted {
            below += *weight;
            *weight = below;
        }
        Some(Self { sorted, squares })
    }

    /// The rise of b: P(after > before) − 1/2, divided by its standard error for particles that are
    /// independent draws of the same density before and after.
    pub(super) fn rise(&self, b: &[f64], weights: &[f64]) -> f64 {
        let Some((after, squares)) = usable(b, weights) else { return 0.0 };
        let below = |b: f64| {
            let share = |count: usize| if count == 0 { 0.0 } else { self.sorted[count - 1].1 };
            let less = self.sorted.partition_point(|(before, _)| *before < b);
            let at_most = self.sorted.partition_point(|(before, _)| *before <= b);
            0.5 * (share(less) + share(at_most))
        };
        let mean: f64 = after.iter().map(|(b, weight)| weight * below(*b)).sum();
        // Ranks are uniform between 0 and 1, with variance 1/12.
        (mean - 0.5) / ((self.squares + squares) / 12.0).sqrt()
    }
}

/// The usable particles with weights that sum to 1, and the sum of squared weights.
fn usable(b: &[f64], weights: &[f64]) -> Option<(Vec<(f64, f64)>, f64)> {
    let counts = |(b, weight): &(f64, f64)| !is_non_finite(*b) && *weight > 0.0;
    let mut usable: Vec<_> =
        b.iter().copied().zip(weights.iter().copied()).filter(counts).collect();
    let total: f64 = usable.iter().map(|(_, weight)| weight).sum();
    usable.iter_mut().for_each(|(_, weight)| *weight /= total);
    let squares = usable.iter().map(|(_, weight)| weight * weight).sum();
    (!usable.is_empty()).then_some((usable, squares))
}

/// The cumulative rise of b over temperatures: a lag too small to detect at one temperature shows in
/// the sum (Page's test).
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Lag(f64);

/// The rise per temperature that is attributed to chance, in standard errors.
const CHANCE: f64 = 0.75;

/// The sum of excess rises that indicates a lag. Without a lag the rises are normal with standard
/// deviation 1 (0.96 over densities with known answers), and a false alarm occurs less often than
/// once in e^(2 · 0.75 · 4.5), about 850, temperatures.
const ALARM: f64 = 4.5;

impl Lag {
    /// Adds a rise.
    pub(super) fn add(&mut self, rise: f64) {
        self.0 = (self.0 + rise - CHANCE).max(0.0);
    }

    /// Whether particles lag.
    pub(super) fn is_seen(self) -> bool {
        self.0 > ALARM
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Batch,
        rng::{Purpose, Stream},
    };

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut z = Batch::zeros(1, count);
        Stream::new(seed, Purpose::MonteCarlo).fill_normals(0, 0, &mut z);
        z.row(0).to_vec()
    }

    /// 200 rises of draws without drift: the error of their mean is 1/√200 = 0.07, that of their
    /// mean square √(2/200) = 0.1.
    #[test]
    fn rises_of_one_density_are_standard_normal() {
        let (weights, mut sum, mut squares) = (vec![0.01; 400], 0.0, 0.0);
        let uneven: Vec<f64> = (0..400).map(|i| f64::from(i % 5)).collect();
        for seed in 0..200 {
            let before = Before::new(&normals(2 * seed, 400), &uneven).unwrap();
            let rise = before.rise(&normals(2 * seed + 1, 400), &weights);
            sum += rise / 200.0;
            squares += rise * rise / 200.0;
        }
        assert!(sum.abs() < 4.0 * 0.07, "{sum}");
        assert!((squares - 1.0).abs() < 4.0 * 0.1, "{squares}");
    }

    /// A shift by δ standard deviations moves the mean rank by 0.282 δ, with the error √(2/(12 ·
    /// 2,000)) = 0.0091: 0.3 is 9.3 errors. Non-finite particles and rescaling have no effect.
    #[test]
    fn a_shift_is_seen_on_any_scale() {
        let (mut b, mut weights) = (normals(1, 2_000), vec![1.0; 2_000]);
        let mut after: Vec<f64> = normals(2, 2_000).iter().map(|b| b + 0.3).collect();
        let rise = Before::new(&b, &weights).unwrap().rise(&after, &weights);
        assert!((rise - 9.3).abs() < 4.0, "{rise}");
        b.iter_mut().chain(&mut after).for_each(|b| *b = -(-50.0 * *b).exp());
        b.push(f64::NEG_INFINITY);
        after.push(f64::NAN);
        weights.push(1.0);
        let same = Before::new(&b, &weights).unwrap().rise(&after, &weights);
        assert!((same - rise).abs() < 1e-9, "{same} for {rise}");
        assert!(Before::new(&[f64::NAN; 3], &[1.0; 3]).is_none());
    }

    #[test]
    fn small_rises_add_up_and_chance_is_forgotten() {
        let mut lag = Lag::default();
        (0..20).for_each(|i| lag.add(if i % 2 == 0 { 2.0 } else { -1.0 }));
        assert!(!lag.is_seen());
        (0..4).for_each(|_| lag.add(2.0));
        assert!(lag.is_seen(), "{lag:?}");
    }
}
