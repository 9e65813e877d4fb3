//! `adaann fit`: the model of a file, with the settings that the file gives and those of the flags.

use crate::{
    args::{Cli, Command, FitArgs, overlay},
    folder::{record::Record, subject::Subject},
    job::{self, Job},
};
use adaann::{Error, Settings, model::Model};
use anyhow::Result;
use clap::{CommandFactory, Parser};
use std::{collections::BTreeMap, ffi::OsString, path::Path, process::ExitCode};

/// Fits a model.
pub(crate) fn fit(given: &FitArgs) -> Result<ExitCode> {
    let model = Model::read_with_data(&given.model, given.data.as_deref())?;
    let args = with_settings_of(&model)?;
    let name = given.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let subject = Subject::of_model(model);
    let problem = &subject.problem;
    let settings = overlay::resolve(&args.settings, &problem.settings, &*problem.target)
        .map_err(|error| at_its_place(error, &subject))?;
    let output = &args.settings.output;
    job::check(output, &settings)?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: name,
        model: Some(given.model.clone()),
        draws: output.draws,
        seeds: output.seeds,
        check_particles: output.check_particles,
        strict: output.strict,
        preset: String::new(),
        data_seed: None,
        data: given.data.clone(),
        parameters: BTreeMap::new(),
        settings,
    };
    Job { record, subject }.carry_out(output)
}

/// A model with the settings that its file gives, and no flags.
pub(crate) fn resolved(model: Model) -> Result<(Subject, Settings)> {
    check_settings(&model)?;
    let alone = ["adaann", "fit", "model.toml"].into_iter().map(str::to_owned);
    let Cli { command: Command::Fit(args) } = Cli::try_parse_from(alone.chain(flags(&model)))?
    else {
        unreachable!("this is `adaann fit`")
    };
    let subject = Subject::of_model(model);
    let problem = &subject.problem;
    let settings = overlay::resolve(&args.settings, &problem.settings, &*problem.target)
        .map_err(|error| at_its_place(error, &subject))?;
    Ok((subject, settings))
}

/// Refuses settings of the file that are none, or have no such value.
pub(crate) fn check_settings(model: &Model) -> Result<()> {
    let cli = Cli::command();
    let fit = cli.find_subcommand("fit").expect("there is a subcommand 'fit'");
    let known: Vec<&str> = fit
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|name| *name != "data")
        .collect();
    for (index, (flag, (key, _))) in flags(model).into_iter().zip(model.fit_settings()).enumerate()
    {
        if !known.contains(&&key[..]) {
            return Err(model.unknown_fit_setting(index, &known).into());
        }
        let alone = ["adaann", "fit", "model.toml"].into_iter().map(str::to_owned);
        if let Err(error) = Cli::try_parse_from(alone.chain([flag])) {
            return Err(model.fit_error(index, &first_line(&error)).into());
        }
    }
    Ok(())
}

/// The settings of the file as flags.
fn flags(model: &Model) -> Vec<String> {
    let flag = |(key, value): (String, Option<String>)| match value {
        None => format!("--{key}"),
        Some(value) => format!("--{key}={value}"),
    };
    model.fit_settings().into_iter().map(flag).collect()
}

/// The command line with the settings of the file before it: what is said last counts.
fn with_settings_of(model: &Model) -> Result<FitArgs> {
    let mut words = std::env::args_os();
    let program: Vec<OsString> = words.by_ref().take(2).collect();
    parse(model, program, words)
}

/// What `adaann fit PATH FLAGS` would be told.
pub(crate) fn args_of(model: &Model, path: &Path, flags: &[String]) -> Result<FitArgs> {
    let program = ["adaann".into(), "fit".into(), path.into()];
    parse(model, program, flags.iter().map(OsString::from))
}

/// Words of a command line with the settings of the file between them.
fn parse(
    model: &Model,
    program: impl IntoIterator<Item = OsString>,
    words: impl Iterator<Item = OsString>,
) -> Result<FitArgs> {
    check_settings(model)?;
    let flags = flags(model).into_iter().map(OsString::from);
    match Cli::try_parse_from(program.into_iter().chain(flags).chain(words)) {
        Ok(Cli { command: Command::Fit(args) }) => Ok(*args),
        Ok(_) => unreachable!("this is `adaann fit`"),
        Err(error) => error.exit(),
    }
}

/// An error about a setting that the file gives, shown there.
fn at_its_place(error: anyhow::Error, subject: &Subject) -> anyhow::Error {
    let Some(Error::Setting { setting, value, range }) = error.downcast_ref() else { return error };
    let Some(model) = &subject.model else { return error };
    let index = model.fit_settings().iter().position(|(key, given)| {
        key == setting && given.as_ref().is_some_and(|given| given.parse() == value.parse::<f64>())
    });
    match index {
        Some(index) => {
            let message = format!("{setting} is {value}, but must be {range}");
            model.fit_error(index, &message).into()
        }
        None => error,
    }
}

/// What clap says is wrong, without what it says about usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
