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
    /// A target's name, which `adaann list` shows, or a model file
    #[arg(value_name = "NAME|MODEL.toml")]
    pub(crate) subject: String,
    /// A parameter of the target, like mu=4; may be repeated [default: the target's own]
    #[arg(long = "param", value_name = "NAME=NUMBER", value_parser = values::parameter)]
    pub(crate) parameters: Vec<(String, f64)>,
    /// The set of settings whose path, base and seed are taken [default: the target's first]
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

/// The particles, where they start and how they move.
#[derive(Debug, Args)]
#[command(next_help_heading = "Particles")]
pub(crate) struct ParticleArgs {
    /// How many particles [default: 2000]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) particles: Option<usize>,
    /// Independent runs that share the particles: their spread shows what the error of one run does not
    /// [default: 1]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) islands: Option<usize>,
    /// How particles move within a mode [default: auto]
    #[arg(long = "move", value_name = "NAME", value_parser = Named(Move::ALL, Move::named))]
    pub(crate) moves: Option<Move>,
    /// Propose no jumps from mode to mode [default: jumps from a mixture fitted to the particles]
    #[arg(long)]
    pub(crate) no_jumps: bool,
    /// How far particles move at each t: 1 is as far as independent ones [default: 0.8]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) freshness: Option<f64>,
    /// The most sweeps of moves at each t [default: 5]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) most_sweeps: Option<usize>,
    /// Sweeps at t = 1 whose particles are all kept [default: 5]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) kept_sweeps: Option<usize>,
    /// Resample when the weights are worth less than this share of the particles [default: 0.6]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) resample_below: Option<f64>,
    /// Mean of the base that particles start from: one number, or one for each coordinate; for a
    /// bounded target in its unconstrained coordinates [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_mean: Option<List>,
    /// Its standard deviation, in the same coordinates [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_sd: Option<List>,
}

impl SmcOutputArgs {
    /// What is said of the program that computes the likelihood, as `fit` has it.
    pub(crate) fn patience(&self) -> Output {
        let Self { retries, command_timeout, .. } = *self;
        Output { retries, command_timeout, ..Output::default() }
    }
}

/// What comes out, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct SmcOutputArgs {
    /// Fixes every random number, whatever the threads [default: the target's, mostly 1]
    #[arg(long, value_name = "SEED", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Threads; they never change a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The run folder; it must not exist [default: runs/NAME-smc-SEED]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run folder if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// The most evaluations of the target: particles then stay where they are [default: as many as it takes]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_evaluations: Option<usize>,
    /// The most time, like 10m or 2h [default: as much as it takes]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Interval>,
    /// Begin an unfinished run again [default: the same command goes on where it was]
    #[arg(long)]
    pub(crate) restart: bool,
    /// How often a run under way is written down, so that it can go on after a kill: a time like 30s or 5m,
    /// or off [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) checkpoint: Option<Interval>,
    /// Keep no final state, from which the run could be lengthened by more particles [default: it is kept, in
    /// final]
    #[arg(long)]
    pub(crate) no_state: bool,
    /// How often the program that computes the likelihood, if one does, is started again for one batch of
    /// points, where it dies or what it says is no answer; 0 for never [default: 2]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) retries: Option<usize>,
    /// How long that program may take for one batch before it counts as dead: a time like 30s or 5m, or off
    /// [default: the timeout of the model's command, a minute if it has none]
    #[arg(long, value_name = "TIME")]
    pub(crate) command_timeout: Option<Interval>,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
}
