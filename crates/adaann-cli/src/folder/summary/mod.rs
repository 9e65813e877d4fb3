//! `summary.json`: the results of a run as data.

mod estimates;
pub(crate) mod predictive;
mod trust;

pub(crate) use estimates::{Draws, ModeWeight, Parameter, SplitShare, known_modes, known_splits};
pub(crate) use trust::{Chains, Check, FoundMode, Quality, Reason, Verdict};

use crate::{
    folder::{stored::Stored, words::warnings},
    text::failure::{in_flags, usage},
};
use adaann::{
    Batch, Failure, Instructions,
    answer::{Answer, Method, Rung},
    diagnostics::{self, Examination},
    fit::{Outcome, Restart, StepRecord},
    importance::{Estimate, Sample},
    registry::{Distance, Known, mode_weights},
};
use anyhow::Result;
use serde::{Deserialize, Deserializer, Serialize};

/// The results of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) version: String,
    pub(crate) target: String,
    /// The best seed.
    pub(crate) seed: u64,
    /// The method that found the answer; missing in folders of versions with only one.
    #[serde(default = "adaann")]
    pub(crate) method: Method,
    /// The rungs of the ladder: the cost of each, its ESS, and why it ended.
    #[serde(default)]
    pub(crate) rungs: Vec<Rung>,
    /// Numbers of values of t and of updates, if a flow was annealed.
    pub(crate) steps: usize,
    pub(crate) updates: usize,
    pub(crate) target_evaluations: usize,
    /// Wall time of the answer for all seeds together; for the ladder, including its check.
    #[serde(deserialize_with = "number")]
    pub(crate) seconds: f64,
    /// E_q[log q − log p] over the draws, with its standard error; null without a q.
    #[serde(deserialize_with = "number")]
    pub(crate) neg_elbo: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) neg_elbo_standard_error: f64,
    #[serde(flatten)]
    pub(crate) quality: Quality,
    /// log ∫p, if the target knows it, and the resulting KL(q‖p).
    pub(crate) true_log_z: Option<f64>,
    pub(crate) true_kl: Option<f64>,
    pub(crate) parameters: Vec<Parameter>,
    /// Derived quantities of a model file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) quantities: Vec<Parameter>,
    /// Posterior predictive checks of a model's data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) predictive_checks: Vec<predictive::Check>,
    /// The known modes of the target.
    pub(crate) modes: Vec<ModeWeight>,
    /// The modes that the check has found, the heaviest first.
    pub(crate) found_modes: Vec<FoundMode>,
    /// Coordinates with two modes each, if there are too many modes to list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) splits: Vec<SplitShare>,
    /// Was the run interrupted?
    pub(crate) stopped: bool,
    /// Are these the results at the last checkpoint of an unfinished run?
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) unfinished: bool,
    /// Why the run ended early, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_early: Option<String>,
    /// The last value of t.
    #[serde(deserialize_with = "number")]
    pub(crate) t: f64,
    pub(crate) warnings: Vec<String>,
    /// The verdict with its reasons.
    pub(crate) verdict: Verdict,
    /// The results of independent particles, if they finished.
    pub(crate) check: Option<Check>,
    /// Target evaluations of the whole check.
    pub(crate) check_evaluations: usize,
    /// Target evaluations of the figures.
    #[serde(default)]
    pub(crate) figure_evaluations: usize,
    /// The mixing of the chains, if they found the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) chains: Option<Chains>,
    /// The coverage of the check, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sight: Option<String>,
    /// Notes on how the target is evaluated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// Shares of non-finite points at each stage.
    pub(crate) lost: Lost,
    pub(crate) skipped_updates: usize,
    pub(crate) draws: usize,
    /// The seed of the draws of the ladder's answer, if more draws can be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) draws_seed: Option<u64>,
    pub(crate) instructions: String,
    pub(crate) threads: usize,
    /// All seeds, the best first, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) seeds: Vec<Seed>,
}

/// Shares of points without a finite density: outside the support, or with a diverging trajectory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// In the training before t = 1.
    #[serde(deserialize_with = "number")]
    pub(crate) before_1: f64,
    /// In the training at t = 1.
    #[serde(deserialize_with = "number")]
    pub(crate) at_1: f64,
    /// Among the final draws.
    #[serde(deserialize_with = "number")]
    pub(crate) draws: f64,
}

impl Lost {
    fn new(steps: &[StepRecord], draws: f64) -> Self {
        let share = |at_1: bool| {
            let (mut lost, mut updates) = (0.0, 0);
            for step in steps.iter().filter(|step| (step.t == 1.0) == at_1) {
                lost += step.lost * step.updates as f64;
                updates += step.updates;
            }
            lost / updates.max(1) as f64
        };
        Self { before_1: share(false), at_1: share(true), draws }
    }
}

/// The results of one of several seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Seed {
    pub(crate) seed: u64,
    #[serde(deserialize_with = "number")]
    pub(crate) neg_elbo: f64,
    pub(crate) steps: usize,
    pub(crate) updates: usize,
    pub(crate) stopped: bool,
    pub(crate) mode_weights: Vec<f64>,
}

impl Seed {
    /// The results by which seeds are compared.
    pub(crate) fn new(run: &Restart, known: &Known, sample: &Sample) -> Self {
        Self {
            seed: run.seed,
            neg_elbo: run.neg_elbo,
            steps: run.outcome.steps.len(),
            updates: run.outcome.trace.len(),
            stopped: run.outcome.stopped,
            mode_weights: weights(known, sample),
        }
    }
}

/// The inputs of a summary.
pub(crate) struct Sources<'a> {
    pub(crate) target: &'a str,
    /// The names of the coordinates, then of the derived quantities.
    pub(crate) names: &'a [String],
    pub(crate) notes: Vec<String>,
    pub(crate) known: &'a Known,
    pub(crate) seed: u64,
    pub(crate) made: Made<'a>,
    pub(crate) sample: &'a Sample,
    /// The result of the check; `None` if the draws cannot be examined.
    pub(crate) examination: Option<&'a Examination>,
    pub(crate) check_evaluations: usize,
    pub(crate) verdict: diagnostics::Verdict,
    pub(crate) quantities: Option<&'a Batch>,
    pub(crate) seconds: f64,
    pub(crate) seeds: Vec<Seed>,
}

/// How an answer was found.
#[derive(Clone, Copy)]
pub(crate) struct Made<'a> {
    pub(crate) method: Method,
    pub(crate) rungs: &'a [Rung],
    /// The training of a flow, if one was annealed.
    pub(crate) outcome: Option<&'a Outcome>,
    pub(crate) log_z: Option<Estimate>,
    /// Target evaluations, without those of the check.
    pub(crate) evaluations: usize,
    /// The last value of t; 1 for the ladder, whose answers refer to the target itself.
    pub(crate) t: f64,
    pub(crate) stopped: bool,
    /// Are these the results at the last checkpoint of an unfinished run?
    pub(crate) unfinished: bool,
}

impl<'a> Made<'a> {
    /// An answer of Algorithm 1; the evidence comes from the check, which weights the draws.
    pub(crate) fn by_adaann(outcome: &'a Outcome, examination: Option<&Examination>) -> Self {
        Self {
            method: Method::Adaann,
            rungs: &[],
            outcome: Some(outcome),
            log_z: examination.map(|found| found.log_z),
            evaluations: outcome.target_evaluations,
            t: outcome.t(),
            stopped: outcome.stopped,
            unfinished: false,
        }
    }

    /// An answer of the ladder or one of its methods.
    pub(crate) fn by_ladder(answer: &'a Answer) -> Self {
        Self {
            method: answer.method,
            rungs: &answer.rungs,
            outcome: answer.fit.as_ref(),
            log_z: answer.log_z,
            evaluations: answer.evaluations,
            t: 1.0,
            stopped: answer.stopped,
            unfinished: false,
        }
    }

    /// Marks the answer as unfinished, if so.
    pub(crate) fn or_unfinished(self, unfinished: bool) -> Self {
        Self { unfinished, ..self }
    }

    /// Why Algorithm 1 failed, if it did. Answers of the ladder are judged by their draws.
    fn ended_early(&self) -> Option<String> {
        let outcome = self.outcome.filter(|_| self.method == Method::Adaann)?;
        let Failure { failed_at, reason, .. } = outcome.failure.as_ref()?;
        Some(format!("training failed at t = {failed_at:.4}: {}", in_flags(reason)))
    }
}

impl Summary {
    pub(crate) fn new(sources: Sources) -> Self {
        let Sources { target, names, notes, known, seed, made, sample, .. } = sources;
        let Sources { examination, check_evaluations, verdict, .. } = sources;
        let Sources { quantities, seconds, seeds, .. } = sources;
        let has_q = sample.log_q().is_some();
        let neg_elbo = sample.neg_elbo();
        let (names, quantity_names) = names.split_at(sample.x().dim());
        let draws = Draws { points: sample.x(), weights: sample.weights() };
        let coordinates = sample.coordinates().unwrap_or_default();
        let parameter = |(d, name): (usize, &String)| {
            let exact = |values: &Option<Vec<f64>>| values.as_ref().map(|values| values[d]);
            let (true_mean, true_sd) = (exact(&known.mean), exact(&known.sd));
            let mut estimated =
                Parameter::of_quantity(name, draws.points.row(d), sample.coordinate(d).ok());
            // Errors of coordinates include the gap to a second estimator.
            if let Some(coordinate) = coordinates.get(d) {
                (estimated.mean_error, estimated.sd_error) =
                    (coordinate.mean.error, coordinate.sd.error);
            }
            Parameter { true_mean, true_sd, ..estimated }.with_q(has_q)
        };
        let parameters = names.iter().enumerate().map(parameter).collect();
        let quantity = |(d, name): (usize, &String)| {
            let row = |quantities: &Batch| {
                let values = quantities.row(d);
                Parameter::of_quantity(name, values, sample.quantity(values).ok())
            };
            quantities.map(|quantities| row(quantities).with_q(has_q))
        };
        let quantities = quantity_names.iter().enumerate().filter_map(quantity).collect();
        let steps = made.outcome.map_or(&[][..], |outcome| &outcome.steps);
        let mut summary = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.to_owned(),
            seed,
            method: made.method,
            rungs: made.rungs.to_vec(),
            steps: steps.len(),
            updates: made.outcome.map_or(0, |outcome| outcome.trace.len()),
            target_evaluations: made.evaluations,
            seconds,
            neg_elbo,
            neg_elbo_standard_error: sample.neg_elbo_error(),
            quality: Quality::new(sample, made.log_z, examination),
            true_log_z: known.log_z,
            true_kl: known.log_z.filter(|_| has_q).map(|log_z| neg_elbo + log_z),
            parameters,
            quantities,
            predictive_checks: Vec::new(),
            modes: known_modes(known, draws),
            found_modes: examination
                .map_or(Vec::new(), |found| found.modes.iter().map(FoundMode::new).collect()),
            splits: known_splits(known, names, draws),
            ended_early: made.ended_early(),
            unfinished: made.unfinished,
            stopped: made.stopped || made.unfinished || seeds.iter().any(|seed| seed.stopped),
            t: made.t,
            warnings: Vec::new(),
            verdict: Verdict::new(&verdict, made.method),
            check: examination.and_then(|found| found.particles.as_ref()).map(Check::new),
            check_evaluations,
            figure_evaluations: 0,
            chains: sample.mixing().map(Chains::new),
            sight: examination.map(|found| found.sight.clone()).filter(|sight| !sight.is_empty()),
            notes,
            lost: Lost::new(steps, sample.lost() as f64 / sample.len() as f64),
            skipped_updates: made.outcome.map_or(0, |outcome| outcome.skipped_updates),
            draws: sample.len(),
            draws_seed: None,
            instructions: Instructions::current().to_string(),
            threads: adaann::tasks::threads_at_work(),
            seeds,
        };
        summary.name_modes(known);
        summary.warnings = warnings::find(&summary, made.outcome);
        summary
    }

    /// Are these draws of a q, with weights towards the target?
    pub(crate) fn has_q(&self) -> bool {
        self.method == Method::Adaann || !self.neg_elbo.is_nan()
    }

    /// The status of an unfinished run, shown with all its results.
    pub(crate) fn mark(&self) -> Option<String> {
        let reached = match self.method {
            _ if self.t < 1.0 => format!("annealed to t = {:.4}", self.t),
            Method::Adaann => "at t = 1, with training or check incomplete".to_owned(),
            _ => "the best answer until then, unchecked".to_owned(),
        };
        match &self.ended_early {
            _ if self.unfinished || self.stopped => Some(format!("unfinished: {reached}")),
            Some(why) => {
                // The verdict has the remedy.
                let why = why.split("; ").next().unwrap_or(why);
                Some(format!("ended early: {reached}, since {why}"))
            }
            None => None,
        }
    }

    /// Name of the file.
    pub(crate) const FILE: &str = "summary.json";

    /// Reads the summary of a run folder.
    pub(crate) fn read(stored: &Stored) -> Result<Self> {
        let text = stored.text(Self::FILE)?;
        let path = stored.folder().join(Self::FILE);
        serde_json::from_str(&text).map_err(|error| {
            usage(format!("{} is not the summary of a run: {error}", path.display()))
        })
    }

    /// Labels the modes in a form that suits the target, and matches found modes with known ones.
    pub(crate) fn name_modes(&mut self, known: &Known) {
        self.found_modes.iter_mut().for_each(|mode| mode.name(known));
        for mode in &mut self.modes {
            mode.label = label(known, &mode.location);
        }
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialise");
        text.push('\n');
        text
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn adaann() -> Method {
    Method::Adaann
}

/// Reads a number; JSON has null in place of NaN.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Reads a list of numbers, with null for NaN.
fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let found: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
    Ok(found.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
}

/// The label of a known mode, in a form that suits the target.
fn label(known: &Known, location: &[f64]) -> String {
    match known.distance {
        Distance::Euclidean => point(location),
        Distance::Radial => {
            let square: f64 = location.iter().map(|x| x * x).sum();
            format!("radius {:.3}", square.sqrt())
        }
    }
}

/// A point formatted for people.
fn point(location: &[f64]) -> String {
    const MOST: usize = 4;
    let number = |x: &f64| match format!("{x:.3}") {
        zero if zero == "-0.000" => "0.000".to_owned(),
        number => number,
    };
    let mut numbers: Vec<_> = location.iter().take(MOST).map(number).collect();
    if location.len() > MOST {
        numbers.push("...".to_owned());
    }
    match &numbers[..] {
        [one] => one.clone(),
        _ => format!("({})", numbers.join(", ")),
    }
}

fn weights(known: &Known, sample: &Sample) -> Vec<f64> {
    if known.modes.is_empty() { Vec::new() } else { mode_weights(known, sample.x()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_short() {
        assert_eq!(point(&[1.0]), "1.000");
        assert_eq!(point(&[-1e-9]), "0.000");
        assert_eq!(point(&[1.0, -2.5]), "(1.000, -2.500)");
        assert_eq!(point(&[0.0; 9]), "(0.000, 0.000, 0.000, 0.000, ...)");
    }
}
