//! `adaann fit`: fits the model of a file, with the settings of the file and the flags.

use crate::{
    args::FitArgs,
    folder::{
        record::{Record, Repeats},
        subject::Subject,
    },
    job::Job,
};
use adaann::model::Model;
use anyhow::Result;
use std::{collections::BTreeMap, process::ExitCode};

/// Fits a model.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitCode> {
    let model = Model::read_with_data(&args.model, args.data.as_deref())?;
    let name = args.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let plan = args.settings.plan_over(&model, &model.default_settings())?;
    let output = args.settings.output_over(&model, plan.seed())?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: name,
        model: Some(args.model.clone()),
        method: plan.method(),
        repeats: Repeats::of(&plan, &output),
        strict: output.strict,
        no_state: output.no_state,
        preset: String::new(),
        data_seed: None,
        data: args.data.clone(),
        parameters: BTreeMap::new(),
        foreign: None,
        plan,
    };
    Job::new(record, Subject::of_model(model)).run_and_write(&output)
}
