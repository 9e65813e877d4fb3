//! The command line: commands, flags and their defaults.

mod flags;
mod models;
mod names;
mod settings;
mod smc;
pub(crate) mod values;

pub(crate) use models::{
    CalibrateArgs, CheckArgs, CompareArgs, ExportArgs, FitArgs, InitArgs, Kind, PredictArgs,
    SampleArgs,
};
pub(crate) use settings::{CHECKPOINT, OutputArgs, SettingArgs, patience_over};
pub(crate) use smc::{ParticleArgs, SmcArgs, SmcOutputArgs};

use adaann::fit::overlay::Interval;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use values::{count, number};

/// Approximates a density known up to a constant, and judges how reliable the result is.
#[derive(Debug, Parser)]
#[command(name = "adaann", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Approximate a named target and write a run folder: draws, summary, figures, report
    ///
    /// The paper's Examples 1 to 3 use its method, an annealed flow (--method adaann). All other targets
    /// use the ladder, which tries modes, mixture, particles and flow until one is good enough. Flags of
    /// annealed flows, like --tau, select --method adaann. --dry-run shows what would be run.
    #[command(
        after_help = "Examples:\n  adaann run bimodal\n  adaann run hiv\n  adaann run bimodal \
        --tau 0.1 --out runs/coarse\n  adaann run two-moons --method mixture"
    )]
    Run(Box<RunArgs>),
    /// Write a commented model file to start from
    #[command(after_help = "Examples:\n  adaann init line.toml                   a regression\n  \
        adaann init growth.toml --kind ode      a system of equations\nThen: adaann check, \
        adaann fit.")]
    Init(InitArgs),
    /// Check a model file: list all its errors, print the model as formulas, test its gradient
    Check(CheckArgs),
    /// Fit the model of a file and write a run folder
    ///
    /// By default the ladder finds the posterior: it tries modes, mixture, particles and flow until one is
    /// good enough. --method selects another method; flags of annealed flows select --method adaann.
    /// Flags override the settings in the file's [fit] table.
    #[command(
        after_help = "Examples:\n  adaann fit model.toml\n  adaann fit model.toml --target-ess \
        20000\n  adaann fit model.toml --flow realnvp --seeds 4\n  adaann fit model.toml --data \
        other.csv --out runs/other"
    )]
    Fit(Box<FitArgs>),
    /// Test the calibration of a model: fit simulated data many times and rank the true parameters
    ///
    /// Each trial draws parameters from the prior, simulates data of the same shape as the file's, fits
    /// the model as `adaann fit` does, and ranks the true values among draws of the fit. Repeat the
    /// command to resume it after it was stopped or killed; a larger -n adds trials. Annealed flows train
    /// for 1000 updates at t = 1 instead of 3000, unless the file's [fit] table or a flag after -- sets
    /// --refine.
    #[command(
        after_help = "Examples:\n  adaann calibrate model.toml\n  adaann calibrate model.toml \
        -n 50 -- --refine 3000     flags of `adaann fit` after --"
    )]
    Calibrate(CalibrateArgs),
    /// Predict measurements from a fitted model, at its data or at new inputs
    Predict(PredictArgs),
    /// Sample by sequential Monte Carlo, and estimate the evidence
    ///
    /// Slower than drawing from a flow, but independent of one: `run` and `fit` check their results with
    /// it.
    #[command(after_help = "Examples:\n  adaann smc bimodal\n  adaann smc model.toml --particles \
        10000\n  adaann smc mixture2d --move hmc --no-jumps")]
    Smc(Box<SmcArgs>),
    /// Resume a run that was stopped or killed, or extend a finished one, from its run folder
    ///
    /// A resumed run writes the same bytes as an uninterrupted one. Repeating the command that started
    /// the run also resumes it. To extend a finished run, pass --more-updates, --more-draws or
    /// --more-particles; the extended run replaces the finished one in its folder.
    #[command(
        after_help = "Examples:\n  adaann resume runs/model-1\n  adaann resume runs/model-1 \
        --threads 8\n  adaann resume runs/bimodal-1 --more-updates 5000     extend a finished run\n  \
        adaann resume runs/hiv-1 --more-draws 50000"
    )]
    Resume(ResumeArgs),
    /// Draw any number of points from a run
    Sample(SampleArgs),
    /// Export the draws of a run: netCDF for ArviZ, or CSV
    Export(ExportArgs),
    /// Compare runs: verdicts, evidence, neg-ELBO and parameters side by side
    Compare(CompareArgs),
    /// List targets with their parameters, flows, schedules, paths and optimizers
    List,
    /// Run the paper's experiments and compare every table and figure with the published numbers
    ///
    /// Trials run in parallel, and each result is saved as soon as it is complete. Repeat the command to
    /// resume it after it was stopped or killed.
    #[command(after_help = "Examples:\n  adaann paper --quick        a few trials of \
        everything\n  adaann paper                more trials\n  adaann paper ex3 --full     as many \
        trials as in the paper")]
    Paper(PaperArgs),
    /// Evaluate log p and log q of a run at your own points
    #[command(
        after_help = "The file has one point per line. With a header, columns are matched by \
        name, in any order, and other columns are ignored. Without a header, the file has one column \
        for each parameter, in order."
    )]
    Density(DensityArgs),
    /// Redraw the figures and the report page of a run, from its folder
    Report(ReportArgs),
    /// Check a run folder against its index: list changed, missing and new files
    Verify(VerifyArgs),
}

/// Arguments of `adaann verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The run folder
    pub(crate) run: PathBuf,
}

/// Heading of the flags that extend a finished run.
const LONGER: &str = "Extending a finished run";

/// Arguments of `adaann resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Number of threads; never changes a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Time between checkpoints, like 30s or 5m, or off [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) checkpoint: Option<Interval>,
    /// Extend a finished run of an annealed flow by this many updates at t = 1
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_updates: Option<usize>,
    /// Extend a finished run by this many weighted draws of its flow or mixture
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_draws: Option<usize>,
    /// Extend a finished run of `adaann smc` by another population of this many particles
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_particles: Option<usize>,
    /// Allow the external program that computes the likelihood to be started, if the run's model names one;
    /// its command is printed
    #[arg(long)]
    pub(crate) allow_command: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `adaann report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Write the page to this file, and leave the run folder unchanged [default: report.html and figures
    /// in the run folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Show unweighted draws of the flow [default: draws resampled by their weights]
    #[arg(long, requires = "out")]
    pub(crate) unweighted: bool,
    /// Allow the external program that computes the likelihood to be started, if the run's model file names
    /// one. The file may come from an untrusted source [default: not started]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

/// Arguments of `adaann run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The target's name; `adaann list` shows all
    #[arg(value_name = "NAME")]
    pub(crate) target: String,
    /// A parameter of the target, like mu=4; may be repeated [default: the target's own]
    #[arg(long = "param", value_name = "NAME=NUMBER", value_parser = values::parameter)]
    pub(crate) parameters: Vec<(String, f64)>,
    /// A preset of settings for annealed flows, like paper; selects --method adaann. `adaann list` shows
    /// the presets of each target [default: the target's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// The data of a posterior.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data (for targets with data: lorenz, hiv)")]
pub(crate) struct DataArgs {
    /// The measurements: a CSV file with a column t and one for each observed state; an empty field
    /// is a missing measurement [default: simulated from the true parameters with --data-seed]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Random seed of the noise in simulated data [default: 1]
    #[arg(long, value_name = "SEED", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) data_seed: Option<u64>,
    /// The known variance of the measurement noise, for given or simulated data [default: the target's]
    #[arg(long, value_name = "VARIANCE", value_parser = number, allow_negative_numbers = true)]
    pub(crate) noise_variance: Option<f64>,
}

/// Arguments of `adaann paper`.
#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// The examples to run
    #[arg(value_name = "EXAMPLE", default_value = "all")]
    #[arg(value_parser = ["ex1", "ex2", "ex3", "ex4", "ex5", "all"])]
    pub(crate) examples: Vec<String>,
    /// Run a few trials of everything: three minutes on two cores
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Run as many trials as the paper: an hour on two cores, plus two for realNVP with 100 units
    #[arg(long)]
    pub(crate) full: bool,
    /// Trials of each experiment, at each value of its parameter [default: set by --quick or --full]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) trials: Option<usize>,
    /// Trials of realNVP with 100 hidden units, about 15 seconds each; 0 skips them [default: as many as
    /// the others with --full, otherwise 0]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) large_trials: Option<usize>,
    /// Number of threads; never changes a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The folder for page, figures, tables and results; existing results in it are reused
    #[arg(long, value_name = "FOLDER", default_value = "runs/paper")]
    pub(crate) out: PathBuf,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Arguments of `adaann density`.
#[derive(Debug, Args)]
pub(crate) struct DensityArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// The points, as a CSV file
    #[arg(value_name = "FILE.csv")]
    pub(crate) points: PathBuf,
    /// Write to a file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Allow the external program that computes the likelihood to be started, if the run's model file names
    /// one. The file may come from an untrusted source [default: not started]
    #[arg(long)]
    pub(crate) allow_command: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The help states the coordinates in which the base is given.
    #[test]
    fn the_help_of_the_base_names_its_coordinates_and_its_use() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").unwrap();
        for (id, words) in [
            ("base-mean", "unconstrained coordinates, the log or logit of the position"),
            ("base-covariance", "full starts from the diagonal, so it is useful with --train-base"),
        ] {
            let arg = run.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            let help = arg.get_help().unwrap().to_string();
            assert!(help.contains(words), "{help}");
        }
    }

    #[test]
    fn every_setting_has_a_help_line() {
        for command in Cli::command().get_subcommands() {
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {arg}", command.get_name());
            }
        }
    }
}
