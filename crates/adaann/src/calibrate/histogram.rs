//! Histograms of ranks: observed counts compared with expected counts.

use super::binomial::{Tails, ln_factorials};
use crate::simd::Special;
use crate::{Result, error};

/// Ranks in bins of (nearly) equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// How many ranks are in each bin.
    pub counts: Vec<usize>,
    /// The expected number of uniform ranks in each bin.
    pub expected: Vec<f64>,
    /// Σ (count − expected)²/expected.
    pub chi_square: f64,
    /// The probability that uniform ranks give a larger chi-square.
    pub p_value: f64,
    trials: usize,
}

/// Expected ranks per bin for which the chi-square approximation holds, and the maximum number of
/// bins.
const FEWEST_EXPECTED: usize = 10;
const MOST_BINS: usize = 20;

/// A suitable number of bins: at most 20, with at least ten ranks per bin where that allows two
/// bins.
pub fn bins_for(trials: usize, draws: usize) -> usize {
    (trials / FEWEST_EXPECTED).clamp(2, MOST_BINS).min(draws + 1)
}

impl Histogram {
    /// Counts ranks among `draws` draws; ranks range from 0 to `draws`.
    ///
    /// # Errors
    /// If there are no ranks, a rank exceeds `draws`, or `bins` is not between 1 and `draws` + 1.
    pub fn new(ranks: &[usize], draws: usize, bins: usize) -> Result<Self> {
        error::at_least_one("trials", ranks.len())?;
        if !(1..=draws + 1).contains(&bins) {
            return Err(error::setting("bins", bins, format!("from 1 to {}", draws + 1)));
        }
        if let Some(rank) = ranks.iter().find(|&&rank| rank > draws) {
            return Err(error::shape("a rank", rank, format!("at most {draws}")));
        }
        let bin = |rank: usize| rank * bins / (draws + 1);
        let mut values = vec![0; bins];
        (0..=draws).for_each(|rank| values[bin(rank)] += 1);
        let mut counts = vec![0; bins];
        ranks.iter().for_each(|&rank| counts[bin(rank)] += 1);
        let share = |count: &usize| *count as f64 / (draws + 1) as f64;
        let expected: Vec<f64> =
            values.iter().map(|count| ranks.len() as f64 * share(count)).collect();
        let term =
            |(count, expected): (&usize, &f64)| (*count as f64 - expected).powi(2) / expected;
        let chi_square = counts.iter().zip(&expected).map(term).sum();
        let p_value = chi_square_tail(bins - 1, chi_square);
        Ok(Self { counts, expected, chi_square, p_value, trials: ranks.len() })
    }

    /// For each bin, the interval that contains the count of uniform ranks with this probability.
    pub fn bands(&self, coverage: f64) -> Vec<(usize, usize)> {
        let ln_factorials = ln_factorials(self.trials);
        let band = |expected: &f64| match expected / self.trials as f64 {
            share if share < 1.0 => {
                Tails::new(self.trials, share, &ln_factorials).between(1.0 - coverage)
            }
            _ => (self.trials, self.trials),
        };
        self.expected.iter().map(band).collect()
    }
}

/// The probability that a chi-square variable with this many degrees of freedom exceeds x: Q(n/2,
/// x/2), by Q(a + 1, y) = Q(a, y) + y^a e^−y/Γ(a + 1).
fn chi_square_tail(degrees: usize, x: f64) -> f64 {
    if degrees == 0 {
        return 1.0;
    }
    let y = 0.5 * x;
    let (mut a, mut tail) = if degrees.is_multiple_of(2) {
        (1.0, (-y).exp())
    } else {
        (0.5, Special::Erfc.at(y.sqrt()))
    };
    while 2.0 * a < degrees as f64 {
        if y > 0.0 {
            tail += (a * y.ln() - y - Special::LnGamma.at(a + 1.0)).exp();
        }
        a += 1.0;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_and_bins_may_differ_by_one() {
        // Ranks 0 to 6 in three bins: 0, 1, 2 and 3, 4 and 5, 6.
        let histogram = Histogram::new(&[0, 2, 2, 3, 6, 6, 6], 6, 3).unwrap();
        assert_eq!(histogram.counts, [3, 1, 3]);
        assert_eq!(histogram.expected, [3.0, 2.0, 2.0]);
        assert!((histogram.chi_square - (0.0 + 0.5 + 0.5)).abs() < 1e-14);
        // With two degrees of freedom the tail is e^(-x/2).
        assert!((histogram.p_value - (-0.5_f64).exp()).abs() < 1e-14);
        assert!(Histogram::new(&[7], 6, 3).is_err() && Histogram::new(&[], 6, 3).is_err());
        assert!(Histogram::new(&[1], 6, 8).is_err() && Histogram::new(&[1], 6, 0).is_err());
    }

    #[test]
    fn tails_are_those_of_tables() {
        // The 5 per cent points of the chi-square distribution, from tables.
        for (degrees, x) in [(1, 3.841), (2, 5.991), (5, 11.070), (10, 18.307), (19, 30.144)] {
            // Half a unit in the last digit times a density of at most 0.03 there.
            assert!((chi_square_tail(degrees, x) - 0.05).abs() < 2e-5, "{degrees}");
        }
        assert_eq!(chi_square_tail(5, 0.0), 1.0);
        assert!(chi_square_tail(19, 1e4) < 1e-300);
    }

    #[test]
    fn bands_hold_a_bin_of_uniform_ranks() {
        // 27, 27, 9 and 1 of 64 for three ranks in a quarter of the values.
        let histogram = Histogram::new(&[0, 5, 7], 7, 4).unwrap();
        assert_eq!(histogram.bands(0.9), [(0, 2); 4]);
        assert_eq!(histogram.bands(0.98), [(0, 3); 4]);
        assert_eq!(Histogram::new(&[0, 5], 7, 1).unwrap().bands(0.99), [(2, 2)]);
    }

    #[test]
    fn bins_have_enough_ranks() {
        assert_eq!(
            [(20, 99), (100, 99), (1000, 99), (1000, 5), (0, 0)].map(|(n, l)| bins_for(n, l)),
            [2, 10, 20, 6, 1]
        );
    }
}
