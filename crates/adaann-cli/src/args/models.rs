//! Commands for model files and for the runs that they make.

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
    /// What the model is like
    #[arg(long, value_enum, default_value_t = Kind::Regression)]
    pub(crate) kind: Kind,
    /// Replace the files if they exist
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
    /// The model file, or a run folder that has one
    #[arg(value_name = "MODEL.toml|RUN")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Show the formulas in LaTeX
    #[arg(long)]
    pub(crate) latex: bool,
    /// Start the program that computes the likelihood, if the model file is that of a run and names one [default: it is
    /// not started, since it may be anybody's]
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
    /// The model file, with priors that can be drawn from and lines of [likelihood]
    #[arg(value_name = "MODEL.toml")]
    pub(crate) model: PathBuf,
    /// The data, in place of the file that the model names; its measurements are replaced
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Trials
    #[arg(short = 'n', long, value_parser = count, value_name = "COUNT", default_value_t = 200)]
    pub(crate) trials: usize,
    /// Draws of each fit that the truth is ranked among
    #[arg(long, value_parser = count, value_name = "L", default_value_t = 99)]
    pub(crate) draws: usize,
    /// Fixes every random number of every trial
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Trials at once, each on one thread; they never change a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT")]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The folder; trials that it has are not run again [default: runs/NAME-calibrate]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Drop trials of other settings that the folder has
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Flags of `adaann fit` for every fit
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
    /// Draws of the parameters that predictions are made from
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) draws: usize,
    /// Fixes the random numbers of the predictions
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Predict from draws of the flow itself [default: from draws chosen by their weights]
    #[arg(long, requires = "out")]
    pub(crate) unweighted: bool,
    /// Write the table here, and the figure beside it as .svg and .png [default: predictions.csv in the
    /// run folder]
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
    /// How many draws
    #[arg(short = 'n', long, value_parser = count, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) count: usize,
    /// Fixes the draws
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Draws of the flow itself, with their weights [default: draws of the target, chosen from more
    /// draws of the flow by their weights, or from those of the run where it has no weights by a flow;
    /// some may come twice]
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Write to a file [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Start the program that computes the likelihood, if the run's model file names one [default: it is
    /// not started, since it may be anybody's]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

impl ExportArgs {
    /// Draws that predictions are made from if nothing else is said.
    pub(crate) const PREDICTIONS: usize = 1_000;
}

/// Arguments of `adaann export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Where to: .nc for netCDF, which ArviZ opens, or .csv [default: draws.nc in the run folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Draws of the parameters that predictions are made from, and the log likelihood of each row; 0
    /// leaves both out
    #[arg(long, value_parser = count, value_name = "COUNT", default_value_t = Self::PREDICTIONS)]
    pub(crate) predictions: usize,
    /// Also the draws of the flow itself with their weights, in groups of their own; as .csv, they in
    /// place of the draws that are chosen by their weights
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Start the program that computes the likelihood, if the run is unfinished and its model file names one
    /// [default: it is not started, since it may be anybody's]
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
