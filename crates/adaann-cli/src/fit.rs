//! `adaann fit`: the model of a file, with the settings that the file gives and those of the flags.

use crate::{
    args::{Cli, Command, FitArgs},
    job::{self, Job},
    record::Record,
    settings,
    subject::Subject,
};
use adaann::model::Model;
use anyhow::Result;
use clap::Parser;
use std::{collections::BTreeMap, ffi::OsString, process::ExitCode};

/// Fits a model.
pub(crate) fn fit(given: &FitArgs) -> Result<ExitCode> {
    let model = Model::read_with_data(&given.model, given.data.as_deref())?;
    let args = with_settings_of(&model)?;
    let name = given.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let subject = Subject::of_model(model);
    let problem = &subject.problem;
    let settings = settings::resolve(&args.settings, &problem.settings, &*problem.target)?;
    let output = &args.settings.output;
    job::check(output, &settings)?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: name,
        model: Some(given.model.clone()),
        draws: output.draws,
        seeds: output.seeds,
        preset: String::new(),
        data_seed: None,
        data: given.data.clone(),
        parameters: BTreeMap::new(),
        settings,
    };
    Job { record, subject }.carry_out(output)
}

/// The command line with the settings of the file before it: what is said last counts.
fn with_settings_of(model: &Model) -> Result<FitArgs> {
    let flags: Vec<Vec<String>> = model
        .fit_settings()
        .into_iter()
        .map(|(key, value)| match value {
            None => vec![format!("--{key}")],
            Some(value) => vec![format!("--{key}={value}")],
        })
        .collect();
    for (index, flag) in flags.iter().enumerate() {
        let alone = ["adaann", "fit", "model.toml"].into_iter().map(str::to_owned);
        if let Err(error) = Cli::try_parse_from(alone.chain(flag.iter().cloned())) {
            return Err(model.fit_error(index, &first_line(&error)).into());
        }
    }
    let mut words = std::env::args_os();
    let program: Vec<OsString> = words.by_ref().take(2).collect();
    let flags = flags.into_iter().flatten().map(OsString::from);
    match Cli::try_parse_from(program.into_iter().chain(flags).chain(words)) {
        Ok(Cli { command: Command::Fit(args) }) => Ok(*args),
        Ok(_) => unreachable!("this is `adaann fit`"),
        Err(error) => error.exit(),
    }
}

/// What clap says is wrong, without what it says about usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
