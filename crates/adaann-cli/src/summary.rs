//! `summary.json`: what a run has found, as plain data.

use crate::{predictive, warnings};
use adaann::{
    Batch,
    fit::{Outcome, Restart, Sample, StepRecord},
    registry::{Distance, Known, mode_weights, split_shares},
    simd::Instructions,
};
use serde::{Deserialize, Deserializer, Serialize};

/// What a run has found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) version: String,
    pub(crate) target: String,
    /// Seed of the run that was kept.
    pub(crate) seed: u64,
    /// Values of t.
    pub(crate) steps: usize,
    pub(crate) updates: usize,
    pub(crate) target_evaluations: usize,
    /// Wall time of the training, of all seeds together.
    #[serde(deserialize_with = "number")]
    pub(crate) seconds: f64,
    /// E_q[log q − log p] over the draws, with its standard error.
    #[serde(deserialize_with = "number")]
    pub(crate) neg_elbo: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) neg_elbo_standard_error: f64,
    /// log ∫p, where the target knows it.
    pub(crate) log_z: Option<f64>,
    /// KL(q‖p) = neg-ELBO + log Z.
    pub(crate) kl: Option<f64>,
    pub(crate) parameters: Vec<Parameter>,
    /// What a model file derives from the parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) quantities: Vec<Parameter>,
    /// Statistics of a model's data beside those of data that it predicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) predictive_checks: Vec<predictive::Check>,
    /// The target's modes, where it knows them.
    pub(crate) modes: Vec<ModeWeight>,
    /// Coordinates with two modes each, where the modes are too many to be listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) splits: Vec<SplitShare>,
    /// Was the run interrupted?
    pub(crate) stopped: bool,
    /// The last value of t.
    #[serde(deserialize_with = "number")]
    pub(crate) t: f64,
    pub(crate) warnings: Vec<String>,
    /// What to think of the run, if someone has judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<Verdict>,
    /// How the target is evaluated, where that is worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// Share of the points without a finite density, at each stage.
    pub(crate) lost: Lost,
    pub(crate) skipped_updates: usize,
    pub(crate) draws: usize,
    pub(crate) instructions: String,
    pub(crate) threads: usize,
    /// All runs, best first, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) seeds: Vec<Seed>,
}

/// What to think of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) grade: String,
    #[serde(default)]
    pub(crate) reasons: Vec<String>,
}

/// Share of the points without a finite density: outside the support, or where a trajectory has
/// exploded.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// Of the training before t = 1.
    #[serde(deserialize_with = "number")]
    pub(crate) before_1: f64,
    /// Of the training at t = 1.
    #[serde(deserialize_with = "number")]
    pub(crate) at_1: f64,
    /// Of the final draws.
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

/// A parameter of the target over the draws.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    #[serde(deserialize_with = "number")]
    pub(crate) mean: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) sd: f64,
    /// Exact values, where the target knows them.
    pub(crate) true_mean: Option<f64>,
    pub(crate) true_sd: Option<f64>,
}

impl Parameter {
    fn new(name: &str, draws: &[f64]) -> Self {
        let (mean, sd) = mean_and_sd(draws);
        Self { name: name.to_owned(), mean, sd, true_mean: None, true_sd: None }
    }
}

/// A mode of the target with the share of the draws that belong to it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ModeWeight {
    pub(crate) location: Vec<f64>,
    #[serde(deserialize_with = "number")]
    pub(crate) weight: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) true_weight: f64,
    /// The location in words.
    #[serde(skip)]
    pub(crate) label: String,
}

/// A coordinate with a mode on either side of a point, and the share of the draws above it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SplitShare {
    pub(crate) parameter: String,
    #[serde(deserialize_with = "number")]
    pub(crate) at: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) above: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) true_above: f64,
}

/// One of several runs.
#[derive(Debug, Serialize, Deserialize)]
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
    /// What a run is compared by.
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

/// What a summary is made of.
pub(crate) struct Sources<'a> {
    pub(crate) target: &'a str,
    /// Of the coordinates, then of the derived quantities.
    pub(crate) names: &'a [String],
    pub(crate) notes: Vec<String>,
    pub(crate) known: &'a Known,
    pub(crate) seed: u64,
    pub(crate) outcome: &'a Outcome,
    pub(crate) sample: &'a Sample,
    pub(crate) quantities: Option<&'a Batch>,
    pub(crate) seconds: f64,
    pub(crate) seeds: Vec<Seed>,
}

impl Summary {
    pub(crate) fn new(sources: Sources) -> Self {
        let Sources { target, names, notes, known, seed, outcome, sample, .. } = sources;
        let Sources { quantities, seconds, seeds, .. } = sources;
        let losses: Vec<f64> = sample
            .log_q
            .iter()
            .zip(&sample.log_p)
            .map(|(log_q, log_p)| log_q - log_p)
            .filter(|loss| loss.is_finite())
            .collect();
        let (neg_elbo, spread) = mean_and_sd(&losses);
        let (names, quantity_names) = names.split_at(sample.points.dim());
        let parameter = |(d, name): (usize, &String)| {
            let exact = |values: &Option<Vec<f64>>| values.as_ref().map(|values| values[d]);
            let (true_mean, true_sd) = (exact(&known.mean), exact(&known.sd));
            Parameter { true_mean, true_sd, ..Parameter::new(name, sample.points.row(d)) }
        };
        let parameters = names.iter().enumerate().map(parameter).collect();
        let quantity = |(d, name): (usize, &String)| {
            quantities.map(|quantities| Parameter::new(name, quantities.row(d)))
        };
        let quantities = quantity_names.iter().enumerate().filter_map(quantity).collect();
        let modes = known
            .modes
            .iter()
            .zip(weights(known, sample))
            .map(|(mode, weight)| ModeWeight {
                location: mode.location.clone(),
                weight,
                true_weight: mode.weight,
                label: String::new(),
            })
            .collect();
        let splits = known
            .splits
            .iter()
            .zip(split_shares(known, &sample.points))
            .map(|(split, above)| SplitShare {
                parameter: names[split.coordinate].clone(),
                at: split.at,
                above,
                true_above: split.above,
            })
            .collect();
        let updates = outcome.trace.len();
        let mut summary = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.to_owned(),
            seed,
            steps: outcome.steps.len(),
            updates,
            target_evaluations: outcome.target_evaluations,
            seconds,
            neg_elbo,
            neg_elbo_standard_error: spread / (losses.len() as f64).sqrt(),
            log_z: known.log_z,
            kl: known.log_z.map(|log_z| neg_elbo + log_z),
            parameters,
            quantities,
            predictive_checks: Vec::new(),
            modes,
            splits,
            stopped: outcome.stopped || seeds.iter().any(|seed| seed.stopped),
            t: outcome.steps.last().map_or(0.0, |step| step.t),
            warnings: Vec::new(),
            verdict: None,
            notes,
            lost: Lost::new(&outcome.steps, 1.0 - losses.len() as f64 / sample.log_q.len() as f64),
            skipped_updates: outcome.skipped_updates,
            draws: sample.points.len(),
            instructions: Instructions::current().to_string(),
            threads: rayon::current_num_threads(),
            seeds,
        };
        summary.name_modes(known);
        summary.warnings = warnings::find(&summary, outcome);
        summary
    }

    /// Name of the file.
    pub(crate) const FILE: &str = "summary.json";

    /// Writes the places of the modes in words, as suits the target.
    pub(crate) fn name_modes(&mut self, known: &Known) {
        for mode in &mut self.modes {
            mode.label = match known.distance {
                Distance::Euclidean => point(&mode.location),
                Distance::Radial => {
                    let square: f64 = mode.location.iter().map(|x| x * x).sum();
                    format!("radius {:.3}", square.sqrt())
                }
            };
        }
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialise");
        text.push('\n');
        text
    }
}

/// JSON has no NaN, and null in its place.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A point as people write it.
fn point(location: &[f64]) -> String {
    const MOST: usize = 4;
    let mut numbers: Vec<_> = location.iter().take(MOST).map(|x| format!("{x:.3}")).collect();
    if location.len() > MOST {
        numbers.push("...".to_owned());
    }
    match &numbers[..] {
        [one] => one.clone(),
        _ => format!("({})", numbers.join(", ")),
    }
}

fn weights(known: &Known, sample: &Sample) -> Vec<f64> {
    if known.modes.is_empty() { Vec::new() } else { mode_weights(known, &sample.points) }
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_definition() {
        assert_eq!(mean_and_sd(&[1.0, 2.0, 6.0]), (3.0, 7f64.sqrt()));
    }

    #[test]
    fn points_are_short() {
        assert_eq!(point(&[1.0]), "1.000");
        assert_eq!(point(&[1.0, -2.5]), "(1.000, -2.500)");
        assert_eq!(point(&[0.0; 9]), "(0.000, 0.000, 0.000, 0.000, ...)");
    }
}
