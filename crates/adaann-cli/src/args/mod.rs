//! The command line: what can be asked, and what it defaults to.

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

/// Approximates a density that is known up to a constant, and says how far to trust the answer.
#[derive(Debug, Parser)]
#[command(name = "adaann", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Approximate a target by name and write a run folder: draws, summary, figures, report
    ///
    /// The paper's Examples 1 to 3 are answered by its method, a flow that is annealed; all other
    /// targets climb the ladder: modes, mixture, particles, flow, until one is good enough. A flag that
    /// belongs to annealed flows, like --tau, chooses them (--method adaann). --dry-run shows what would
    /// be run.
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
    /// Read a model file: all mistakes at once, the model in mathematics, its gradient tested
    Check(CheckArgs),
    /// Fit the model of a file and write a run folder
    ///
    /// The posterior is found by the ladder (modes, mixture, particles, flow, until one is good enough),
    /// unless --method or a flag that belongs to annealed flows says otherwise. Flags replace the
    /// settings of the file's [fit] table.
    #[command(
        after_help = "Examples:\n  adaann fit model.toml\n  adaann fit model.toml --target-ess \
        20000\n  adaann fit model.toml --flow realnvp --seeds 4\n  adaann fit model.toml --data \
        other.csv --out runs/other"
    )]
    Fit(Box<FitArgs>),
    /// Fit data that a model makes itself, many times: do the draws spread around the truth rightly?
    ///
    /// Each trial draws parameters from the prior, makes data of the same shape as the file's from
    /// them, fits the model to it as `adaann fit` would and ranks the true values among draws of the fit.
    /// A command that was stopped or killed goes on where it was when it is given again; a larger -n adds
    /// trials. Annealed flows have 1000 updates at t = 1 in place of 3000 unless the file's [fit] table or
    /// a flag behind -- says otherwise.
    #[command(
        after_help = "Examples:\n  adaann calibrate model.toml\n  adaann calibrate model.toml \
        -n 50 -- --refine 3000     flags of `adaann fit` behind --"
    )]
    Calibrate(CalibrateArgs),
    /// Predict measurements by a fitted model, at its data or at new inputs
    Predict(PredictArgs),
    /// Sample by sequential Monte Carlo: particles in place of a flow, and the evidence
    ///
    /// Slower than drawing from a flow, but owes nothing to one: what `run` and `fit` are checked by.
    #[command(after_help = "Examples:\n  adaann smc bimodal\n  adaann smc model.toml --particles \
        10000\n  adaann smc mixture2d --move hmc --no-jumps")]
    Smc(Box<SmcArgs>),
    /// Go on with a run that was stopped or killed, or lengthen a finished one, from its folder alone
    ///
    /// A run that was stopped ends in the same bytes as if it never had been. The command that began the run
    /// does the same when it is given again. A finished run goes on with --more-updates, --more-draws or
    /// --more-particles, and replaces itself when it is longer.
    #[command(
        after_help = "Examples:\n  adaann resume runs/model-1\n  adaann resume runs/model-1 \
        --threads 8\n  adaann resume runs/bimodal-1 --more-updates 5000     a finished run, longer\n  \
        adaann resume runs/hiv-1 --more-draws 50000"
    )]
    Resume(ResumeArgs),
    /// Draw from a run: as many points as you want
    Sample(SampleArgs),
    /// Write the draws of a run for other programs: netCDF for ArviZ, or CSV
    Export(ExportArgs),
    /// Compare runs: verdict, evidence and neg-ELBO, parameters side by side
    Compare(CompareArgs),
    /// List targets with their parameters, flows, schedules, paths and optimizers
    List,
    /// Run the paper's experiments: every table and figure, beside the published numbers
    ///
    /// Trials run in parallel, and each result is kept as soon as it is there: a run that was stopped
    /// or killed goes on where it was when the same command is given again.
    #[command(after_help = "Examples:\n  adaann paper --quick        a look at everything, in \
        minutes\n  adaann paper                over a coffee\n  adaann paper ex3 --full     as many \
        trials as the paper has")]
    Paper(PaperArgs),
    /// Evaluate log p and log q of a run at your own points
    #[command(after_help = "The file has one point a line. With a header, columns are found by \
        their names, in any order, and others are ignored; without one there is a column for \
        each parameter, in order.")]
    Density(DensityArgs),
    /// Draw the figures and the page of a run again, from its folder
    Report(ReportArgs),
    /// Compare a run folder with its index: what was changed, is missing or is new
    Verify(VerifyArgs),
}

/// Arguments of `adaann verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The run folder
    pub(crate) run: PathBuf,
}

/// What lengthens a finished run.
const LONGER: &str = "More of a finished run";

/// Arguments of `adaann resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Threads; they never change a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// How often the run is written down: a time like 30s or 5m, or off [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) checkpoint: Option<Interval>,
    /// Lengthen a finished run of an annealed flow: so many more updates at t = 1
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_updates: Option<usize>,
    /// Lengthen a finished run: so many more draws of its flow or mixture, with their weights
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_draws: Option<usize>,
    /// Lengthen a finished run of `adaann smc`: another population of so many particles, joined with those
    /// that are there
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(help_heading = LONGER)]
    pub(crate) more_particles: Option<usize>,
    /// Start the program that computes the likelihood, if the run's model names one; it says which
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
    /// Write the page here, and leave the run folder as it is [default: report.html and figures in
    /// the run folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Show draws of the flow itself [default: draws chosen by their weights]
    #[arg(long, requires = "out")]
    pub(crate) unweighted: bool,
    /// Start the program that computes the likelihood, if the run's model file names one [default: it is
    /// not started, since it may be anybody's]
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
    /// The set of settings of annealed flows to start from, like paper, with the method adaann; `adaann
    /// list` shows those of each target [default: the target's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// The data of a posterior.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data (of targets that have some: lorenz, hiv)")]
pub(crate) struct DataArgs {
    /// The measurements: a CSV file with a column t and one for each observed state; an empty field
    /// is a missing measurement [default: made from the true parameters with --data-seed]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// Fixes the noise of data that is made [default: 1]
    #[arg(long, value_name = "SEED", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) data_seed: Option<u64>,
    /// The known variance of the measurements' noise, of data given or made [default: the target's]
    #[arg(long, value_name = "VARIANCE", value_parser = number, allow_negative_numbers = true)]
    pub(crate) noise_variance: Option<f64>,
}

/// Arguments of `adaann paper`.
#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// Which examples
    #[arg(value_name = "EXAMPLE", default_value = "all")]
    #[arg(value_parser = ["ex1", "ex2", "ex3", "ex4", "ex5", "all"])]
    pub(crate) examples: Vec<String>,
    /// A few trials of everything: three minutes on two cores
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// As many trials as the paper has: an hour on two cores, and two more for realNVP with 100 units
    #[arg(long)]
    pub(crate) full: bool,
    /// Trials of each experiment, at each value of its parameter [default: by the size]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) trials: Option<usize>,
    /// Trials of realNVP with 100 hidden units, which take a quarter of a minute each; 0 leaves them
    /// out [default: as many as the others with --full, or else none]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) large_trials: Option<usize>,
    /// Threads; they never change a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The folder for page, figures, tables and results; what it has of earlier runs is used
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
    /// The points, as CSV
    #[arg(value_name = "FILE.csv")]
    pub(crate) points: PathBuf,
    /// Write to a file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Start the program that computes the likelihood, if the run's model file names one [default: it is
    /// not started, since it may be anybody's]
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

    /// What a number means must be said where it is asked for.
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
