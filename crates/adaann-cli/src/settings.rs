//! Flags over the target's own settings.
//!
//! A flag that the chosen flow, schedule or optimizer does not look at is refused: whoever writes
//! it believes that it matters.

use crate::{
    args::{BaseArgs, FlowArgs, OptimizerArgs, RunArgs, ScheduleArgs, TrainingArgs},
    failure::usage,
};
use adaann::{
    Settings,
    fit::{BaseSpec, Start},
    flow::{Covariance, FlowSpec, Precision, planar::Activation},
    optim::Optimizer,
    path::PathKind,
    schedule::{Rule, Schedule, Work},
    target::{Target, Unconstrained},
};
use anyhow::Result;

/// The settings of a run, checked.
pub(crate) fn resolve(args: &RunArgs, preset: &Settings, target: &dyn Target) -> Result<Settings> {
    let mut settings = Settings {
        flow: flow(&args.flow, &preset.flow)?,
        base: base(&args.base, &preset.base)?,
        path: path(&args.schedule, preset.path),
        schedule: schedule(&args.schedule, &preset.schedule)?,
        work: work(&args.training, preset.work),
        optimizer: optimizer(&args.optimizer, preset.optimizer)?,
        ..preset.clone()
    };
    set(&mut settings.initial_scale, args.flow.initial_scale);
    set(&mut settings.samples, args.training.samples);
    set(&mut settings.refine_samples, args.training.refine_samples);
    set(&mut settings.variance_samples, args.training.variance_samples);
    set(&mut settings.lr, args.optimizer.lr);
    set(&mut settings.lr_rule, args.optimizer.lr_rule);
    set(&mut settings.refine_lr_rule, args.optimizer.refine_lr_rule);
    set(&mut settings.clip, args.optimizer.clip.map(|clip| clip.0));
    set(&mut settings.seed, args.output.seed);
    settings.check(target)?;
    if settings.base.start == Start::Normal {
        // The fit would say so as well, but only after the output folder was looked at. A Laplace
        // start is left to it: finding a mode takes time.
        settings.base.resolve(&Unconstrained::new(target)?)?;
    }
    Ok(settings)
}

fn set<T>(setting: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *setting = value;
    }
}

/// A flag, whether it was given, and who looks at it.
type Flag = (&'static str, bool, &'static [&'static str]);

/// Refuses flags that were given to something else than `chosen`.
fn refuse_strangers(kind: &str, chosen: &str, flags: &[Flag]) -> Result<()> {
    match flags.iter().find(|(_, given, owners)| *given && !owners.contains(&chosen)) {
        None => Ok(()),
        Some((flag, _, owners)) => Err(usage(format!(
            "--{flag} does not apply to the {chosen} {kind}; it belongs to {}",
            owners.join(", ")
        ))),
    }
}

fn flow(args: &FlowArgs, preset: &FlowSpec) -> Result<FlowSpec> {
    let name = args.flow.as_deref().unwrap_or(preset.name());
    refuse_strangers(
        "flow",
        name,
        &[
            ("activation", args.activation.is_some(), &["planar"]),
            ("precision", args.precision.is_some(), &["planar"]),
        ],
    )?;
    let (mut layers, mut activation, mut precision) = match *preset {
        FlowSpec::Planar { layers, activation, precision } => (layers, activation, precision),
        FlowSpec::Radial { layers } => (layers, Activation::default(), Precision::default()),
    };
    set(&mut layers, args.layers);
    match args.activation.as_deref() {
        Some("algebraic") => activation = Activation::Algebraic,
        Some(_) => activation = Activation::Tanh,
        None => {}
    }
    match args.precision.as_deref() {
        Some("f32") => precision = Precision::Single,
        Some(_) => precision = Precision::Double,
        None => {}
    }
    Ok(match name {
        "radial" => FlowSpec::Radial { layers },
        _ => FlowSpec::Planar { layers, activation, precision },
    })
}

fn base(args: &BaseArgs, preset: &BaseSpec) -> Result<BaseSpec> {
    let mut base = preset.clone();
    match args.base.as_deref() {
        Some("laplace") => base.start = Start::Laplace,
        Some(_) => base.start = Start::Normal,
        None => {}
    }
    let start = if base.start == Start::Laplace { "laplace" } else { "normal" };
    refuse_strangers("base", start, &[("base-sd", args.base_sd.is_some(), &["normal"])])?;
    set(&mut base.mean, args.base_mean.clone());
    set(&mut base.sd, args.base_sd.clone());
    match args.base_covariance.as_deref() {
        Some("full") => base.covariance = Covariance::Full,
        Some(_) => base.covariance = Covariance::Diagonal,
        None => {}
    }
    base.trained |= args.train_base;
    Ok(base)
}

fn path(args: &ScheduleArgs, preset: PathKind) -> PathKind {
    match args.path.as_deref() {
        Some("likelihood") => PathKind::Likelihood,
        Some("bridge") => PathKind::Bridge,
        Some(_) => PathKind::Power,
        None => preset,
    }
}

fn schedule(args: &ScheduleArgs, preset: &Schedule) -> Result<Schedule> {
    let mut schedule = match args.schedule.as_deref() {
        Some(name) if name != preset.name() => Schedule::named(name)?,
        _ => preset.clone(),
    };
    const WITH_T0: &[&str] = &["linear", "exponential", "logarithmic", "adaann", "guarded", "ess"];
    refuse_strangers(
        "schedule",
        schedule.name(),
        &[
            ("t0", args.t0.is_some(), WITH_T0),
            ("tau", args.tau.is_some(), &["adaann", "guarded"]),
            ("epsilon", args.epsilon.is_some(), &["linear"]),
            ("steps", args.steps.is_some(), &["exponential", "logarithmic"]),
            ("temperatures", args.temperatures.is_some(), &["list"]),
            ("ess", args.ess.is_some(), &["ess"]),
            ("max-ratio", args.max_ratio.is_some(), &["guarded"]),
            ("min-epsilon", args.min_epsilon.is_some(), &["guarded"]),
            ("max-epsilon", args.max_epsilon.is_some(), &["guarded"]),
            ("no-robust", args.no_robust, &["guarded"]),
        ],
    )?;
    // Another rule for the same target starts where the target's own does.
    let (preset_t0, preset_tau) = match *preset {
        Schedule::None | Schedule::List(_) => (None, None),
        Schedule::AdaAnn { t0, tau } | Schedule::Guarded { t0, tau, .. } => (Some(t0), Some(tau)),
        _ => (Some(preset.first()), None),
    };
    let (asked_t0, asked_tau) = (args.t0.or(preset_t0), args.tau.or(preset_tau));
    match &mut schedule {
        Schedule::None => {}
        Schedule::List(values) => set(values, args.temperatures.clone()),
        Schedule::Linear { t0, epsilon } => {
            set(t0, asked_t0);
            set(epsilon, args.epsilon);
        }
        Schedule::Exponential { t0, steps } | Schedule::Logarithmic { t0, steps } => {
            set(t0, asked_t0);
            set(steps, args.steps);
        }
        Schedule::AdaAnn { t0, tau } => {
            set(t0, asked_t0);
            set(tau, asked_tau);
        }
        Schedule::Guarded { t0, tau, max_ratio, min_epsilon, max_epsilon, robust } => {
            set(t0, asked_t0);
            set(tau, asked_tau);
            set(max_ratio, args.max_ratio);
            set(min_epsilon, args.min_epsilon);
            set(max_epsilon, args.max_epsilon);
            *robust &= !args.no_robust;
        }
        Schedule::EssBisection { t0, ess } => {
            set(t0, asked_t0);
            set(ess, args.ess);
        }
    }
    Ok(schedule)
}

fn work(args: &TrainingArgs, preset: Work) -> Work {
    Work {
        warmup: args.warmup.unwrap_or(preset.warmup),
        anneal: args.updates.unwrap_or(preset.anneal),
        refine: args.refine.unwrap_or(preset.refine),
    }
}

fn optimizer(args: &OptimizerArgs, preset: Optimizer) -> Result<Optimizer> {
    let mut optimizer = match args.optimizer.as_deref() {
        Some(name) if name != preset.name() => Optimizer::named(name)?,
        _ => preset,
    };
    refuse_strangers(
        "optimizer",
        optimizer.name(),
        &[
            ("momentum", args.momentum.is_some(), &["sgd"]),
            ("beta1", args.beta1.is_some(), &["adam"]),
            ("beta2", args.beta2.is_some(), &["adam"]),
            ("decay", args.decay.is_some(), &["rmsprop"]),
            ("optimizer-epsilon", args.optimizer_epsilon.is_some(), &["adam", "rmsprop"]),
        ],
    )?;
    match &mut optimizer {
        Optimizer::Sgd(sgd) => set(&mut sgd.momentum, args.momentum),
        Optimizer::RmsProp(rmsprop) => {
            set(&mut rmsprop.decay, args.decay);
            set(&mut rmsprop.epsilon, args.optimizer_epsilon);
        }
        Optimizer::Adam(adam) => {
            set(&mut adam.beta1, args.beta1);
            set(&mut adam.beta2, args.beta2);
            set(&mut adam.epsilon, args.optimizer_epsilon);
        }
    }
    Ok(optimizer)
}
