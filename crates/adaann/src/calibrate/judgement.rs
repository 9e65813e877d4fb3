//! What non-uniform ranks say about the draws.

use super::Deviation;
use serde::Serialize;
use std::fmt;

/// A judgement on the draws of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The ranks are consistent with uniform ranks.
    Calibrated,
    /// The truth lies outside the draws too often.
    TooNarrow,
    /// The truth lies in the middle of the draws too often.
    TooWide,
    /// The draws lie below the truth.
    BiasedLow,
    /// The draws lie above the truth.
    BiasedHigh,
    /// The ranks are not uniform, in none of the ways above.
    Uneven,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calibrated => "calibrated",
            Self::TooNarrow => "too narrow",
            Self::TooWide => "too wide",
            Self::BiasedLow => "biased low",
            Self::BiasedHigh => "biased high",
            Self::Uneven => "uneven",
        })
    }
}

/// Number of standard errors from which the mean or the spread of the ranks names the deviation.
const CLEAR: f64 = 2.0;

impl Judgement {
    /// Judges ranks among `draws` draws by their deviation from uniform ranks.
    pub fn of(ranks: &[usize], draws: usize, deviation: &Deviation) -> Self {
        if deviation.is_inside {
            return Self::Calibrated;
        }
        let (centre, spread) = standardised(ranks, draws);
        match (centre.abs() >= spread.abs(), centre.abs().max(spread.abs()) >= CLEAR) {
            (_, false) => Self::Uneven,
            (true, _) if centre > 0.0 => Self::BiasedLow,
            (true, _) => Self::BiasedHigh,
            (false, _) if spread > 0.0 => Self::TooNarrow,
            (false, _) => Self::TooWide,
        }
    }
}

/// The mean of the ranks and the mean of their squares about the middle, minus the values for uniform
/// ranks, in standard errors.
fn standardised(ranks: &[usize], draws: usize) -> (f64, f64) {
    let middle = 0.5 * draws as f64;
    let square = |rank: usize| (rank as f64 - middle).powi(2);
    let values = (draws + 1) as f64;
    let variance = (0..=draws).map(square).sum::<f64>() / values;
    let fourth = (0..=draws).map(|rank| square(rank).powi(2)).sum::<f64>() / values;
    let n = ranks.len() as f64;
    let centre = ranks.iter().map(|&rank| rank as f64 - middle).sum::<f64>();
    let spread = ranks.iter().map(|&rank| square(rank) - variance).sum::<f64>();
    let in_errors =
        |sum: f64, variance: f64| if variance > 0.0 { sum / (n * variance).sqrt() } else { 0.0 };
    (in_errors(centre, variance), in_errors(spread, fourth - variance * variance))
}

#[cfg(test)]
mod tests {
    use super::super::{Envelope, rank};
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Judges 200 trials: the truth is standard normal, and the draws are standard normal, scaled and
    /// shifted.
    fn judged(scale: f64, shift: f64) -> Judgement {
        const TRIALS: usize = 200;
        const DRAWS: usize = 49;
        let stream = Stream::new(11, Purpose::Evaluation);
        let one = |trial: usize| {
            let first = (trial * (DRAWS + 2)) as u64;
            let truth = stream.normal_at(first);
            let draws: Vec<f64> =
                (1..=DRAWS as u64).map(|i| scale * stream.normal_at(first + i) + shift).collect();
            rank(truth, &draws, 0.5)
        };
        let ranks: Vec<usize> = (0..TRIALS).map(one).collect();
        let deviation = Envelope::new(TRIALS, DRAWS, 0.99).unwrap().deviation(&ranks).unwrap();
        Judgement::of(&ranks, DRAWS, &deviation)
    }

    #[test]
    fn wrong_draws_are_called_what_they_are() {
        assert_eq!(judged(1.0, 0.0), Judgement::Calibrated);
        // With half the spread, three in ten truths lie more than two standard deviations of the
        // draws away.
        assert_eq!(judged(0.5, 0.0), Judgement::TooNarrow);
        assert_eq!(judged(2.0, 0.0), Judgement::TooWide);
        assert_eq!(judged(1.0, 0.5), Judgement::BiasedHigh);
        assert_eq!(judged(1.0, -0.5), Judgement::BiasedLow);
    }

    #[test]
    fn errors_are_those_of_uniform_ranks() {
        // Ranks 0, 1, 2: about 1 their variance is 2/3, and that of their squares 2/9.
        let (centre, spread) = standardised(&[2, 2], 2);
        assert!((centre - 2.0 / (2.0 * 2.0 / 3.0_f64).sqrt()).abs() < 1e-12);
        assert!((spread - 2.0 / 3.0 / (2.0 * 2.0 / 9.0_f64).sqrt()).abs() < 1e-12);
        // Ranks 0 and 1 are equally far from the middle.
        assert_eq!(standardised(&[1, 1, 0], 1).1, 0.0);
    }
}
