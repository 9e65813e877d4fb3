//! Settings of a run as flags, the same for targets by name and for model files.

use crate::args::flags::Flags;
use adaann::{
    Error, Settings,
    fit::{
        Overlay,
        overlay::{Setting, Table},
    },
    model::{Model, Output},
};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

/// All settings of a run.
#[derive(Debug, Args)]
pub(crate) struct SettingArgs {
    #[command(flatten)]
    pub(crate) overlay: Flags<Overlay>,
    #[command(flatten)]
    pub(crate) output: Flags<Output>,
}

impl SettingArgs {
    /// The settings of a fit: these flags over those of the model's file over `base`.
    pub(crate) fn over(&self, model: &Model, base: Settings) -> Result<Settings> {
        let flags = &self.overlay.0;
        let given = flags.clone().over(model.overlay());
        given.apply(base, &*model.target()).map_err(|error| at_its_place(error, model, flags))
    }

    /// What comes out: these flags over what the model's file says.
    pub(crate) fn output_over(&self, model: &Model, seed: u64) -> Result<OutputArgs> {
        let flags = &self.output.0;
        let output = flags.clone().over(model.output());
        output.check(seed).map_err(|error| at_its_place(error, model, flags))?;
        Ok(output.into())
    }

    /// What comes out of a run without a file.
    pub(crate) fn output(&self, seed: u64) -> Result<OutputArgs> {
        self.output.0.check(seed)?;
        Ok(self.output.0.clone().into())
    }
}

/// An error about a setting that no flag gives but the file does, shown there.
fn at_its_place<T: Table>(error: Error, model: &Model, flags: &T) -> anyhow::Error {
    let is_flag = |setting: &Setting<T>| setting.is_given(flags);
    if error.setting().and_then(T::find).is_some_and(is_flag) {
        return error.into();
    }
    match model.at_its_place(&error) {
        Some(diagnostics) => diagnostics.into(),
        None => error.into(),
    }
}

/// What comes out, and where: as given, or else the defaults that the help names.
#[derive(Debug, Clone)]
pub(crate) struct OutputArgs {
    pub(crate) draws: usize,
    pub(crate) seeds: usize,
    pub(crate) check_particles: usize,
    pub(crate) strict: bool,
    pub(crate) threads: usize,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    pub(crate) dry_run: bool,
}

impl From<Output> for OutputArgs {
    fn from(given: Output) -> Self {
        Self {
            draws: given.draws.unwrap_or(10_000),
            seeds: given.seeds.unwrap_or(1),
            check_particles: given.check_particles.unwrap_or(2_000),
            strict: given.strict == Some(true),
            threads: given.threads.unwrap_or(0),
            out: given.out,
            force: given.force == Some(true),
            quiet: given.quiet == Some(true),
            json: given.json == Some(true),
            dry_run: given.dry_run == Some(true),
        }
    }
}
