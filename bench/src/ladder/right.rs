//! Is an answer right? Compares means, standard deviations, mode weights and evidence with the truth.

use super::subject::{Reference, Truth};
use adaann::{
    Batch, Result,
    answer::Answer,
    diagnostics::thresholds::is_mode_lost,
    importance::Sample,
    model::Model,
    registry::{Known, Mode},
};

/// The allowed errors: of means in standard deviations, of standard deviations as a relative error, of mode weights,
/// and of log Z, which may be off by three stated errors, up to the last number.
const MEAN: f64 = 0.1;
const SD: f64 = 0.1;
const WEIGHT: f64 = 0.03;
const LOG_Z: f64 = 0.05;
const LOG_Z_ERRORS: f64 = 3.0;
const MOST_LOG_Z: f64 = 0.1;

/// The largest errors of an answer, or 0 where the truth is unknown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deviation {
    /// The error of a mean, in standard deviations.
    pub(crate) mean: f64,
    /// The relative error of a standard deviation.
    pub(crate) sd: f64,
    /// The error of a mode weight.
    pub(crate) weight: f64,
    /// The number of known modes, or of sides of split coordinates.
    pub(crate) modes: usize,
    /// The share of the answer in each of them, in order.
    pub(crate) shares: Vec<f64>,
    /// The number of modes that are practically missing.
    pub(crate) lost: usize,
    /// The relative error of a standard deviation within a mode.
    pub(crate) sd_within: f64,
    /// The error of log Z.
    pub(crate) log_z: Option<f64>,
    /// The stated error of log Z.
    pub(crate) log_z_error: f64,
    /// Is any truth known?
    pub(crate) is_known: bool,
}

impl Deviation {
    /// Compares an answer with the truth.
    pub(crate) fn of(answer: &Answer, truth: &Truth) -> Result<Self> {
        match truth {
            Truth::Known(known) | Truth::Whitened(known, _) => {
                Self::from_known(answer, known, &|point| truth.mode_of(point))
            }
            Truth::Reference { values: None, .. } => Ok(Self::default()),
            Truth::Reference { model, values: Some(values) } => {
                Self::from_reference(&answer.sample, model, values)
            }
        }
    }

    fn from_known(
        answer: &Answer,
        known: &Known,
        mode_of: &dyn Fn(&[f64]) -> Option<usize>,
    ) -> Result<Self> {
        let mut off = Self { is_known: true, ..Self::default() };
        let sample = &answer.sample;
        if let (Some(mean), Some(sd)) = (&known.mean, &known.sd) {
            for ((found, mean), sd) in sample.coordinates()?.iter().zip(mean).zip(sd) {
                if sd.is_finite() {
                    off.compare(found.mean.value, found.sd.value, *mean, *sd);
                }
            }
        }
        off.weigh_modes(sample, known, mode_of);
        if let (Some(truth), Some(found)) = (known.log_z, answer.log_z) {
            off.log_z = Some(found.value - truth);
            off.log_z_error = found.error;
        }
        Ok(off)
    }

    fn from_reference(sample: &Sample, model: &Model, values: &[Reference]) -> Result<Self> {
        let mut off = Self { is_known: true, ..Self::default() };
        let quantities = model.quantities(sample.x())?;
        let names = model.target().names();
        for Reference { name, mean, sd, is_sd_known } in values {
            let row = row_of(&names, name, sample.x())
                .or_else(|| row_of(model.quantity_names(), name, &quantities));
            match row {
                Some(row) => {
                    let found = sample.quantity(row)?.coordinate();
                    let found_sd = if *is_sd_known { found.sd.value } else { *sd };
                    off.compare(found.mean.value, found_sd, *mean, *sd);
                }
                None => off.mean = f64::INFINITY,
            }
        }
        Ok(off)
    }

    fn compare(&mut self, mean: f64, sd: f64, true_mean: f64, true_sd: f64) {
        self.mean = worse(self.mean, (mean - true_mean) / true_sd);
        self.sd = worse(self.sd, sd / true_sd - 1.0);
    }

    fn weigh_modes(
        &mut self,
        sample: &Sample,
        known: &Known,
        mode_of: &dyn Fn(&[f64]) -> Option<usize>,
    ) {
        let (x, weights) = (sample.x(), sample.weights());
        let mode_of: Vec<Option<usize>> = (0..x.len()).map(|i| mode_of(&x.point(i))).collect();
        for (at, mode) in known.modes.iter().enumerate() {
            let inside = |i: &usize| mode_of[*i] == Some(at);
            let points: Vec<usize> = (0..x.len()).filter(inside).collect();
            let share: f64 = points.iter().map(|&i| weights[i]).sum();
            self.weigh(share, mode.weight);
            self.look_within(x, weights, &points, share, mode);
        }
        for split in &known.splits {
            let row = x.row(split.coordinate).iter().zip(weights);
            let above: f64 = row.filter(|(x, _)| **x > split.at).map(|(_, w)| w).sum();
            self.weigh(above, split.above);
            self.weigh(1.0 - above, 1.0 - split.above);
        }
    }

    fn weigh(&mut self, share: f64, truth: f64) {
        self.weight = worse(self.weight, share - truth);
        self.modes += 1;
        self.shares.push(share);
        self.lost += usize::from(is_mode_lost(share, truth));
    }

    fn look_within(
        &mut self,
        x: &Batch,
        weights: &[f64],
        points: &[usize],
        share: f64,
        mode: &Mode,
    ) {
        let Some(true_sd) = &mode.sd else { return };
        for (d, true_sd) in true_sd.iter().enumerate() {
            let row = x.row(d);
            let over = |f: &dyn Fn(f64) -> f64| -> f64 {
                points.iter().map(|&i| weights[i] * f(row[i])).sum::<f64>() / share
            };
            let mean = over(&|x| x);
            let sd = over(&|x| (x - mean).powi(2)).sqrt();
            self.sd_within = worse(self.sd_within, sd / true_sd - 1.0);
        }
    }

    /// Are all errors within the allowed ones? `None` if no truth is known.
    pub(crate) fn is_right(&self) -> Option<bool> {
        self.is_known.then(|| self.faults().is_empty())
    }

    /// The number of known modes that the answer contains, and the number of known modes. An answer that is compared
    /// only by moments contains its single mode if all means are within a standard deviation.
    pub(crate) fn modes_found(&self) -> (usize, usize) {
        match self.modes {
            0 => (usize::from(self.mean.abs() <= 1.0), 1),
            modes => (modes - self.lost, modes),
        }
    }

    /// A description of the errors that are too large.
    pub(crate) fn faults(&self) -> Vec<String> {
        // NaN counts as too large.
        let is_beyond = |off: f64, allowed: f64| off.is_nan() || off.abs() > allowed;
        let mut faults = Vec::new();
        if is_beyond(self.mean, MEAN) {
            faults.push(format!("mean {:+.2} SD", self.mean));
        }
        if is_beyond(self.sd, SD) {
            faults.push(format!("SD {:+.0} %", 100.0 * self.sd));
        }
        if is_beyond(self.weight, WEIGHT) {
            faults.push(format!("weight {:+.3}", self.weight));
        }
        if self.lost > 0 {
            faults.push(format!("{} modes lost", self.lost));
        }
        if let Some(off) = self.log_z.filter(|_| !self.is_log_z_right()) {
            faults.push(format!("log Z {off:+.3} ± {:.3}", self.log_z_error));
        }
        faults
    }

    /// Is the evidence right, if it is stated and known?
    fn is_log_z_right(&self) -> bool {
        let allowed = LOG_Z.max(LOG_Z_ERRORS * self.log_z_error).min(MOST_LOG_Z);
        self.log_z.is_none_or(|off| off.abs() <= allowed)
    }

    /// Is log Z within three stated errors? `None` if it is not stated or not known.
    pub(crate) fn is_log_z_within_errors(&self) -> Option<bool> {
        self.log_z.map(|off| off.abs() <= LOG_Z_ERRORS * self.log_z_error)
    }
}

/// The value that is further from 0. NaN counts as furthest.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if a.abs() >= b.abs() || a.is_nan() { a } else { b }
}

fn row_of<'a>(names: &[String], name: &str, points: &'a Batch) -> Option<&'a [f64]> {
    names.iter().position(|known| known == name).map(|at| points.row(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_may_be_off_by_its_errors_but_not_by_a_tenth() {
        let off = |log_z, log_z_error| Deviation {
            log_z: Some(log_z),
            log_z_error,
            is_known: true,
            ..Deviation::default()
        };
        assert_eq!(off(0.04, 0.001).is_right(), Some(true));
        assert_eq!(off(0.06, 0.001).is_right(), Some(false));
        assert_eq!(off(0.06, 0.03).is_right(), Some(true));
        assert_eq!(off(-0.11, 0.05).is_right(), Some(false));
        assert_eq!(off(f64::NAN, 0.05).is_right(), Some(false));
        assert_eq!(off(0.04, 0.001).is_log_z_within_errors(), Some(false));
        assert_eq!(Deviation::default().is_right(), None);
    }

    #[test]
    fn a_spread_that_nobody_knows_is_only_a_unit() {
        let text = "density = \"0\"\n[parameters]\na = \"normal(0, 1)\"";
        let model = Model::parse("a.toml", text).unwrap();
        let x = Batch::from_points(1, &[[-1.0], [1.0]]);
        let sample = Sample::of_particles(x.clone(), x, vec![0.0; 2], vec![0.0; 2]).unwrap();
        let off = |name: &str, mean, is_sd_known| {
            let value = Reference { name: name.into(), mean, sd: 2.0, is_sd_known };
            Deviation::from_reference(&sample, &model, &[value]).unwrap()
        };
        assert_eq!(off("a", 0.1, false).is_right(), Some(true));
        assert_eq!(off("a", 0.1, true).faults().len(), 1);
        assert_eq!(off("a", 0.3, false).faults(), ["mean -0.15 SD"]);
        assert_eq!(off("b", 0.0, false).is_right(), Some(false));
    }

    #[test]
    fn a_sample_is_compared_by_its_weights() {
        let known = Known {
            modes: vec![Mode::new(vec![-1.0], 0.25), Mode::new(vec![1.0], 0.75)],
            ..Known::default()
        };
        let x = Batch::from_points(1, &[[-1.0], [1.0]]);
        let log_weights = vec![0.0, 3.0_f64.ln()];
        let sample = Sample::of_particles(x.clone(), x, vec![0.0; 2], log_weights).unwrap();
        let mut off = Deviation { is_known: true, ..Deviation::default() };
        off.weigh_modes(&sample, &known, &|point| known.mode_of(point));
        assert!(off.weight.abs() < 1e-12 && off.faults().is_empty(), "{off:?}");
        off.weigh(0.01, 0.2);
        assert_eq!((off.lost, off.faults().len()), (1, 2));
        off.compare(f64::NAN, 1.0, 0.0, 1.0);
        assert!(off.is_right() == Some(false) && off.mean.is_nan());
    }
}
