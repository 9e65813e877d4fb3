//! `adaann calibrate`: simulation-based calibration, by many fits of simulated data.

mod figures;
mod journal;
mod output;
mod progress;
mod summary;
pub(crate) mod trials;

use crate::{
    args::{CalibrateArgs, Cli, Command, FitArgs, patience_over},
    job::{MOST_THREADS, interrupt},
    text::{failure::usage, style::Style},
};
use adaann::{Error, Settings, answer, calibrate, model::Model, optim::RateRule, schedule::Work};
use anyhow::{Context, Result};
use clap::Parser;
use journal::Rows;
use progress::Progress;
use std::{
    ffi::OsString,
    io::{Write, stdout},
    path::PathBuf,
    process::ExitCode,
};
use summary::Summary;
use trials::Plan;

/// Maximum numbers of trials and of ranked draws; larger values are surely typing errors.
const MOST_TRIALS: usize = 100_000;
const MOST_RANKED: usize = 10_000;

/// Default number of updates at t = 1 in a trial: a third of that of a fit, since the weights correct the
/// remaining error.
const REFINE: usize = 1_000;

/// Runs the trials and reports the results.
pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<ExitCode> {
    check(args)?;
    let model = Model::read_with_data(&args.model, args.data.as_deref())?;
    model.check_replicable().map_err(|error| refusal(&error))?;
    let fit = trial_plan(args, &model)?;
    let name = args.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let out =
        args.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("{name}-calibrate")));
    interrupt::listen()?;
    let fingerprint = journal::fingerprint(&model, &fit, args.draws, args.seed);
    let rows = Rows::new(&calibrate::names(&model), args.draws, fingerprint);
    let _lock = journal::lock(&out)?;
    let mut journal = journal::open(&out, rows, args.force)?;
    let plan = Plan {
        model: &model,
        fit: &fit,
        draws: args.draws,
        seed: args.seed,
        trials: args.trials,
        threads: args.threads,
    };
    let progress = Progress::new(args.quiet || args.json);
    let entries = trials::run(&plan, &mut journal, progress)?;
    let asked = interrupt::asked();
    let Some(summary) = Summary::new(&name, &plan, &journal, &entries)? else {
        return nothing(&entries, asked);
    };
    output::write(&out, &summary, &entries, &fit)?;
    if args.json {
        stdout().write_all(summary.to_json().as_bytes())?;
    } else if !args.quiet {
        stdout().write_all(summary.closing(&out, Style::detect()).as_bytes())?;
    }
    Ok(ExitCode::from(if summary.stopped { interrupt::EXIT_CODE } else { 0 }))
}

/// Refuses counts that are out of range.
fn check(args: &CalibrateArgs) -> Result<()> {
    for (flag, count, least, most) in [
        ("-n", args.trials, 1, MOST_TRIALS),
        ("--draws", args.draws, 1, MOST_RANKED),
        ("--threads", args.threads, 0, MOST_THREADS),
    ] {
        if !(least..=most).contains(&count) {
            return Err(usage(format!("{flag} is {count}, but must be from {least} to {most}")));
        }
    }
    Ok(())
}

/// The error for a model that cannot be calibrated.
fn refusal(error: &Error) -> anyhow::Error {
    usage(format!("this model cannot be calibrated: {error}"))
}

/// The plan of every trial: fast defaults, overridden by the file's settings and the flags after `--`.
fn trial_plan(args: &CalibrateArgs, model: &Model) -> Result<answer::Plan> {
    let flags = flags_of_fit(args).settings;
    // A given number of updates has the learning rates of a fit of that length.
    let base = match flags.overlay.0.refine.or(model.given().fit.refine) {
        Some(_) => model.default_settings(),
        None => quick(model.default_settings()),
    };
    patience_over(&flags.output.0, model)?;
    flags.plan_over(model, &base)
}

/// The arguments of `adaann fit` from the flags after `--`.
fn flags_of_fit(args: &CalibrateArgs) -> Box<FitArgs> {
    let program = ["adaann".into(), "fit".into(), args.model.clone().into_os_string()];
    match Cli::try_parse_from(program.into_iter().chain(args.fit.iter().map(OsString::from))) {
        Ok(Cli { command: Command::Fit(fit) }) => fit,
        Ok(_) => unreachable!("this is `adaann fit`"),
        Err(error) => error.exit(),
    }
}

fn quick(settings: Settings) -> Settings {
    let refine = settings.work.refine.min(REFINE);
    let refine_lr_rule = match settings.refine_lr_rule {
        RateRule::Cosine { floor, .. } => RateRule::Cosine { over: refine, floor },
        rule => rule,
    };
    Settings { work: Work { refine, ..settings.work }, refine_lr_rule, ..settings }
}

/// The outcome if no trial succeeded.
fn nothing(entries: &[journal::Entry], asked: bool) -> Result<ExitCode> {
    match entries.iter().find_map(|entry| entry.outcome.as_ref().err()) {
        Some(first) if !asked => {
            let failed = entries.len();
            Err(anyhow::Error::msg(first.clone()))
                .with_context(|| format!("all {failed} trials failed; the first error"))
        }
        _ => {
            // Ignore a closed standard error.
            let _ = writeln!(std::io::stderr(), "stopped before the first trial was complete");
            Ok(ExitCode::from(interrupt::EXIT_CODE))
        }
    }
}
