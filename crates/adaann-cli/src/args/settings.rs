//! Settings of a run as flags, the same for named targets and for model files.

use crate::args::flags::Flags;
use adaann::{
    Error, Settings,
    answer::{self, Method, Plan},
    fit::{
        Overlay,
        overlay::{Interval, Table},
    },
    model::{Given, Model, Output},
    target::Target,
};
use anyhow::Result;
use clap::Args;
use std::{path::PathBuf, time::Duration};

/// All settings of a run.
#[derive(Debug, Args)]
pub(crate) struct SettingArgs {
    #[command(flatten)]
    pub(crate) answer: Flags<answer::Overlay>,
    #[command(flatten)]
    pub(crate) overlay: Flags<Overlay>,
    #[command(flatten)]
    pub(crate) output: Flags<Output>,
}

impl SettingArgs {
    /// The settings from the flags.
    pub(crate) fn given(&self) -> Given {
        Given {
            answer: self.answer.0.clone(),
            fit: self.overlay.0.clone(),
            output: self.output.0.clone(),
        }
    }

    /// The plan for a target without a file; `base` has its settings of Algorithm 1.
    pub(crate) fn plan(
        &self,
        default: Method,
        base: &Settings,
        target: &dyn Target,
    ) -> Result<Plan> {
        Ok(self.given().plan(&Given::default(), default, base, target)?)
    }

    /// The plan for a model: flags override its file, and the file overrides `base`.
    pub(crate) fn plan_over(&self, model: &Model, base: &Settings) -> Result<Plan> {
        let plan = model.plan_with(&self.given(), base);
        plan.map_err(|error| self.at_its_place(error, model))
    }

    /// The output settings: flags override the model's file.
    pub(crate) fn output_over(&self, model: &Model, seed: u64) -> Result<OutputArgs> {
        let output = self.output.0.clone().over(&model.given().output);
        output.check(seed).map_err(|error| self.at_its_place(error, model))?;
        patience_over(&self.output.0, model)?;
        Ok(output.into())
    }

    /// The output settings of a run without a file.
    pub(crate) fn output(&self, seed: u64) -> Result<OutputArgs> {
        self.output.0.check(seed)?;
        self.output.0.refuse_program("target")?;
        Ok(self.output.0.clone().into())
    }

    /// Points an error about a setting to its line in the model file, unless a flag has set it.
    fn at_its_place(&self, error: Error, model: &Model) -> anyhow::Error {
        let Self { answer, overlay, output } = self;
        let is_flag = |name| has(name, &answer.0) || has(name, &overlay.0) || has(name, &output.0);
        if error.setting().is_some_and(is_flag) {
            return error.into();
        }
        match model.at_its_place(&error) {
            Some(diagnostics) => diagnostics.into(),
            None => error.into(),
        }
    }
}

/// Sets retries and timeout of the model's external program; flags override its file.
///
/// # Errors
/// If the flags set them for a model without a program.
pub(crate) fn patience_over(flags: &Output, model: &Model) -> Result<()> {
    if model.program().is_none() {
        flags.refuse_program("model")?;
    }
    model.set_retry_policy(&flags.clone().over(&model.given().output));
    Ok(())
}

/// Is a setting of this name given?
fn has<T: Table>(name: &str, flags: &T) -> bool {
    T::find(name).is_some_and(|setting| setting.is_given(flags))
}

/// Default time between checkpoints: a killed run loses at most 30 seconds of work.
pub(crate) const CHECKPOINT: Interval = Interval::Every(Duration::from_secs(30));

/// The output settings, with the defaults that the help names.
#[derive(Debug, Clone)]
pub(crate) struct OutputArgs {
    pub(crate) draws: usize,
    pub(crate) seeds: usize,
    pub(crate) check_particles: usize,
    pub(crate) max_evaluations: Option<usize>,
    pub(crate) max_time: Option<f64>,
    pub(crate) strict: bool,
    pub(crate) threads: usize,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) restart: bool,
    pub(crate) checkpoint: Interval,
    pub(crate) no_state: bool,
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
            max_evaluations: given.max_evaluations,
            max_time: given.max_time.and_then(Interval::seconds),
            strict: given.strict == Some(true),
            threads: given.threads.unwrap_or(0),
            out: given.out,
            force: given.force == Some(true),
            restart: given.restart == Some(true),
            checkpoint: given.checkpoint.unwrap_or(CHECKPOINT),
            no_state: given.no_state == Some(true),
            quiet: given.quiet == Some(true),
            json: given.json == Some(true),
            dry_run: given.dry_run == Some(true),
        }
    }
}
