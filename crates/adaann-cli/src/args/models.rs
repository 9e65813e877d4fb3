//! Commands for model files and for the runs that they make.

use super::SettingArgs;
use crate::values::{self, count};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `adaann init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The file to write
    #[arg(value_name = "FILE.toml", default_value = "model.toml")]
    pub(crate) file: PathBuf,
    /// What the model is like
    #[arg(long, value_enum, default_value_t = Kind::Regression)]
    pub(crate) kind: Kind,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Also write a JSON Schema of model files, with which editors complete and check them
    #[arg(long, value_name = "FILE.json")]
    pub(crate) schema: Option<PathBuf>,
}

/// Kinds of model files to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A log density without data
    Density,
    /// Measurements that depend on other columns
    Regression,
    /// A system of differential equations with data
    Ode,
    /// Groups whose parameters have a prior in common
    Hierarchical,
}

/// Arguments of `adaann check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The model file
    #[arg(value_name = "MODEL.toml")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Show the formulas in LaTeX
    #[arg(long)]
    pub(crate) latex: bool,
}

/// Arguments of `adaann fit`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct FitArgs {
    /// The model file
    #[arg(value_name = "MODEL.toml")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// Arguments of `adaann predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// New inputs: a CSV file with the columns that the likelihood depends on [default: the data]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) at: Option<PathBuf>,
    /// Draws of the parameters that predictions are made from
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) draws: usize,
    /// Fixes the random numbers of the predictions
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the table here [default: predictions.csv in the run folder]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `adaann sample`.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// How many draws
    #[arg(short = 'n', long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) count: usize,
    /// Fixes the draws
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Draws corrected by importance weights: chosen from more draws of the flow by their weights, so
    /// that they need none; some may come twice [default: draws of the flow, with weights]
    #[arg(long)]
    pub(crate) resampled: bool,
    /// Write to a file [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `adaann export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Where to: .nc for netCDF, which ArviZ opens, or .csv [default: draws.nc in the run folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Draws of the parameters that predictions are made from; 0 leaves predictions out
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) predictions: usize,
}

/// Arguments of `adaann compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The run folders
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub(crate) runs: Vec<PathBuf>,
}
