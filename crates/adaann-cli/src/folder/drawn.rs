//! The draws of a run folder, with their weights.

use crate::folder::stored::Stored;
use adaann::{
    Batch,
    importance::{Sample, resample},
};
use anyhow::Result;

/// The contents of `draws.csv`.
pub(crate) struct Drawn {
    /// The parameters.
    pub(crate) x: Batch,
    pub(crate) log_p: Vec<f64>,
    /// NaN for methods without a q.
    pub(crate) log_q: Vec<f64>,
    /// They sum to 1.
    pub(crate) weights: Vec<f64>,
}

/// Whose draws are shown, predicted from or exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The target's: draws of the flow, resampled by their weights.
    Target,
    /// The flow's own, unweighted.
    Flow,
}

/// Draws with equal weights.
pub(crate) struct Chosen {
    pub(crate) x: Batch,
    pub(crate) log_p: Vec<f64>,
}

impl Whose {
    /// By the flag `--unweighted`.
    pub(crate) fn new(unweighted: bool) -> Self {
        if unweighted { Self::Flow } else { Self::Target }
    }

    /// A name for these draws.
    pub(crate) fn draws(self) -> &'static str {
        match self {
            Self::Target => "weighted draws",
            Self::Flow => "unweighted draws of the flow",
        }
    }

    /// A note on a file with draws other than the default.
    pub(crate) fn note(self) -> String {
        match self {
            Self::Target => String::new(),
            Self::Flow => format!(" ({})", self.draws()),
        }
    }
}

impl Drawn {
    /// Reads the draws of a run.
    pub(crate) fn read(stored: &Stored, names: &[String]) -> Result<Self> {
        let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
        all.extend(["log_p", "log_q", "weight"]);
        let mut found = stored.columns("draws.csv", &all)?;
        let rest = found.split_off(names.len());
        let [log_p, log_q, weights] = rest.try_into().expect("a column for each name");
        let mut x = Batch::zeros(names.len(), log_p.len());
        for (d, column) in found.iter().enumerate() {
            x.row_mut(d).copy_from_slice(column);
        }
        Ok(Self { x, log_p, log_q, weights })
    }

    /// The draws of a sample in memory.
    pub(crate) fn of(sample: &Sample) -> Self {
        let none = || vec![f64::NAN; sample.len()];
        Self {
            x: sample.x().clone(),
            log_p: sample.log_p().to_vec(),
            log_q: sample.log_q().map_or_else(none, <[f64]>::to_vec),
            weights: sample.weights().to_vec(),
        }
    }

    /// Are these draws of a q? Particles and chains have none.
    pub(crate) fn has_q(&self) -> bool {
        self.log_q.iter().any(|log_q| !log_q.is_nan())
    }

    /// Takes `count` draws: resampled with this seed for the target, or the first ones for the flow.
    pub(crate) fn chosen(&self, whose: Whose, count: usize, seed: u64) -> Chosen {
        let chosen = match whose {
            Whose::Target => resample::by_seed(&self.weights, count, seed),
            Whose::Flow => (0..count.min(self.log_p.len())).collect(),
        };
        let points: Vec<Vec<f64>> = chosen.iter().map(|&i| self.x.point(i)).collect();
        let x = Batch::from_points(self.x.dim(), &points);
        Chosen { x, log_p: chosen.iter().map(|&i| self.log_p[i]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_draws_are_chosen_by_weight_and_the_flows_are_not() {
        let drawn = Drawn {
            x: Batch::from_points(2, &[[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0]]),
            log_p: vec![0.0, 0.1, 0.2, 0.3],
            log_q: vec![0.0; 4],
            weights: vec![0.0, 0.25, 0.0, 0.75],
        };
        let chosen = drawn.chosen(Whose::Target, 4, 1);
        assert_eq!(chosen.x.row(0), [1.0, 3.0, 3.0, 3.0]);
        assert_eq!(chosen.x.row(1), [6.0, 8.0, 8.0, 8.0]);
        assert_eq!(chosen.log_p, [0.1, 0.3, 0.3, 0.3]);
        assert_eq!(drawn.chosen(Whose::Flow, 3, 1).log_p, [0.0, 0.1, 0.2]);
        assert_eq!(drawn.chosen(Whose::Flow, 9, 1).x.len(), 4);
    }
}
