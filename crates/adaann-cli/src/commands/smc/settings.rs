//! Turns the arguments of `adaann smc` into a subject and a record.

use crate::commands::smc::record::SmcRecord;
use crate::{
    args::{ParticleArgs, SmcArgs, patience_over},
    commands::run,
    folder::subject::Subject,
    text::failure::usage,
};
use adaann::{
    Settings as FitSettings,
    fit::overlay::First,
    flow::Start,
    model::{Model, Output},
    path::PathKind,
    registry,
    smc::Settings,
    target::Unconstrained,
};
use anyhow::Result;
use std::{collections::BTreeMap, path::Path};

/// The subject and the checked settings.
pub(super) fn resolve(args: &SmcArgs) -> Result<(Subject, SmcRecord)> {
    let path = Path::new(&args.subject);
    let is_file = path.extension().is_some_and(|extension| extension == "toml") || path.is_file();
    let (subject, fit, mut record) = if is_file { of_model(args, path)? } else { of_target(args)? };
    record.settings = settings(args, &fit, &subject)?;
    record.no_state = args.output.no_state;
    Ok((subject, record))
}

pub(crate) fn record(target: String) -> SmcRecord {
    SmcRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        method: SmcRecord::METHOD.to_owned(),
        target,
        model: None,
        preset: String::new(),
        data_seed: None,
        data: None,
        no_state: false,
        asked_particles: None,
        parameters: BTreeMap::new(),
        settings: Settings::default(),
    }
}

fn of_model(args: &SmcArgs, path: &Path) -> Result<(Subject, FitSettings, SmcRecord)> {
    for (flag, given) in [
        ("param", !args.parameters.is_empty()),
        ("preset", args.preset.is_some()),
        ("data-seed", args.data.data_seed.is_some()),
        ("noise-variance", args.data.noise_variance.is_some()),
    ] {
        if given {
            let of = "it is for named targets";
            return Err(usage(format!("--{flag} does not apply to a model file; {of}")));
        }
    }
    let model = Model::read_with_data(path, args.data.data.as_deref())?;
    patience_over(&patience(args)?, &model)?;
    let mut fit = model.settings();
    let target = model.target();
    // Powers of a posterior with flat priors may have no integral, so that particles cannot follow them.
    if model.given().fit.path.is_none() && target.has_prior() && !target.has_proper_prior() {
        fit.path = PathKind::Bridge;
    }
    let subject = Subject::of_model(model);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let data = args.data.data.clone();
    Ok((subject, fit, SmcRecord { model: Some(path.to_owned()), data, ..record(name) }))
}

/// The checked settings of the external program.
fn patience(args: &SmcArgs) -> Result<Output> {
    let patience = args.output.patience();
    patience.check(0)?;
    Ok(patience)
}

fn of_target(args: &SmcArgs) -> Result<(Subject, FitSettings, SmcRecord)> {
    patience(args)?.refuse_program("target")?;
    let entry = registry::find(&args.subject)?;
    let choices = run::choices(entry, &args.data, &args.parameters, args.preset.clone())?;
    let subject = Subject::of_density(entry, &choices)?;
    let record = SmcRecord {
        preset: run::preset(entry, &choices),
        data_seed: run::data_seed(entry, &choices),
        data: args.data.data.clone(),
        parameters: run::parameters(entry, &choices),
        ..record(args.subject.clone())
    };
    let fit = subject.problem.settings.clone();
    Ok((subject, fit, record))
}

fn set<T>(setting: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *setting = value;
    }
}

/// The settings: flags override those of a fit.
pub(crate) fn settings(args: &SmcArgs, fit: &FitSettings, subject: &Subject) -> Result<Settings> {
    let target = &*subject.problem.target;
    let annealing = &args.annealing.0;
    let path: PathKind = annealing.path.unwrap_or(fit.path);
    if annealing.t0 == Some(First::Auto) {
        return Err(usage(
            "--t0 is auto, but must be a number: `adaann smc` chooses the values of t below t_0 itself",
        ));
    }
    let preset = FitSettings { path, ..fit.clone() }.particles();
    let mut settings = Settings { schedule: annealing.schedule(&preset.schedule, path)?, ..preset };
    let ParticleArgs { particles, islands, moves, no_jumps, freshness, .. } = args.particles;
    let ParticleArgs { most_sweeps, kept_sweeps, resample_below, .. } = args.particles;
    let ParticleArgs { ref base_mean, ref base_sd, .. } = args.particles;
    set(&mut settings.particles, particles);
    set(&mut settings.islands, islands);
    set(&mut settings.moves, moves);
    settings.jumps &= !no_jumps;
    set(&mut settings.freshness, freshness);
    set(&mut settings.most_sweeps, most_sweeps);
    set(&mut settings.kept_sweeps, kept_sweeps);
    set(&mut settings.resample_below, resample_below);
    set(&mut settings.seed, args.output.seed);
    set(&mut settings.base.mean, base_mean.as_ref().map(|list| list.0.clone()));
    if let Some(sd) = base_sd {
        settings.base.sd = sd.0.clone();
        settings.base.matrix.clear();
    }
    settings.check(target)?;
    if settings.base.start == Start::Normal {
        // The run checks this too, but only after the output folder was checked.
        settings.base.resolve(&Unconstrained::new(target)?, settings.seed)?;
    }
    Ok(settings)
}
