//! Arguments of the commands for model files and for their runs.

use super::SettingArgs;
use crate::args::values::{self, count};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `adaann init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The file to write
    #[arg(value_name = "FILE.toml", default_value = "model.toml")]
    pub(crate) file: PathBuf,
    /// The kind of model
    #[arg(long, value_enum, default_value_t = Kind::Regression)]
    pub(crate) kind: Kind,
    /// Replace the files if they exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Also write a JSON Schema of model files, for completion and validation in editors
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
    /// Groups whose parameters share a prior
    Hierarchical,
}

/// Arguments of `adaann check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The model file, or a run folder of a model
    #[arg(value_name = "MODEL.toml|RUN")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Show the formulas in LaTeX
    #[arg(long)]
    pub(crate) latex: bool,
    /// Allow the external program that computes the likelihood to be started. Needed only for a run
    /// folder, whose model file may come from an untrusted source [default: not started]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

/// Arguments of `adaann fit`.
#[derive(Debug, Args)]
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

/// Arguments of `adaann calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// The model file, with proper priors and lines in [likelihood]
    #[arg(value_name = "MODEL.toml")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names; its measurements are replaced by simulated
    /// ones
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Number of trials
    #[arg(short = 'n', long, value_parser = count, value_name = "COUNT", default_value_t = 200)]
    pub(crate) trials: usize,
    /// Draws from each fit among which the true values are ranked
    #[arg(long, value_parser = count, value_name = "L", default_value_t = 99)]
    pub(crate) draws: usize,
    /// Random seed of all trials
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Trials to run in parallel, each on one thread; never changes a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT")]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The output folder; trials already in it are not repeated [default: runs/NAME-calibrate]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Discard trials in the folder that have other settings
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Flags of `adaann fit`, applied to every fit
    #[arg(last = true, value_name = "FLAGS OF FIT")]
    pub(crate) fit: Vec<String>,
}

/// Arguments of `adaann predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// New inputs: a CSV file with the columns that the likelihood depends on [default: the data]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) at: Option<PathBuf>,
    /// Number of parameter draws to predict from
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) draws: usize,
    /// Random seed of the predictions
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Predict from unweighted draws of the flow [default: from draws resampled by their weights]
    #[arg(long, requires = "out")]
    pub(crate) unweighted: bool,
    /// Write the table to this file, and the figure next to it as .svg and .png [default: predictions.csv
    /// in the run folder]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the table and the figures if they exist
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// Arguments of `adaann sample`.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Number of draws
    #[arg(short = 'n', long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) count: usize,
    /// Random seed of the draws
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write draws of the flow with their weights [default: draws of the target, resampled by weight from
    /// a larger set of flow draws, or from the run's own draws if it has no flow; draws may repeat]
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Write to a file [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Allow the external program that computes the likelihood to be started, if the run's model file names
    /// one. The file may come from an untrusted source [default: not started]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

impl ExportArgs {
    /// Default number of draws for predictions.
    pub(crate) const PREDICTIONS: usize = 1_000;
}

/// Arguments of `adaann export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// The output file: .nc for netCDF, which ArviZ reads, or .csv [default: draws.nc in the run folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Number of parameter draws for the predictions and for the log likelihood of each row; 0 omits both
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = Self::PREDICTIONS)]
    pub(crate) predictions: usize,
    /// Also write the flow's draws with their weights, in groups of their own; a .csv file then holds
    /// only these, instead of the resampled draws
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Allow the external program that computes the likelihood to be started, if the run is unfinished and
    /// its model file names one. The file may come from an untrusted source [default: not started]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

/// Arguments of `adaann compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The run folders
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub(crate) runs: Vec<PathBuf>,
}
