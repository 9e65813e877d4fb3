//! `adaann run`: approximates a registered density.

use crate::{
    args::{DataArgs, OutputArgs, RunArgs},
    folder::{
        csv,
        record::{Record, Repeats},
        subject::Subject,
    },
    job::Job,
    text::failure::usage,
};
use adaann::{
    answer::{Method, Plan},
    registry::{self, Choices, Data, Entry},
};
use anyhow::Result;
use std::{collections::BTreeMap, process::ExitCode};

/// Runs a target.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let entry = registry::find(&args.target)?;
    let choices = choices(entry, &args.data, &args.parameters, args.preset.clone())?;
    let subject = Subject::of_density(entry, &choices)?;
    let problem = &subject.problem;
    // Presets are settings of annealed flows, so that `--preset` selects their method.
    let default = if args.preset.is_some() { Method::Adaann } else { entry.method };
    let plan = args.settings.plan(default, &problem.settings, &*problem.target)?;
    let output = args.settings.output(plan.seed())?;
    let record = record(args, entry, &choices, plan, &output);
    Job::new(record, subject).run_and_write(&output)
}

/// The choices for the target: parameters and data.
pub(crate) fn choices(
    entry: &Entry,
    data: &DataArgs,
    parameters: &[(String, f64)],
    preset: Option<String>,
) -> Result<Choices> {
    let DataArgs { data, data_seed, noise_variance } = data;
    let data = match (data, data_seed) {
        (Some(_), Some(_)) => {
            return Err(usage(
                "--data reads data and --data-seed simulates it; pass only one of them",
            ));
        }
        (Some(path), None) => {
            let text = csv::text(path, "measurements")?;
            Some(Data::Table(csv::table(&path.display().to_string(), &text)?))
        }
        (None, seed) => seed.map(Data::Seed),
    };
    let mut parameters = parameters.to_vec();
    if let Some(variance) = noise_variance {
        if !entry.takes_data() {
            let name = entry.name;
            return Err(usage(format!(
                "--noise-variance does not apply to {name}: it has no data"
            )));
        }
        parameters.push(("noise-variance".to_owned(), *variance));
    }
    Ok(Choices { parameters, preset, data })
}

/// The record, which is written before the run.
fn record(
    args: &RunArgs,
    entry: &Entry,
    choices: &Choices,
    plan: Plan,
    output: &OutputArgs,
) -> Record {
    Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: args.target.clone(),
        model: None,
        method: plan.method(),
        repeats: Repeats::of(&plan, output),
        strict: output.strict,
        no_state: output.no_state,
        preset: preset(entry, choices),
        data_seed: data_seed(entry, choices),
        data: args.data.data.clone(),
        parameters: parameters(entry, choices),
        foreign: None,
        plan,
    }
}

/// The name of the preset.
pub(crate) fn preset(entry: &Entry, choices: &Choices) -> String {
    choices.preset.clone().unwrap_or_else(|| entry.presets[0].to_owned())
}

/// The seed of the noise, if the data is simulated.
pub(crate) fn data_seed(entry: &Entry, choices: &Choices) -> Option<u64> {
    match choices.data {
        Some(Data::Seed(seed)) => Some(seed),
        Some(Data::Table(_)) => None,
        None => entry.takes_data().then_some(Data::DEFAULT_SEED),
    }
}

/// All parameters of the target, with defaults for those that were not given.
pub(crate) fn parameters(entry: &Entry, choices: &Choices) -> BTreeMap<String, f64> {
    let defaults = entry.parameters.iter().map(|p| (p.name.to_owned(), p.default));
    defaults.chain(choices.parameters.iter().cloned()).collect()
}
