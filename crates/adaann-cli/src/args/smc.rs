//! Arguments of `adaann smc`.

use super::DataArgs;
use crate::args::{
    flags::AnnealingFlags,
    names::Named,
    values::{self, List, count, list, number},
};
use adaann::{fit::overlay::Interval, model::Output, smc::Move};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `adaann smc`.
#[derive(Debug, Args)]
pub(crate) struct SmcArgs {
    /// The name of a target, as shown by `adaann list`, or a model file
    #[arg(value_name = "NAME|MODEL.toml")]
    pub(crate) subject: String,
    /// A parameter of the target, like mu=4; may be repeated [default: the target's own]
    #[arg(long = "param", value_name = "NAME=NUMBER", value_parser = values::parameter)]
    pub(crate) parameters: Vec<(String, f64)>,
    /// The preset that path, base and seed are taken from [default: the target's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) annealing: AnnealingFlags,
    #[command(flatten)]
    pub(crate) particles: ParticleArgs,
    #[command(flatten)]
    pub(crate) output: SmcOutputArgs,
}

/// The number of particles, their base and their moves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Particles")]
pub(crate) struct ParticleArgs {
    /// Number of particles [default: 2000]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) particles: Option<usize>,
    /// Number of independent islands among which the particles are divided; their spread gives a more
    /// reliable error than a single run [default: 1]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) islands: Option<usize>,
    /// How particles move within a mode [default: auto]
    #[arg(long = "move", value_name = "NAME", value_parser = Named(Move::ALL, Move::named))]
    pub(crate) moves: Option<Move>,
    /// Propose no jumps between modes [default: jumps from a mixture fitted to the particles]
    #[arg(long)]
    pub(crate) no_jumps: bool,
    /// How far particles move at each t; 1 is the distance of independent draws [default: 0.8]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) freshness: Option<f64>,
    /// Maximum number of sweeps of moves at each t [default: 5]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) most_sweeps: Option<usize>,
    /// Number of sweeps at t = 1; the particles of all of them are saved [default: 5]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) kept_sweeps: Option<usize>,
    /// Resample when the ESS falls below this share of the particles [default: 0.6]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) resample_below: Option<f64>,
    /// Mean of the base distribution, from which the particles start: one number, or one for each
    /// coordinate. Bounded targets use unconstrained coordinates [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_mean: Option<List>,
    /// Standard deviation of the base, in the same coordinates [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_sd: Option<List>,
}

impl SmcOutputArgs {
    /// The settings for the external program that computes the likelihood, in the form of `fit`.
    pub(crate) fn patience(&self) -> Output {
        let Self { retries, command_timeout, .. } = *self;
        Output { retries, command_timeout, ..Output::default() }
    }
}

/// Run and output settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct SmcOutputArgs {
    /// Random seed; the number of threads does not change the result [default: the target's, mostly 1]
    #[arg(long, value_name = "SEED", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Number of threads; never changes a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The run folder; it must not exist [default: runs/NAME-smc-SEED]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run folder if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Maximum number of evaluations of the target; the particles then stop at the current t [default:
    /// unlimited]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_evaluations: Option<usize>,
    /// Maximum run time, like 10m or 2h [default: unlimited]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Interval>,
    /// Start an unfinished run from the beginning [default: resume it]
    #[arg(long)]
    pub(crate) restart: bool,
    /// Time between checkpoints, from which a killed run can resume, like 30s or 5m, or off [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) checkpoint: Option<Interval>,
    /// Do not save the final state, which is needed to extend the run by more particles [default: saved in
    /// final]
    #[arg(long)]
    pub(crate) no_state: bool,
    /// How often to restart the external program that computes the likelihood, if any, for one batch of
    /// points after a crash or an invalid answer; 0 for never [default: 2]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) retries: Option<usize>,
    /// Time limit of that program for one batch, like 30s or 5m, or off; a slower program counts as
    /// crashed [default: the timeout of the model's command, otherwise a minute]
    #[arg(long, value_name = "TIME")]
    pub(crate) command_timeout: Option<Interval>,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
}
