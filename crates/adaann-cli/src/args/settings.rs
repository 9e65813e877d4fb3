//! Settings of a run as flags, the same for targets by name and for model files.

use crate::args::{
    names::{
        ACTIVATIONS, COVARIANCES, DIVERGENCES, GRADIENTS, Named, PRECISIONS, SCALE_MAPS, STARTS,
        UNIT_ACTIVATIONS, variant,
    },
    values::{self, Clip, First, List, count, list, mask, number, order},
};
use adaann::{
    fit::{Divergence, Gradient},
    flow::{
        Activation, Covariance, FlowSpec, Mask, Ordering, Precision, ScaleMap, Start,
        UnitActivation,
    },
    optim::{Optimizer, RateRule},
    path::PathKind,
    schedule::Schedule,
};
use clap::Args;
use std::path::PathBuf;

/// All settings of a run.
#[derive(Debug, Args)]
pub(crate) struct SettingArgs {
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    #[command(flatten)]
    pub(crate) training: TrainingArgs,
    #[command(flatten)]
    pub(crate) optimizer: OptimizerArgs,
    #[command(flatten)]
    pub(crate) forward_kl: ForwardKlArgs,
    #[command(flatten)]
    pub(crate) pilot: PilotArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The flow.
#[derive(Debug, Args)]
#[command(next_help_heading = "Flow (defaults: those of the target)")]
pub(crate) struct FlowArgs {
    /// The family of layers, or several joined by +, the first nearest to the base: linear+spline
    /// [default: the target's, mostly planar]
    #[arg(long, value_name = "NAME", value_parser = Named(FlowSpec::ALL, FlowSpec::named))]
    pub(crate) flow: Option<FlowSpec>,
    /// Number of layers, couplings or steps [default: the target's if it has the same kind of
    /// layers, or else the family's]
    #[arg(long, value_parser = count, value_name = "L", allow_negative_numbers = true)]
    pub(crate) layers: Option<usize>,
    /// Activation of planar layers [default: the target's, mostly tanh]
    #[arg(long, value_name = "NAME", value_parser = Named(ACTIVATIONS, variant::<Activation>))]
    pub(crate) activation: Option<Activation>,
    /// Precision that planar layers compute in; sums are in f64 either way [default: f64]
    #[arg(long, value_name = "NAME", value_parser = Named(PRECISIONS, variant::<Precision>))]
    pub(crate) precision: Option<Precision>,
    /// Units in a hidden layer of a network [default: 32]
    #[arg(long, value_parser = count, value_name = "H", allow_negative_numbers = true)]
    pub(crate) hidden: Option<usize>,
    /// Hidden layers of a network [default: 2]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) hidden_layers: Option<usize>,
    /// Activation of hidden units [default: silu]
    #[arg(long, value_name = "NAME", value_parser = Named(UNIT_ACTIVATIONS, variant::<UnitActivation>))]
    pub(crate) hidden_activation: Option<UnitActivation>,
    /// Coordinates that the first coupling keeps, the next one moving them: alternating, halves,
    /// random, or a list of numbers from 0 on [default: alternating]
    #[arg(long, value_name = "MASK", value_parser = mask)]
    pub(crate) mask: Option<Mask>,
    /// Order of the coordinates in autoregressive layers: alternating, sequential, reversed or
    /// random [default: alternating]
    #[arg(long, value_name = "ORDER", value_parser = order)]
    pub(crate) order: Option<Ordering>,
    /// How networks bound their scales [default: tanh-output]
    #[arg(long, value_name = "NAME", value_parser = Named(SCALE_MAPS, variant::<ScaleMap>))]
    pub(crate) scale_map: Option<ScaleMap>,
    /// One network a coupling for scale and shift, where realnvp has two [default: two]
    #[arg(long)]
    pub(crate) one_network: bool,
    /// Bins of a spline [default: 8]
    #[arg(long, value_parser = count, value_name = "K", allow_negative_numbers = true)]
    pub(crate) bins: Option<usize>,
    /// Splines leave coordinates alone beyond this distance from 0; it should be five
    /// standard deviations of the base [default: 10]
    #[arg(long, value_parser = number, value_name = "B", allow_negative_numbers = true)]
    pub(crate) spline_bound: Option<f64>,
    /// Standard deviation of the layers' parameters at the start, or the size of what networks make
    /// then; the smaller, the nearer to the identity [default: the target's, mostly 0.1]
    #[arg(long, value_parser = number, value_name = "SD", allow_negative_numbers = true)]
    pub(crate) initial_scale: Option<f64>,
}

/// The base density.
#[derive(Debug, Args)]
#[command(next_help_heading = "Base density (defaults: those of the target)")]
pub(crate) struct BaseArgs {
    /// Where the base starts [default: normal]
    #[arg(long, value_name = "NAME", value_parser = Named(STARTS, variant::<Start>))]
    pub(crate) base: Option<Start>,
    /// Mean of the base, or where the ascent to a mode starts: one number, or one for each
    /// coordinate, separated by commas; for a bounded target in its unconstrained coordinates, the
    /// log or logit of the position [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_mean: Option<List>,
    /// Standard deviation of the base, in the same coordinates: one number, or one for each
    /// coordinate [default: the target's]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) base_sd: Option<List>,
    /// Covariance matrix of the base, row by row, in place of --base-sd: 4,1,1,2 in two dimensions
    /// [default: none]
    #[arg(long, value_name = "LIST", value_parser = values::list, allow_hyphen_values = true)]
    pub(crate) base_matrix: Option<List>,
    /// Shape of the base's covariance, or of each of its components'; full starts from the diagonal,
    /// so it is useful with --train-base [default: diagonal; always full with --base laplace]
    #[arg(long, value_name = "NAME", value_parser = Named(COVARIANCES, variant::<Covariance>))]
    pub(crate) base_covariance: Option<Covariance>,
    /// Number of Gaussians that the base is a mixture of, with equal weights at the start; their
    /// means are drawn from the base's mean and standard deviation by the seed [default: 1]
    #[arg(long, value_parser = count, value_name = "K", allow_negative_numbers = true)]
    pub(crate) base_components: Option<usize>,
    /// Means of the base's components, one component after another: 0,1,5,6 for two of them in two
    /// dimensions [default: drawn]
    #[arg(long, value_name = "LIST", value_parser = list, allow_hyphen_values = true)]
    pub(crate) base_means: Option<List>,
    /// Train the base with the layers [default: the base is fixed]
    #[arg(long)]
    pub(crate) train_base: bool,
}

/// How the density is annealed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Annealing (defaults: those of the target)")]
pub(crate) struct ScheduleArgs {
    /// The rule that chooses the inverse temperatures [default: the target's, mostly adaann]
    #[arg(long, value_name = "NAME", value_parser = Named(Schedule::ALL, Schedule::named))]
    pub(crate) schedule: Option<Schedule>,
    /// The densities between base and target [default: the target's, mostly power]
    #[arg(long, value_name = "NAME", value_parser = Named(PathKind::ALL, PathKind::named))]
    pub(crate) path: Option<PathKind>,
    /// t_0, where annealing starts: above 0 and at most 1; 0 is allowed on the likelihood and
    /// bridge paths. auto finds it: where p^t is nearest to the flow as it starts, or 0 on the other
    /// paths [default: the target's]
    #[arg(long, value_parser = values::first, value_name = "T", allow_negative_numbers = true)]
    pub(crate) t0: Option<First>,
    /// Steps that keep this share of the effective sample size: adaann (or guarded, if that is the
    /// target's) with tau = sqrt(-log share) from 0.9 on, ess below [default: none]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) step_ess: Option<f64>,
    /// Tolerance of adaann and guarded: a step is worth a KL divergence of tau^2/2 [default: the
    /// target's]
    #[arg(long, value_parser = number, value_name = "TAU", allow_negative_numbers = true)]
    pub(crate) tau: Option<f64>,
    /// Step of the linear schedule [default: 0.0001]
    #[arg(long, value_parser = number, value_name = "EPS", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// Number of steps of the exponential and logarithmic schedules [default: 1000]
    #[arg(long, value_parser = count, value_name = "K", allow_negative_numbers = true)]
    pub(crate) steps: Option<usize>,
    /// The values of t of the list schedule, rising to 1 [default: 0.01,0.1,1]
    #[arg(long, value_parser = list, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) temperatures: Option<List>,
    /// Share of the effective sample size that a step of the ess schedule keeps [default: 0.9]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) ess: Option<f64>,
    /// Largest ratio of successive t of the guarded schedule [default: 2]
    #[arg(long, value_parser = number, value_name = "RATIO", allow_negative_numbers = true)]
    pub(crate) max_ratio: Option<f64>,
    /// Smallest step of the guarded schedule [default: 0, no floor]
    #[arg(long, value_parser = number, value_name = "EPS", allow_negative_numbers = true)]
    pub(crate) min_epsilon: Option<f64>,
    /// Largest step of the guarded schedule [default: 1, no ceiling]
    #[arg(long, value_parser = number, value_name = "EPS", allow_negative_numbers = true)]
    pub(crate) max_epsilon: Option<f64>,
    /// Let outliers of log p count in full in the guarded schedule [default: they are clipped]
    #[arg(long)]
    pub(crate) no_robust: bool,
}

/// How much is trained, with how many points.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training (defaults: those of the target)")]
pub(crate) struct TrainingArgs {
    /// T_0: updates at t_0 [default: the target's]
    #[arg(long, value_parser = count, value_name = "T_0", allow_negative_numbers = true)]
    pub(crate) warmup: Option<usize>,
    /// T: updates at each t between [default: the target's]
    #[arg(long, value_parser = count, value_name = "T", allow_negative_numbers = true)]
    pub(crate) updates: Option<usize>,
    /// T_1: updates at t = 1 [default: the target's]
    #[arg(long, value_parser = count, value_name = "T_1", allow_negative_numbers = true)]
    pub(crate) refine: Option<usize>,
    /// N: points in an update before t = 1, at least 2 [default: the target's]
    #[arg(long, value_parser = count, value_name = "N", allow_negative_numbers = true)]
    pub(crate) samples: Option<usize>,
    /// N_1: points in an update at t = 1, at least 2 [default: the target's]
    #[arg(long, value_parser = count, value_name = "N_1", allow_negative_numbers = true)]
    pub(crate) refine_samples: Option<usize>,
    /// M: draws from which a schedule chooses its step, at least 2 [default: the target's]
    #[arg(long, value_parser = count, value_name = "M", allow_negative_numbers = true)]
    pub(crate) variance_samples: Option<usize>,
    /// Train at each t below 1, --updates at a time, until draws of the flow weighted by p_t/q are
    /// worth this share of them; none for the fixed numbers of updates [default: none]
    #[arg(long, value_parser = values::clip, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) stage_ess: Option<Clip>,
    /// With --stage-ess: updates after which t grows whatever the share; at t_0, --warmup if that is
    /// more [default: 200]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) stage_most: Option<usize>,
}

/// The mass-covering stage.
#[derive(Debug, Args)]
#[command(next_help_heading = "Covering the target's mass, after t = 1")]
pub(crate) struct ForwardKlArgs {
    /// Rounds of training on the flow's own draws, weighted by p/q, so that q is wherever p is; the
    /// round with the largest effective sample size is kept [default: 0]
    #[arg(long, value_parser = count, value_name = "ROUNDS", allow_negative_numbers = true)]
    pub(crate) forward_kl: Option<usize>,
    /// Draws of a round, each an evaluation of the target [default: 10000]
    #[arg(long, value_parser = count, value_name = "S", allow_negative_numbers = true)]
    pub(crate) forward_kl_draws: Option<usize>,
    /// Updates of a round [default: 200]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) forward_kl_updates: Option<usize>,
    /// Points in an update, resampled from the draws [default: 500]
    #[arg(long, value_parser = count, value_name = "N", allow_negative_numbers = true)]
    pub(crate) forward_kl_batch: Option<usize>,
    /// What training lowers [default: forward-kl]
    #[arg(long, value_name = "NAME", value_parser = Named(DIVERGENCES, variant::<Divergence>))]
    pub(crate) forward_kl_divergence: Option<Divergence>,
    /// Learning rate, which falls to 0 over the stage [default: 0.001]
    #[arg(long, value_parser = number, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) forward_kl_lr: Option<f64>,
}

/// Settings that find themselves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Automatic settings")]
pub(crate) struct PilotArgs {
    /// Settings that find themselves: particles go ahead, and if a mixture of Gaussians fitted to them
    /// is not enough, a spline flow is annealed and covers the target's mass; other flags change
    /// parts of it
    #[arg(long)]
    pub(crate) auto: bool,
    /// Particles that go ahead of the flow; 0 for none [default: 0, and 2000 with --auto]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) pilot: Option<usize>,
    /// Rounds that sharpen the mixture fitted to the particles [default: 2]
    #[arg(long, value_parser = count, value_name = "ROUNDS", allow_negative_numbers = true)]
    pub(crate) pilot_rounds: Option<usize>,
    /// Draws of such a round, each an evaluation of the target [default: 20000]
    #[arg(long, value_parser = count, value_name = "S", allow_negative_numbers = true)]
    pub(crate) pilot_draws: Option<usize>,
    /// The share of its draws that must count as draws of the target for the mixture to be enough
    /// [default: 0.5]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) pilot_enough: Option<f64>,
}

/// How the parameters move.
#[derive(Debug, Args)]
#[command(next_help_heading = "Optimizer (defaults: those of the target)")]
pub(crate) struct OptimizerArgs {
    /// The optimizer [default: the target's, mostly adam]
    #[arg(long, value_name = "NAME", value_parser = Named(Optimizer::ALL, Optimizer::named))]
    pub(crate) optimizer: Option<Optimizer>,
    /// Momentum of sgd [default: 0]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) momentum: Option<f64>,
    /// Decay of adam's running mean of gradients [default: 0.9]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) beta1: Option<f64>,
    /// Decay of adam's running mean of squares [default: 0.999]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) beta2: Option<f64>,
    /// Decay of rmsprop's running mean of squares [default: 0.99]
    #[arg(long, value_parser = number, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) decay: Option<f64>,
    /// What adam and rmsprop add to the root before they divide [default: 1e-8]
    #[arg(long, value_parser = number, value_name = "EPS", allow_negative_numbers = true)]
    pub(crate) optimizer_epsilon: Option<f64>,
    /// Which estimate of the gradient updates follow [default: total]
    #[arg(long, value_name = "NAME", value_parser = Named(GRADIENTS, variant::<Gradient>))]
    pub(crate) gradient: Option<Gradient>,
    /// Learning rate [default: the target's]
    #[arg(long, value_parser = number, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) lr: Option<f64>,
    /// How the rate falls before t = 1: constant, step:EVERY:FACTOR, exponential:FACTOR or
    /// cosine:OVER[:FLOOR], in updates from the first one [default: the target's]
    #[arg(long, value_name = "RULE", value_parser = values::rate_rule)]
    pub(crate) lr_rule: Option<RateRule>,
    /// Learning rate at t = 1 [default: the target's, mostly --lr]
    #[arg(long, value_name = "RATE", value_parser = number, allow_negative_numbers = true)]
    pub(crate) refine_lr: Option<f64>,
    /// How the rate falls at t = 1, in updates from the first one there [default: the target's]
    #[arg(long, value_name = "RULE", value_parser = values::rate_rule)]
    pub(crate) refine_lr_rule: Option<RateRule>,
    /// Shorten gradients to this norm before t = 1; none for no limit [default: the target's, mostly
    /// none]
    #[arg(long, value_name = "NORM", value_parser = values::clip, allow_negative_numbers = true)]
    pub(crate) clip: Option<Clip>,
    /// Shorten gradients to this norm at t = 1; none for no limit [default: the target's, mostly
    /// none]
    #[arg(long, value_name = "NORM", value_parser = values::clip, allow_negative_numbers = true)]
    pub(crate) refine_clip: Option<Clip>,
    /// Shorten the gradient of log p at single points to this many times its median before t = 1;
    /// none for no limit [default: the target's, mostly none]
    #[arg(long, value_name = "RATIO", value_parser = values::clip, allow_negative_numbers = true)]
    pub(crate) point_clip: Option<Clip>,
}

/// What comes out, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct OutputArgs {
    /// Draws of the final flow, in draws.csv and behind every number of the summary
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 10_000)]
    pub(crate) draws: usize,
    /// Fixes every random number: the same seed gives the same draws, whatever the threads
    /// [default: the target's, mostly 1]
    // TOML has no integers beyond i64.
    #[arg(long, value_name = "SEED", value_parser = values::seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Runs from this many seeds, from --seed on, in parallel; the best by neg-ELBO is kept
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 1)]
    pub(crate) seeds: usize,
    /// Independent particles that look for what the flow has lost, at the end; 0 leaves them out
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 2_000)]
    pub(crate) check_particles: usize,
    /// End with exit code 3 unless the verdict is that the run is reliable
    #[arg(long)]
    pub(crate) strict: bool,
    /// Threads; they never change a result [default: 0, all cores]
    #[arg(long, value_parser = count, value_name = "COUNT", allow_negative_numbers = true)]
    #[arg(default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// The run folder; it must not exist [default: runs/NAME-SEED]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run folder if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print summary.json, and nothing else, to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the settings as they would be run (run.toml), and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
}
