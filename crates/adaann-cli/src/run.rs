//! `adaann run`: a registered density, trained.

use crate::{
    args::{DataArgs, RunArgs},
    csv,
    failure::usage,
    job::{self, Job},
    record::Record,
    settings,
    subject::Subject,
};
use adaann::{
    Settings,
    registry::{self, Choices, Data, Entry},
};
use anyhow::Result;
use std::process::ExitCode;

/// Runs a target.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let entry = registry::find(&args.target)?;
    let choices = choices(args, entry)?;
    let problem = entry.choose(&choices)?;
    let settings = settings::resolve(&args.settings, &problem.settings, &*problem.target)?;
    let output = &args.settings.output;
    job::check(output, &settings)?;
    let record = record(args, entry, &choices, settings);
    Job { record, subject: Subject { problem, model: None } }.carry_out(output)
}

/// What is chosen of the target.
fn choices(args: &RunArgs, entry: &Entry) -> Result<Choices> {
    let DataArgs { data, data_seed, noise_variance } = &args.data;
    let data = match (data, data_seed) {
        (Some(_), Some(_)) => {
            return Err(usage("--data gives the data and --data-seed makes it; choose one"));
        }
        (Some(path), None) => {
            let text = csv::text(path, "measurements")?;
            Some(Data::Table(csv::table(&path.display().to_string(), &text)?))
        }
        (None, seed) => seed.map(Data::Seed),
    };
    let mut parameters = args.parameters.clone();
    if let Some(variance) = noise_variance {
        if !entry.takes_data() {
            let name = entry.name;
            return Err(usage(format!(
                "--noise-variance does not apply to {name}: it has no data"
            )));
        }
        parameters.push(("noise-variance".to_owned(), *variance));
    }
    Ok(Choices { parameters, preset: args.preset.clone(), data })
}

/// What is written down before the run.
fn record(args: &RunArgs, entry: &Entry, choices: &Choices, settings: Settings) -> Record {
    let defaults = entry.parameters.iter().map(|p| (p.name.to_owned(), p.default));
    let output = &args.settings.output;
    Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: args.target.clone(),
        model: None,
        draws: output.draws,
        seeds: output.seeds,
        check_particles: output.check_particles,
        strict: output.strict,
        preset: choices.preset.clone().unwrap_or_else(|| entry.presets[0].to_owned()),
        data_seed: match choices.data {
            Some(Data::Seed(seed)) => Some(seed),
            Some(Data::Table(_)) => None,
            None => entry.takes_data().then_some(Data::DEFAULT_SEED),
        },
        data: args.data.data.clone(),
        parameters: defaults.chain(choices.parameters.iter().cloned()).collect(),
        settings,
    }
}
