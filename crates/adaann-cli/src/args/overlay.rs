//! Flags over the target's own settings.
//!
//! A flag that the chosen flow, schedule or optimizer does not look at is refused: whoever writes
//! it believes that it matters.

use crate::{
    args::{
        BaseArgs, ForwardKlArgs, OptimizerArgs, PilotArgs, ScheduleArgs, SettingArgs, TrainingArgs,
        flow::flow,
        values::{First, List},
    },
    text::failure::usage,
};
use adaann::{
    Error, Settings,
    fit::{ForwardKl, Pilot, Stage},
    flow::{BaseSpec, Covariance, Start},
    optim::Optimizer,
    path::PathKind,
    schedule::{
        AdaAnn, EssBisection, Exponential, Guarded, Linear, Logarithmic, Rule, Schedule, Work,
    },
    target::{Target, Unconstrained},
};
use anyhow::Result;

/// The settings of a run, checked.
pub(crate) fn resolve(
    args: &SettingArgs,
    preset: &Settings,
    target: &dyn Target,
) -> Result<Settings> {
    let path = args.schedule.path.unwrap_or(preset.path);
    let automatic = args.pilot.auto.then(|| Settings { path, ..preset.clone() }.automatic());
    let preset = automatic.as_ref().unwrap_or(preset);
    let flow = flow(&args.flow, &preset.flow)?;
    let is_another = flow.label() != preset.flow.label();
    let preset = Settings { work: work(&args.training, preset.work), ..preset.clone() };
    let preset = if is_another { preset.with_flow(flow) } else { Settings { flow, ..preset } };
    let mut settings = Settings {
        base: base(&args.base, &preset.base)?,
        path,
        schedule: schedule(&args.schedule, &preset.schedule, path)?,
        optimizer: optimizer(&args.optimizer, preset.optimizer)?,
        stage: stage(&args.training, preset.stage)?,
        forward_kl: forward_kl(&args.forward_kl, preset.forward_kl)?,
        pilot: pilot(&args.pilot, preset.pilot)?,
        ..preset
    };
    set(&mut settings.auto_t0, args.schedule.t0.map(|first| first == First::Auto));
    set(&mut settings.gradient, args.optimizer.gradient);
    set(&mut settings.initial_scale, args.flow.initial_scale);
    set(&mut settings.samples, args.training.samples);
    set(&mut settings.refine_samples, args.training.refine_samples);
    set(&mut settings.variance_samples, args.training.variance_samples);
    set(&mut settings.lr, args.optimizer.lr);
    if args.optimizer.refine_lr.is_some() {
        settings.refine_lr = args.optimizer.refine_lr;
    }
    set(&mut settings.lr_rule, args.optimizer.lr_rule);
    set(&mut settings.refine_lr_rule, args.optimizer.refine_lr_rule);
    set(&mut settings.clip, args.optimizer.clip.map(|clip| clip.0));
    set(&mut settings.refine_clip, args.optimizer.refine_clip.map(|clip| clip.0));
    set(&mut settings.point_clip, args.optimizer.point_clip.map(|clip| clip.0));
    set(&mut settings.seed, args.output.seed);
    settings.check(target)?;
    if settings.base.start == Start::Normal {
        // The fit would say so as well, but only after the output folder was looked at. A Laplace
        // start is left to it: finding a mode takes time.
        settings.base.resolve(&Unconstrained::new(target)?, settings.seed)?;
    }
    Ok(settings)
}

pub(crate) fn set<T>(setting: &mut T, flag: Option<T>) {
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

fn base(args: &BaseArgs, preset: &BaseSpec) -> Result<BaseSpec> {
    let mut base = preset.clone();
    set(&mut base.start, args.base);
    set(&mut base.mean, numbers(&args.base_mean));
    set(&mut base.sd, numbers(&args.base_sd));
    set(&mut base.covariance, args.base_covariance);
    set(&mut base.components, args.base_components);
    set(&mut base.means, numbers(&args.base_means));
    base.trained |= args.train_base;
    if args.base_sd.is_some() {
        base.matrix.clear();
    }
    set(&mut base.matrix, numbers(&args.base_matrix));
    if args.base_sd.is_some() && args.base_matrix.is_some() {
        return Err(usage("--base-matrix and --base-sd both say how wide the base is; give one"));
    }
    match base.start {
        Start::Normal if base.matrix.is_empty() => {}
        Start::Normal => {
            if args.base_covariance == Some(Covariance::Diagonal) {
                return Err(usage(
                    "--base-covariance is diagonal, but must be full for --base-matrix",
                ));
            }
            base.covariance = Covariance::Full;
        }
        Start::Laplace => {
            let normal = &["normal"][..];
            let base_sd = ("base-sd", args.base_sd.is_some(), normal);
            let base_matrix = ("base-matrix", args.base_matrix.is_some(), normal);
            refuse_strangers("base", "laplace", &[base_sd, base_matrix])?;
            if args.base_covariance == Some(Covariance::Diagonal) {
                return Err(usage(
                    "--base-covariance is diagonal, but must be full for the laplace base, which \
                     takes the curvature at the mode",
                ));
            }
            // What it is anyway; the record should say so.
            base.covariance = Covariance::Full;
        }
    }
    Ok(base)
}

fn numbers(list: &Option<List>) -> Option<Vec<f64>> {
    list.as_ref().map(|list| list.0.clone())
}

/// The rule for the temperatures: flags over that of the target.
pub(crate) fn schedule(args: &ScheduleArgs, preset: &Schedule, path: PathKind) -> Result<Schedule> {
    let mut schedule = match &args.schedule {
        Some(asked) if asked.name() != preset.name() => asked.clone(),
        _ => preset.clone(),
    };
    let step = match args.step_ess {
        Some(share) => Some(step_rule(args, &schedule, share)?),
        None => None,
    };
    let has_step = step.is_some();
    if let Some(step) = step {
        schedule = step;
    }
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
        Schedule::AdaAnn(AdaAnn { t0, tau }) | Schedule::Guarded(Guarded { t0, tau, .. }) => {
            (Some(t0), Some(tau))
        }
        _ => (Some(preset.first()), None),
    };
    let asked_tau = if has_step { None } else { args.tau.or(preset_tau) };
    match &mut schedule {
        Schedule::None => {}
        Schedule::List(list) => set(&mut list.0, numbers(&args.temperatures)),
        Schedule::Linear(Linear { epsilon, .. }) => set(epsilon, args.epsilon),
        Schedule::Exponential(Exponential { steps, .. })
        | Schedule::Logarithmic(Logarithmic { steps, .. }) => {
            set(steps, args.steps);
        }
        Schedule::AdaAnn(AdaAnn { tau, .. }) => set(tau, asked_tau),
        Schedule::Guarded(Guarded { tau, max_ratio, min_epsilon, max_epsilon, robust, .. }) => {
            set(tau, asked_tau);
            set(max_ratio, args.max_ratio);
            set(min_epsilon, args.min_epsilon);
            set(max_epsilon, args.max_epsilon);
            *robust &= !args.no_robust;
        }
        Schedule::EssBisection(EssBisection { ess, .. }) => set(ess, args.ess),
    }
    let given_t0 = args.t0.and_then(First::number);
    if let Some(t0) = given_t0.or(preset_t0) {
        schedule.set_first(t0);
    }
    let bad_t0 = |error| matches!(error, Error::Setting { setting: "t0", .. });
    if given_t0.is_none() && schedule.check(path.allows_zero()).is_err_and(bad_t0) {
        // The target's own rule and path start at 0, and these cannot.
        let own = Schedule::named(schedule.name())?;
        schedule.set_first(own.first());
    }
    Ok(schedule)
}

/// The rule whose steps keep a share of the sample: the target's own guards stay.
fn step_rule(args: &ScheduleArgs, preset: &Schedule, share: f64) -> Result<Schedule> {
    let others = [
        ("schedule", args.schedule.is_some()),
        ("tau", args.tau.is_some()),
        ("ess", args.ess.is_some()),
    ];
    if let Some((flag, _)) = others.iter().find(|(_, given)| *given) {
        return Err(usage(format!(
            "--step-ess and --{flag} both say how long a step is; give one"
        )));
    }
    let first = Schedule::default().first();
    Ok(match (preset.clone(), Schedule::for_step_ess(first, share)?) {
        (Schedule::Guarded(guards), Schedule::AdaAnn(AdaAnn { tau, .. })) => {
            Guarded { tau, ..guards }.into()
        }
        (_, rule) => rule,
    })
}

fn work(args: &TrainingArgs, preset: Work) -> Work {
    Work {
        warmup: args.warmup.unwrap_or(preset.warmup),
        anneal: args.updates.unwrap_or(preset.anneal),
        refine: args.refine.unwrap_or(preset.refine),
    }
}

fn stage(args: &TrainingArgs, preset: Option<Stage>) -> Result<Option<Stage>> {
    let stage = match args.stage_ess {
        None => preset,
        Some(share) => share.0.map(|ess| Stage { ess, ..preset.unwrap_or_default() }),
    };
    match (stage, args.stage_most) {
        (None, Some(_)) => Err(usage("--stage-most belongs to --stage-ess, which is not given")),
        (Some(stage), Some(most_updates)) => Ok(Some(Stage { most_updates, ..stage })),
        (stage, None) => Ok(stage),
    }
}

fn forward_kl(args: &ForwardKlArgs, preset: Option<ForwardKl>) -> Result<Option<ForwardKl>> {
    let mut forward_kl = match args.forward_kl {
        None => preset,
        Some(0) => None,
        Some(rounds) => Some(ForwardKl { rounds, ..preset.unwrap_or_default() }),
    };
    let Some(forward_kl) = &mut forward_kl else {
        let others = [
            ("forward-kl-draws", args.forward_kl_draws.is_some()),
            ("forward-kl-updates", args.forward_kl_updates.is_some()),
            ("forward-kl-batch", args.forward_kl_batch.is_some()),
            ("forward-kl-divergence", args.forward_kl_divergence.is_some()),
            ("forward-kl-lr", args.forward_kl_lr.is_some()),
        ];
        return match others.iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((flag, _)) => {
                Err(usage(format!("--{flag} belongs to --forward-kl, whose rounds are not given")))
            }
        };
    };
    set(&mut forward_kl.draws, args.forward_kl_draws);
    set(&mut forward_kl.updates, args.forward_kl_updates);
    set(&mut forward_kl.batch, args.forward_kl_batch);
    set(&mut forward_kl.divergence, args.forward_kl_divergence);
    set(&mut forward_kl.lr, args.forward_kl_lr);
    Ok(Some(*forward_kl))
}

fn pilot(args: &PilotArgs, preset: Option<Pilot>) -> Result<Option<Pilot>> {
    let mut pilot = match args.pilot {
        None => preset,
        Some(0) => None,
        Some(particles) => Some(Pilot { particles, ..preset.unwrap_or_default() }),
    };
    let Some(pilot) = &mut pilot else {
        let others = [
            ("pilot-rounds", args.pilot_rounds.is_some()),
            ("pilot-draws", args.pilot_draws.is_some()),
            ("pilot-enough", args.pilot_enough.is_some()),
        ];
        return match others.iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((flag, _)) => {
                Err(usage(format!("--{flag} belongs to --auto or --pilot, which are not given")))
            }
        };
    };
    set(&mut pilot.rounds, args.pilot_rounds);
    set(&mut pilot.draws, args.pilot_draws);
    set(&mut pilot.enough, args.pilot_enough);
    Ok(Some(*pilot))
}

fn optimizer(args: &OptimizerArgs, preset: Optimizer) -> Result<Optimizer> {
    let mut optimizer = match args.optimizer {
        Some(asked) if asked.name() != preset.name() => asked,
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
