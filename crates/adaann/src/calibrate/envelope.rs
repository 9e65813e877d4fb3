//! A simultaneous confidence band for the distribution function of ranks.
//!
//! The number of ranks up to r among N is binomial. At each r the band ends where a tail is γ/2. γ is
//! chosen so that the whole function stays inside with the requested coverage; it is found by simulating
//! uniform ranks.
//!
//! T. Säilynoja, P. Bürkner, A. Vehtari, "Graphical test for discrete uniformity and its applications
//! in goodness-of-fit evaluation and multiple sample comparison" (2022).

use super::binomial::{Tails, ln_factorials};
use crate::rng::{Purpose, Stream};
use crate::{Result, error};

/// Maximum number of ranks at which the function is evaluated.
const MOST_POINTS: usize = 100;

/// Simulations that should fall outside the band, and bounds on the total number of simulations.
const BEYOND: f64 = 100.0;
const SIMULATIONS: (f64, f64) = (2_000.0, 20_000.0);

/// A band for the distribution function of ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    trials: usize,
    draws: usize,
    /// Ranks r at which the share of ranks up to r is evaluated.
    points: Vec<usize>,
    tails: Vec<Tails>,
    /// The smallest tail of each simulation, in ascending order.
    simulated: Vec<f64>,
    /// The tail probability at which the function leaves the band.
    smallest: f64,
}

/// How far ranks deviate from uniform ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The largest difference between their distribution function and the uniform one, with its sign.
    pub largest: f64,
    /// Is the function inside the band everywhere?
    pub is_inside: bool,
    /// Share of simulated uniform ranks that deviate at least as much.
    pub p_value: f64,
}

impl Envelope {
    /// A band for `trials` ranks among `draws` draws that contains uniform ranks with probability
    /// `coverage`.
    ///
    /// # Errors
    /// If there are no trials or no draws, or the coverage is not between 0 and 1.
    pub fn new(trials: usize, draws: usize, coverage: f64) -> Result<Self> {
        error::at_least_one("trials", trials)?;
        error::at_least_one("draws", draws)?;
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(error::setting("coverage", coverage, "above 0 and below 1"));
        }
        let count = draws.min(MOST_POINTS);
        let points: Vec<usize> = (1..=count).map(|j| j * (draws + 1) / (count + 1) - 1).collect();
        let ln_factorials = ln_factorials(trials);
        let share = |&r: &usize| (r + 1) as f64 / (draws + 1) as f64;
        let tails = points.iter().map(|r| Tails::new(trials, share(r), &ln_factorials)).collect();
        let (simulated, smallest) = (Vec::new(), 0.0);
        let mut envelope = Self { trials, draws, points, tails, simulated, smallest };
        let rest = 1.0 - coverage;
        let simulations = (BEYOND / rest).clamp(SIMULATIONS.0, SIMULATIONS.1) as usize;
        envelope.simulated = envelope.simulate(simulations);
        envelope.smallest = envelope.simulated[(rest * simulations as f64) as usize];
        Ok(envelope)
    }

    /// The smallest tails of uniform ranks, in ascending order.
    fn simulate(&self, simulations: usize) -> Vec<f64> {
        let stream = Stream::new(1, Purpose::MonteCarlo);
        let mut smallest: Vec<f64> = (0..simulations)
            .map(|simulation| {
                let first = (simulation * self.trials) as u64;
                let rank = |i: usize| {
                    let uniform = stream.uniform_at(first + i as u64);
                    (uniform * (self.draws + 1) as f64) as usize
                };
                self.smallest_tail(&self.up_to((0..self.trials).map(rank)))
            })
            .collect();
        smallest.sort_by(f64::total_cmp);
        smallest
    }

    /// How many ranks are up to each point.
    fn up_to(&self, ranks: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut counts = vec![0; self.points.len() + 1];
        for rank in ranks {
            counts[self.points.partition_point(|&point| point < rank)] += 1;
        }
        counts.pop();
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        counts
    }

    fn smallest_tail(&self, up_to: &[usize]) -> f64 {
        let tails = self.tails.iter().zip(up_to).map(|(tails, &count)| tails.of(count));
        tails.fold(1.0, f64::min)
    }

    /// The share of uniform ranks up to a point.
    fn share(&self, point: usize) -> f64 {
        (self.points[point] + 1) as f64 / (self.draws + 1) as f64
    }

    /// The expected share of uniform ranks at each point, and how far the band reaches below and above
    /// it.
    pub fn band(&self) -> Vec<(f64, f64, f64)> {
        let band = |(i, tails): (usize, &Tails)| {
            let (low, high) = tails.between(self.smallest);
            let away = |count: usize| count as f64 / self.trials as f64 - self.share(i);
            (self.share(i), away(low), away(high))
        };
        self.tails.iter().enumerate().map(band).collect()
    }

    /// The expected share of uniform ranks at each point, and the difference of the observed share from
    /// it.
    ///
    /// # Errors If the number of ranks differs from that of the band, or a rank exceeds the number of
    /// draws.
    pub fn differences(&self, ranks: &[usize]) -> Result<Vec<(f64, f64)>> {
        let up_to = self.counted(ranks)?;
        let difference = |(i, &count): (usize, &usize)| {
            (self.share(i), count as f64 / self.trials as f64 - self.share(i))
        };
        Ok(up_to.iter().enumerate().map(difference).collect())
    }

    /// How far ranks deviate from uniform ranks.
    ///
    /// # Errors
    /// If the number of ranks differs from that of the band, or a rank exceeds the number of draws.
    pub fn deviation(&self, ranks: &[usize]) -> Result<Deviation> {
        let tail = self.smallest_tail(&self.counted(ranks)?);
        let differences = self.differences(ranks)?;
        let larger = |a: f64, (_, b): (f64, f64)| if b.abs() > a.abs() { b } else { a };
        let as_far = self.simulated.partition_point(|&simulated| simulated <= tail);
        Ok(Deviation {
            largest: differences.into_iter().fold(0.0, larger),
            is_inside: tail >= self.smallest,
            p_value: (as_far + 1) as f64 / (self.simulated.len() + 1) as f64,
        })
    }

    fn counted(&self, ranks: &[usize]) -> Result<Vec<usize>> {
        if ranks.len() != self.trials {
            let what = "the number of ranks";
            return Err(error::shape(what, ranks.len(), self.trials));
        }
        if let Some(rank) = ranks.iter().find(|&&rank| rank > self.draws) {
            return Err(error::shape("a rank", rank, format!("at most {}", self.draws)));
        }
        Ok(self.up_to(ranks.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_ranks_are_inside_as_often_as_asked_for() {
        let envelope = Envelope::new(50, 19, 0.9).unwrap();
        let stream = Stream::new(7, Purpose::Evaluation);
        const REPEATS: usize = 2_000;
        let mut inside = 0;
        for repeat in 0..REPEATS {
            let rank = |i| (20.0 * stream.uniform_at((50 * repeat + i) as u64)) as usize;
            let ranks: Vec<usize> = (0..50).map(rank).collect();
            inside += usize::from(envelope.deviation(&ranks).unwrap().is_inside);
        }
        let share = inside as f64 / REPEATS as f64;
        // Errors of two simulations of 2,000, four standard deviations each of √(0.9 · 0.1/2000). Counts
        // are integers, which can only widen the band.
        assert!(share > 0.9 - 0.04, "{share}");
        assert!(share < 0.99, "{share}");
    }

    #[test]
    fn bands_of_one_point_are_binomial() {
        // One draw: the rank is 0 or 1. Of ten, 2 to 8 zeros have probability 0.979, 3 to 7 have 0.891.
        let envelope = Envelope::new(10, 1, 0.95).unwrap();
        assert_eq!(envelope.points, [0]);
        let [(share, low, high)] = envelope.band()[..] else { panic!("one point") };
        assert_eq!(share, 0.5);
        assert!((low + 0.3).abs() < 1e-12 && (high - 0.3).abs() < 1e-12, "{low} {high}");
        for (zeros, is_inside) in [(1, false), (2, true), (5, true), (8, true), (9, false)] {
            let ranks: Vec<usize> = (0..10).map(|i| usize::from(i >= zeros)).collect();
            let deviation = envelope.deviation(&ranks).unwrap();
            assert_eq!(deviation.is_inside, is_inside, "{zeros}");
            assert!((deviation.largest - (zeros as f64 / 10.0 - 0.5)).abs() < 1e-12);
        }
    }

    #[test]
    fn being_inside_is_what_the_band_shows() {
        let envelope = Envelope::new(40, 250, 0.95).unwrap();
        assert_eq!(envelope.points.len(), MOST_POINTS);
        let stream = Stream::new(2, Purpose::Evaluation);
        let mut seen = [0, 0];
        for repeat in 0..200_u64 {
            // Powers of uniform numbers: as the power grows, small ranks become too frequent.
            let power = 1.0 + 0.01 * repeat as f64;
            let rank = |i: u64| (251.0 * stream.uniform_at(40 * repeat + i).powf(power)) as usize;
            let ranks: Vec<usize> = (0..40).map(rank).collect();
            let band = envelope.band();
            let shown = envelope.differences(&ranks).unwrap().iter().zip(&band).all(
                |((_, difference), (_, low, high))| {
                    *difference >= low - 1e-12 && *difference <= high + 1e-12
                },
            );
            assert_eq!(envelope.deviation(&ranks).unwrap().is_inside, shown);
            seen[usize::from(shown)] += 1;
        }
        assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
    }

    #[test]
    fn what_makes_no_band_is_refused() {
        for (trials, draws, coverage) in [(0, 9, 0.9), (9, 0, 0.9), (9, 9, 1.0), (9, 9, f64::NAN)] {
            assert!(Envelope::new(trials, draws, coverage).is_err());
        }
        let envelope = Envelope::new(2, 9, 0.9).unwrap();
        assert!(envelope.deviation(&[1]).is_err() && envelope.deviation(&[1, 10]).is_err());
    }
}
