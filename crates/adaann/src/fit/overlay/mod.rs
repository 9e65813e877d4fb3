//! Settings given by a file or a command line, over those of a problem.
//!
//! ```
//! use adaann::{Settings, fit::overlay::Overlay, flow::FlowSpec, registry};
//!
//! let problem = registry::find("bimodal")?.build(&[])?;
//! let given = Overlay { flow: Some(FlowSpec::named("radial")?), ..Overlay::default() };
//! let settings: Settings = given.apply(problem.settings, &*problem.target)?;
//! assert_eq!(settings.flow.label(), "radial");
//! let stranger = Overlay { bins: Some(8), ..given };
//! let error = stranger.apply(settings, &*problem.target).unwrap_err();
//! assert!(error.to_string().starts_with("`bins` does not apply to the radial flow"));
//! # Ok::<(), adaann::Error>(())
//! ```

mod apply;
mod flow;
mod names;
mod schedule;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use names::named;
pub use table::{Form, Names, Setting, Table, Written};
pub use values::{First, Interval, LAST_SEED, Limit};

pub(crate) use table::{Value, settings};

use super::{Divergence, Gradient};
use crate::{
    flow::{
        Activation, Covariance, FlowSpec, Mask, Ordering, Precision, ScaleMap, Start,
        UnitActivation,
    },
    optim::{Optimizer, RateRule},
    path::PathKind,
    schedule::Schedule,
};

/// Headings of the table.
const FLOW: &str = "Flow of the method adaann (defaults: those of the target)";
const BASE: &str = "Base density, where every method starts (defaults: those of the target)";
/// The heading of the settings for annealing a density, by a flow or by particles.
pub const ANNEALING: &str = "Annealing (defaults: those of the target)";
const TRAINING: &str = "Training of the method adaann (defaults: those of the target)";
const OPTIMIZER: &str = "Optimizer of the method adaann (defaults: those of the target)";
const FORWARD_KL: &str =
    "Forward-KL refinement of the method adaann, after t = 1: covers the target's mass";
/// The heading of the output settings.
pub const OUTPUT: &str = "Run and output";

settings! {
    /// Settings of a fit, each of them optional.
    ///
    /// [`Overlay::apply`] puts them over other settings. A setting that is not given keeps its value, or
    /// gets the default of the given flow, schedule or optimizer.
    pub struct Overlay {
        FLOW {
            /// The family of layers, or several joined by +, the first nearest to the base: linear+spline
            /// [default: the target's, mostly planar]
            flow: FlowSpec = "flow" "NAME",
            /// Number of layers, couplings or steps [default: the target's if it has the same kind of
            /// layers, or else the family's]
            layers: usize = "layers" "L",
            /// Activation of planar layers [default: the target's, mostly tanh]
            activation: Activation = "activation" "NAME",
            /// Precision of the computations in planar layers; sums always use f64 [default: f64]
            precision: Precision = "precision" "NAME",
            /// Units in a hidden layer of a network [default: 32]
            hidden: usize = "hidden" "H",
            /// Hidden layers of a network [default: 2]
            hidden_layers: usize = "hidden-layers" "COUNT",
            /// Activation of hidden units [default: silu]
            hidden_activation: UnitActivation = "hidden-activation" "NAME",
            /// Coordinates that the first coupling leaves unchanged, and the next one changes: alternating,
            /// halves, random, or a list of numbers from 0 on [default: alternating]
            mask: Mask = "mask" "MASK",
            /// Order of the coordinates in autoregressive layers: alternating, sequential, reversed or
            /// random [default: alternating]
            order: Ordering = "order" "ORDER",
            /// How networks bound their scales [default: tanh-output]
            scale_map: ScaleMap = "scale-map" "NAME",
            /// Use one network per coupling for scale and shift, where realnvp has two [default: two]
            one_network: bool = "one-network" "",
            /// Bins of a spline [default: 8]
            bins: usize = "bins" "K",
            /// Splines leave coordinates unchanged beyond this distance from 0; it should be five standard
            /// deviations of the base [default: 10]
            spline_bound: f64 = "spline-bound" "B",
            /// Initial standard deviation of the layers' parameters, or the initial size of the networks'
            /// output; smaller values are nearer to the identity [default: the target's, mostly 0.1]
            initial_scale: f64 = "initial-scale" "SD",
        }
        BASE {
            /// Where the base starts [default: normal]
            base: Start = "base" "NAME",
            /// Mean of the base, or where the ascent to a mode starts: one number, or one for each
            /// coordinate; for a bounded target in its unconstrained coordinates, the
            /// log or logit of the position [default: the target's]
            base_mean: Vec<f64> = "base-mean" "LIST",
            /// Standard deviation of the base, in the same coordinates: one number, or one for each
            /// coordinate [default: the target's]
            base_sd: Vec<f64> = "base-sd" "LIST",
            /// Covariance matrix of the base, row by row, in place of `base-sd`: 4,1,1,2 in two dimensions
            /// [default: none]
            base_matrix: Vec<f64> = "base-matrix" "LIST",
            /// Shape of the base's covariance, or of each of its components'; full starts from the diagonal,
            /// so it is useful with `train-base` [default: diagonal; always full for the laplace base]
            base_covariance: Covariance = "base-covariance" "NAME",
            /// Number of Gaussians that the base is a mixture of, with equal weights at the start; their
            /// means are drawn from the base's mean and standard deviation by the seed [default: 1]
            base_components: usize = "base-components" "K",
            /// Means of the base's components, one component after another: 0,1,5,6 for two of them in two
            /// dimensions [default: drawn]
            base_means: Vec<f64> = "base-means" "LIST",
            /// Train the base with the layers [default: the base is fixed]
            train_base: bool = "train-base" "",
        }
        ANNEALING {
            /// The rule that chooses the inverse temperatures [default: the target's, mostly adaann]
            schedule: Schedule = "schedule" "NAME",
            /// The densities between base and target [default: the target's, mostly power]
            path: PathKind = "path" "NAME",
            /// t_0, where annealing starts: above 0 and at most 1; 0 is allowed on the likelihood and bridge
            /// paths. auto finds it: where p^t is nearest to the initial flow, or 0 on the other paths
            /// [default: the target's]
            t0: First = "t0" "T",
            /// Steps that keep this share of the effective sample size: adaann (or guarded, if that is the
            /// target's) with tau = sqrt(-log share) from 0.9 on, ess below [default: none]
            step_ess: f64 = "step-ess" "SHARE",
            /// Tolerance of adaann and guarded: a step is worth a KL divergence of tau^2/2 [default: the
            /// target's]
            tau: f64 = "tau" "TAU",
            /// Step of the linear schedule [default: 0.0001]
            epsilon: f64 = "epsilon" "EPS",
            /// Number of steps of the exponential and logarithmic schedules [default: 1000]
            steps: usize = "steps" "K",
            /// The values of t of the list schedule, rising to 1 [default: 0.01,0.1,1]
            temperatures: Vec<f64> = "temperatures" "LIST",
            /// Share of the effective sample size that a step of the ess schedule keeps [default: 0.9]
            ess: f64 = "ess" "SHARE",
            /// Largest ratio of successive t of the guarded schedule [default: 2]
            max_ratio: f64 = "max-ratio" "RATIO",
            /// Smallest step of the guarded schedule [default: 0, no floor]
            min_epsilon: f64 = "min-epsilon" "EPS",
            /// Largest step of the guarded schedule [default: 1, no ceiling]
            max_epsilon: f64 = "max-epsilon" "EPS",
            /// Let outliers of log p count in full in the guarded schedule [default: they are clipped]
            no_robust: bool = "no-robust" "",
        }
        TRAINING {
            /// T_0: updates at t_0 [default: the target's]
            warmup: usize = "warmup" "T_0",
            /// T: updates at each t between t_0 and 1 [default: the target's]
            updates: usize = "updates" "T",
            /// T_1: updates at t = 1 [default: the target's]
            refine: usize = "refine" "T_1",
            /// N: points per update before t = 1, at least 2 [default: the target's]
            samples: usize = "samples" "N",
            /// N_1: points per update at t = 1, at least 2 [default: the target's]
            refine_samples: usize = "refine-samples" "N_1",
            /// M: draws from which a schedule chooses its step, at least 2 [default: the target's]
            variance_samples: usize = "variance-samples" "M",
            /// Train at each t below 1, `updates` at a time, until draws of the flow weighted by p_t/q have
            /// this share of effective draws; none for the fixed numbers of updates [default: none]
            stage_ess: Limit = "stage-ess" "SHARE",
            /// With `stage-ess`: updates after which t grows whatever the share; at t_0 at least `warmup`
            /// [default: 200]
            stage_most: usize = "stage-most" "COUNT",
        }
        OPTIMIZER {
            /// The optimizer [default: the target's, mostly adam]
            optimizer: Optimizer = "optimizer" "NAME",
            /// Momentum of sgd [default: 0]
            momentum: f64 = "momentum" "SHARE",
            /// Decay of adam's running mean of gradients [default: 0.9]
            beta1: f64 = "beta1" "SHARE",
            /// Decay of adam's running mean of squares [default: 0.999]
            beta2: f64 = "beta2" "SHARE",
            /// Decay of rmsprop's running mean of squares [default: 0.99]
            decay: f64 = "decay" "SHARE",
            /// Constant that adam and rmsprop add to the root before they divide [default: 1e-8]
            optimizer_epsilon: f64 = "optimizer-epsilon" "EPS",
            /// Gradient estimate that updates follow [default: total]
            gradient: Gradient = "gradient" "NAME",
            /// Learning rate [default: the target's]
            lr: f64 = "lr" "RATE",
            /// How the rate falls before t = 1: constant, step:EVERY:FACTOR, exponential:FACTOR,
            /// cosine:OVER or cosine:OVER:FLOOR, in updates from the first one [default: the target's]
            lr_rule: RateRule = "lr-rule" "RULE",
            /// Learning rate at t = 1 [default: the target's, mostly `lr`]
            refine_lr: f64 = "refine-lr" "RATE",
            /// How the rate falls at t = 1, in updates from the first one there [default: the target's]
            refine_lr_rule: RateRule = "refine-lr-rule" "RULE",
            /// Shorten gradients to this norm before t = 1; none for no limit [default: the target's, mostly
            /// none]
            clip: Limit = "clip" "NORM",
            /// Shorten gradients to this norm at t = 1; none for no limit [default: the target's, mostly
            /// none]
            refine_clip: Limit = "refine-clip" "NORM",
            /// Shorten the gradient of log p at single points to this many times its median before t = 1;
            /// none for no limit [default: the target's, mostly none]
            point_clip: Limit = "point-clip" "RATIO",
        }
        FORWARD_KL {
            /// Rounds of training on the flow's own draws, weighted by p/q, so that q covers p; the round
            /// with the largest effective sample size is kept [default: 0]
            forward_kl: usize = "forward-kl" "ROUNDS",
            /// Draws of a round, each an evaluation of the target [default: 10000]
            forward_kl_draws: usize = "forward-kl-draws" "S",
            /// Updates of a round [default: 200]
            forward_kl_updates: usize = "forward-kl-updates" "COUNT",
            /// Points per update, resampled from the draws [default: 500]
            forward_kl_batch: usize = "forward-kl-batch" "N",
            /// Divergence that training minimises [default: forward-kl]
            forward_kl_divergence: Divergence = "forward-kl-divergence" "NAME",
            /// Learning rate, which falls to 0 over the stage [default: 0.001]
            forward_kl_lr: f64 = "forward-kl-lr" "RATE",
        }
        OUTPUT {
            /// Seed of every random number: the same seed gives the same draws with any number of threads
            /// [default: the target's, mostly 1]
            seed: u64 = "seed" "SEED",
        }
    }
}

impl Overlay {
    /// The given settings that only Algorithm 1 uses: all but the base and the seed. A switch that is off
    /// does not count as given.
    pub fn of_adaann(&self) -> Vec<&'static str> {
        let own = Self::TABLE.iter().filter(|setting| !is_common(setting) && self.has(setting));
        own.map(|setting| setting.name).collect()
    }

    /// The given settings that every method uses: the base and the seed.
    #[must_use]
    pub fn common(&self) -> Self {
        let mut common = Self::default();
        let all = Self::TABLE.iter().filter(|setting| is_common(setting));
        all.for_each(|setting| (setting.inherit)(&mut common, self));
        common
    }

    /// Is it given, and not a switch that is off?
    fn has(&self, setting: &Setting<Self>) -> bool {
        let (mut own, mut off) = (Self::default(), Self::default());
        (setting.inherit)(&mut own, self);
        let is_off = setting.read(&mut off, Written::Switch(false)).is_ok() && own == off;
        setting.is_given(self) && !is_off
    }
}

/// Do methods without annealed flows use it as well?
fn is_common(setting: &Setting<Overlay>) -> bool {
    setting.name == "seed" || setting.heading == BASE && setting.name != "train-base"
}
