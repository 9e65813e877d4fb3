//! `summary.json` of `adaann smc`: the results as data.

use crate::commands::smc::record::SmcRecord;
use crate::{
    folder::{
        subject::Subject,
        summary::{Draws, FoundMode, ModeWeight, Parameter, SplitShare, known_modes, known_splits},
    },
    text::failure::in_flags,
};
use adaann::{
    Batch, Error, Instructions,
    budget::Budget,
    modes,
    registry::Known,
    smc::Population,
    target::{Target, Unconstrained, Weights},
};
use anyhow::Result;
use serde::Serialize;

/// Number of particles from which ascents search for modes.
const CLIMBS: usize = 256;

/// Minimum budget for finding modes, however little is left.
const FEWEST_EVALUATIONS: usize = 200;

/// The results of the particles.
#[derive(Debug, Serialize)]
pub(crate) struct SmcSummary {
    pub(super) version: String,
    pub(super) method: &'static str,
    pub(super) target: String,
    pub(super) seed: u64,
    /// Was the run interrupted?
    pub(super) stopped: bool,
    /// Why the run ended before t = 1, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_early: Option<String>,
    /// The last value of t; all results refer to the density there.
    pub(super) t: f64,
    pub(super) log_z: f64,
    pub(super) log_z_error: f64,
    /// log Z of each island, and the standard error from their spread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) island_log_z: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) island_error: Option<f64>,
    /// log ∫p, if the target knows it.
    pub(super) true_log_z: Option<f64>,
    /// The effective sample size of the weights.
    pub(super) ess: f64,
    pub(super) particles: usize,
    /// Lines of `draws.csv`: the particles of all saved sweeps.
    pub(super) draws: usize,
    pub(super) stages: usize,
    pub(super) target_evaluations: usize,
    pub(super) seconds: f64,
    pub(super) parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) quantities: Vec<Parameter>,
    /// The known modes of the target.
    pub(super) modes: Vec<ModeWeight>,
    /// The modes found by ascents from particles.
    pub(super) found_modes: Vec<FoundMode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) splits: Vec<SplitShare>,
    pub(super) warnings: Vec<String>,
    /// Notes of the target on how it is computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    pub(super) instructions: String,
    pub(super) threads: usize,
}

impl SmcSummary {
    pub(super) fn new(
        subject: &Subject,
        record: &SmcRecord,
        population: &Population,
        named: Named,
        evaluations: usize,
        quantities: Option<&Batch>,
        seconds: f64,
    ) -> Result<Self> {
        let (target, known) = (&*subject.problem.target, &subject.problem.known);
        let names = subject.columns();
        let (names, quantity_names) = names.split_at(population.points.dim());
        let draws = Draws { points: &population.points, weights: &population.weights };
        let t = population.stages.last().map_or(0.0, |stage| stage.t);
        let quantity = |(d, name): (usize, &String)| {
            quantities.map(|quantities| parameter(name, quantities.row(d), population))
        };
        // Particles that were stopped do not represent the target and its modes.
        let arrived = !population.stopped && population.failure.is_none();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: SmcRecord::METHOD,
            target: record.target.clone(),
            seed: record.settings.seed,
            stopped: population.stopped,
            ended_early: ended_early(population),
            t,
            log_z: population.log_z,
            log_z_error: population.log_z_error,
            island_log_z: match population.island_error() {
                Some(_) => population.island_log_z.clone(),
                None => Vec::new(),
            },
            island_error: population.island_error(),
            true_log_z: known.log_z,
            ess: population.ess(),
            particles: record.settings.particles,
            draws: population.points.len(),
            stages: population.stages.len(),
            target_evaluations: evaluations,
            seconds,
            parameters: (0..)
                .zip(names)
                .map(|(d, name)| exact(parameter(name, draws.points.row(d), population), known, d))
                .collect(),
            quantities: quantity_names.iter().enumerate().filter_map(quantity).collect(),
            modes: if arrived { known_modes(known, draws) } else { Vec::new() },
            found_modes: named.modes,
            splits: known_splits(known, names, draws),
            warnings: warnings(population, t, record.settings.islands, named.is_late),
            notes: target.notes(),
            instructions: Instructions::current().to_string(),
            threads: adaann::tasks::threads_at_work(),
        })
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialise");
        text.push('\n');
        text
    }
}

fn warnings(population: &Population, t: f64, islands: usize, is_late: bool) -> Vec<String> {
    let stopped = population.stopped.then(|| {
        if t >= 1.0 {
            let arrived = population.island_log_z.len();
            return format!("the run was stopped when {arrived} of {islands} islands had finished");
        }
        format!(
            "the run was stopped at t = {t:.4}: particles and log Z refer to the density at this t, \
             not to the target"
        )
    });
    let ended_early = ended_early(population).map(|why| match t < 1.0 {
        true => format!(
            "the run ended early at t = {t:.4}: particles and log Z refer to the density at this t, not to the \
             target ({why})"
        ),
        false => {
            let arrived = population.island_log_z.len();
            format!("the run ended early, when {arrived} of {islands} islands had finished: {why}")
        }
    });
    let unnamed = is_late.then(|| "no search for modes: the time limit was reached".to_owned());
    stopped.into_iter().chain(ended_early).chain(unnamed).collect()
}

/// Why the run failed, with settings as flags.
fn ended_early(population: &Population) -> Option<String> {
    population.failure.as_ref().map(|failure| in_flags(&failure.reason))
}

/// Moments over the particles. Particles are not independent, so that errors come from their genealogy.
fn parameter(name: &str, values: &[f64], population: &Population) -> Parameter {
    let mean = population.mean(values);
    let squares: Vec<f64> = values.iter().map(|x| (x - mean.value).powi(2)).collect();
    let variance = population.mean(&squares);
    let sd = variance.value.sqrt();
    Parameter {
        mean: mean.value,
        mean_error: mean.error,
        sd,
        // The delta method.
        sd_error: 0.5 * variance.error / sd,
        mean_q: None,
        sd_q: None,
        ..Parameter::new(name, values, &population.weights)
    }
}

/// Adds the exact values known to the target.
fn exact(parameter: Parameter, known: &Known, d: usize) -> Parameter {
    let of = |values: &Option<Vec<f64>>| values.as_ref().map(|values| values[d]);
    Parameter { true_mean: of(&known.mean), true_sd: of(&known.sd), ..parameter }
}

/// The modes found by ascents from some of the particles.
#[derive(Default)]
pub(super) struct Named {
    /// The heaviest first.
    modes: Vec<FoundMode>,
    pub(super) evaluations: usize,
    /// Was the time limit reached before the search?
    is_late: bool,
}

impl Named {
    /// Searches for modes if the particles have reached t = 1.
    pub(super) fn new(
        target: &dyn Target,
        known: &Known,
        population: &Population,
        budget: Budget,
    ) -> Result<Self> {
        if population.stopped || population.failure.is_some() {
            return Ok(Self::default());
        }
        let usual = modes::Settings::default();
        let left = budget.after(population.evaluations).at_least(FEWEST_EVALUATIONS);
        let evaluations =
            usual.evaluations.min(left / target.values_per_gradient(Weights::ALL)).max(1);
        let target = Unconstrained::new(target)?;
        let settings = modes::Settings { starts: CLIMBS, evaluations, ..usual };
        let modes = match modes::find(&target, &population.z, &settings) {
            Err(Error::OutOfTime) => return Ok(Self { is_late: true, ..Self::default() }),
            modes => modes?,
        };
        let labels = modes.assign(&population.z);
        let summaries = modes.summarise(&target, &population.z, &population.weights)?;
        let mut found: Vec<FoundMode> = summaries
            .into_iter()
            .enumerate()
            .map(|(mode, summary)| {
                let own: Vec<f64> =
                    labels.iter().map(|label| f64::from(u8::from(*label == Some(mode)))).collect();
                FoundMode::of_particles(summary, population.mean(&own), known)
            })
            .collect();
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        Ok(Self { modes: found, evaluations: modes.evaluations(), is_late: false })
    }
}
