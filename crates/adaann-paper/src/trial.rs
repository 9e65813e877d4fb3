//! A trial: a fit and its measurements.

use crate::{
    experiments::{Point, Run},
    kept::Kept,
    variants::Altered,
    watch::Watch,
};
use adaann::{
    Batch, Result, Settings,
    approximation::Approximation,
    diagnostics::thresholds::MODE_LOST,
    fit::{Event, Outcome, fit},
    registry::{Known, mode_weights},
    target::Target,
    tasks,
};
use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// The number of draws for judging a flow.
pub const DRAWS: usize = 10_000;

/// The radius of a mode, in standard deviations of its component.
pub const REACH: f64 = 4.0;

/// The share of the draws that must be near each mode for it to count as captured. All multimodal densities of the
/// paper have two modes of equal weight.
pub const CAPTURED: f64 = MODE_LOST / 2.0;

/// The version of the measurements. Increase it when they change, to discard older results.
const METHOD: u32 = 1;

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trial {
    /// The value of the family's parameter.
    pub value: Option<f64>,
    /// The number, starting at 1.
    pub number: usize,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The fingerprint of its settings, which identifies outdated results.
    pub fingerprint: u64,
    /// The measurements, or the reason for a failure.
    pub outcome: std::result::Result<Measured, String>,
    /// The processor time of the fit on one thread, which does not depend on other load.
    pub cpu_seconds: f64,
}

impl Trial {
    /// A trial without processor time.
    pub(crate) fn new(
        run: &Run,
        point: &Point,
        number: usize,
        outcome: std::result::Result<Measured, String>,
    ) -> Self {
        let (seed, fingerprint) = (seed(run, point, number), fingerprint(run, point));
        Self { value: point.value, number, seed, fingerprint, outcome, cpu_seconds: 0.0 }
    }
}

/// The measurements of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measured {
    /// Values of t.
    pub steps: usize,
    /// Updates of the parameters.
    pub updates: usize,
    /// Updates before t = 1.
    pub updates_before_1: usize,
    /// Points at which the density was evaluated, including the draws for the schedule.
    pub evaluations: usize,
    /// The flow on arrival at t = 1.
    pub on_arrival: Quality,
    /// The flow at the end.
    pub at_end: Quality,
    /// Mean and standard deviation of the draws of each mode. `None` with fewer than two draws.
    pub modes: Vec<Option<Moments>>,
}

/// The quality of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quality {
    /// Share of the draws near each mode.
    pub masses: Vec<f64>,
    /// Share of the draws that are nearer to each mode than to any other.
    pub weights: Vec<f64>,
    /// KL(q‖p) from the draws, if log Z is known and all draws are finite.
    pub kl: Option<f64>,
    /// The number of draws with a non-finite log density.
    pub lost: usize,
}

impl Quality {
    /// The mass near the mode with the smallest mass.
    pub fn lightest_mass(&self) -> f64 {
        self.masses.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Is at least this share of the draws near each mode?
    pub fn captures(&self, share: f64) -> bool {
        self.masses.iter().all(|mass| *mass >= share)
    }
}

/// Mean and standard deviation of each coordinate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub sd: Vec<f64>,
}

/// The seed of a trial, which does not depend on what else is run.
pub(crate) fn seed(run: &Run, point: &Point, number: usize) -> u64 {
    let name = format!("{} {:?} {number}", run.id, point.value);
    // Short enough to type after --seed.
    tasks::fingerprint(name.as_bytes()) >> 32
}

/// A fingerprint of everything that the results of a point depend on.
pub(crate) fn fingerprint(run: &Run, point: &Point) -> u64 {
    let instructions = adaann::Instructions::current();
    let told = format!(
        "{METHOD} {} {instructions:?} {} {} {} {:?} {point:?}",
        run.id, run.keep, run.watch, run.most_updates, point.component_sd
    );
    // JSON readers represent integers exactly up to 2⁵³.
    tasks::fingerprint(told.as_bytes()) >> 12
}

/// Runs a trial on the current thread pool. Returns `None` if it was stopped.
pub(crate) fn run(
    run: &Run,
    point: &Point,
    number: usize,
    stop: &AtomicBool,
) -> Option<(Trial, Option<Kept>)> {
    let start = ThreadTime::now();
    let mut looking = Duration::ZERO;
    let seed = seed(run, point, number);
    let settings = Settings { seed, ..point.settings.clone() };
    let problem = point.problem();
    let altered = point.variant.map(|variant| {
        let mu = point.value.expect("variants are of Example 3, which has mu");
        Altered { mu, variant }
    });
    let target: &dyn Target = match &altered {
        Some(altered) => altered,
        None => &*problem.target,
    };
    let mut watch = run.watch.then(|| Watch::new(&problem.known));
    let mut updates = 0;
    let mut observer = |event: &Event| {
        match event {
            Event::Update { .. } => updates += 1,
            Event::Step { record, flow, .. } => {
                if let Some(watch) = &mut watch {
                    let began = ThreadTime::now();
                    watch.look(record, flow, target);
                    looking += began.elapsed();
                }
            }
            _ => {}
        }
        match stop.load(Ordering::Relaxed) || updates >= run.most_updates {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let fitted = fit(target, &settings, &mut observer).and_then(Outcome::whole);
    let cpu_seconds = start.elapsed().saturating_sub(looking).as_secs_f64();
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let measured = fitted.and_then(|outcome| match outcome.stopped {
        true => Ok(Err(format!("given up after {updates} updates"))),
        false => Ok(Ok((measure(point, &outcome, seed)?, outcome))),
    });
    let measured = measured.unwrap_or_else(|error| Err(error.to_string()));
    let looks = watch.map(Watch::into_looks);
    let kept =
        measured.as_ref().ok().filter(|_| run.keep || run.watch).map(|(_, outcome)| {
            Kept::new(outcome, looks.unwrap_or_default(), fingerprint(run, point))
        });
    let outcome = measured.map(|(measured, _)| measured);
    Some((Trial { cpu_seconds, ..Trial::new(run, point, number, outcome) }, kept))
}

fn measure(point: &Point, outcome: &Outcome, seed: u64) -> Result<Measured> {
    let problem = point.problem();
    let judge = |flow: &adaann::flow::Flow| -> Result<(Quality, Batch)> {
        // Compare with the original density, even if training used an altered one.
        let approximation = Approximation::new(&*problem.target, flow.clone())?;
        let sample = approximation.sample(DRAWS, seed)?;
        let quality = Quality {
            masses: masses(&problem.known, point.component_sd, sample.x()),
            weights: mode_weights(&problem.known, sample.x()),
            // Non-finite draws make it infinite.
            kl: problem
                .known
                .log_z
                .filter(|_| sample.lost() == 0)
                .map(|log_z| sample.neg_elbo() + log_z),
            lost: sample.lost(),
        };
        Ok((quality, sample.x().clone()))
    };
    let (at_end, draws) = judge(&outcome.flow)?;
    let on_arrival = match &outcome.flow_at_1 {
        Some(flow) => judge(flow)?.0,
        None => at_end.clone(),
    };
    let before_1 = outcome.steps.iter().filter(|step| step.t < 1.0).map(|step| step.updates);
    Ok(Measured {
        steps: outcome.steps.len(),
        updates: outcome.trace.len(),
        updates_before_1: before_1.sum(),
        evaluations: outcome.target_evaluations,
        on_arrival,
        at_end,
        modes: (0..problem.known.modes.len()).map(|m| moments(&problem.known, m, &draws)).collect(),
    })
}

/// The share of the draws within [`REACH`] standard deviations of each mode.
fn masses(known: &Known, component_sd: Option<f64>, draws: &Batch) -> Vec<f64> {
    let near = |mode: &adaann::registry::Mode| {
        let inside = (0..draws.len()).filter(|&i| {
            let square = |d: usize| {
                let sd = component_sd.or_else(|| mode.sd.as_ref().map(|sd| sd[d]));
                ((draws.row(d)[i] - mode.location[d]) / sd.unwrap_or(1.0)).powi(2)
            };
            (0..draws.dim()).map(square).sum::<f64>() <= REACH * REACH
        });
        inside.count() as f64 / draws.len() as f64
    };
    known.modes.iter().map(near).collect()
}

/// Mean and standard deviation of the draws that belong to a mode.
fn moments(known: &Known, mode: usize, draws: &Batch) -> Option<Moments> {
    let own: Vec<usize> =
        (0..draws.len()).filter(|&i| known.mode_of(&draws.point(i)) == Some(mode)).collect();
    if own.len() < 2 {
        return None;
    }
    let count = own.len() as f64;
    let mean: Vec<f64> = (0..draws.dim())
        .map(|d| own.iter().map(|&i| draws.row(d)[i]).sum::<f64>() / count)
        .collect();
    let variance = |d: usize| {
        own.iter().map(|&i| (draws.row(d)[i] - mean[d]).powi(2)).sum::<f64>() / (count - 1.0)
    };
    let sd = (0..draws.dim()).map(|d| variance(d).sqrt()).collect();
    Some(Moments { mean, sd })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::registry::Mode;

    /// A flow on one of two far modes has all its draws near that one and none near the other.
    #[test]
    fn a_collapsed_flow_captures_nothing() {
        let modes = vec![Mode::new(vec![-3.0], 0.5), Mode::new(vec![3.0], 0.5)];
        let known = Known { modes, ..Known::default() };
        let draws: Vec<[f64; 1]> = (0..100).map(|i| [3.0 + 0.01 * f64::from(i)]).collect();
        let draws = Batch::from_points(1, &draws);
        let masses = masses(&known, Some(0.2), &draws);
        // Within 0.8 of 3: the draws 0 to 79, and 80 but for rounding.
        assert!(masses[0] == 0.0 && (0.80..=0.81).contains(&masses[1]), "{masses:?}");
        let quality = Quality { masses, weights: vec![0.0, 1.0], kl: None, lost: 0 };
        assert!(!quality.captures(CAPTURED));
        assert_eq!(moments(&known, 0, &draws), None);
        let found = moments(&known, 1, &draws).unwrap();
        assert!((found.mean[0] - 3.495).abs() < 1e-12 && (found.sd[0] - 0.290_115).abs() < 1e-6);
    }
}
