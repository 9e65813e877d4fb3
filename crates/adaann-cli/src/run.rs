//! `adaann run`: train, look at what came out, write it down, say so.

use crate::{
    args::{DataArgs, RunArgs},
    csv,
    failure::usage,
    folder::{self, Folder},
    interrupt,
    progress::Progress,
    record::Record,
    report, settings,
    summary::{Seed, Sources, Summary},
    table::{self, Style},
    title::title,
    values::LAST_SEED,
};
use adaann::{
    Settings,
    fit::{Outcome, Restarts, Sample, restarts},
    path::PathKind,
    registry::{self, Choices, Data, Entry, Problem},
};
use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

/// Draws that this program takes; more is surely a slip.
const MOST_DRAWS: usize = 100_000_000;

/// Threads, and runs in one command; more is surely a slip.
pub(crate) const MOST_THREADS: usize = 1_024;
const MOST_SEEDS: usize = 10_000;

/// Runs a target.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let entry = registry::find(&args.target)?;
    let choices = choices(args, entry)?;
    let problem = entry.choose(&choices)?;
    let settings = settings::resolve(args, &problem.settings, &*problem.target)?;
    let record = record(args, entry, &choices, &settings)?;
    let out = args.output.out.clone().unwrap_or_else(|| default_folder(&record));
    interrupt::listen()?;
    folder::check(&out, args.output.force)?;
    if args.output.dry_run {
        stdout().write_all(record.to_toml()?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(args.output.threads)
        .build()
        .with_context(|| format!("cannot start {} threads", args.output.threads))?;
    let progress = Progress::new(args.output.quiet || args.output.json);
    pool.install(|| {
        let run = train(&record, &problem, &progress)?;
        write(&record, &problem, &run, &out)?.finish(args.output.force)?;
        if args.output.json {
            stdout().write_all(run.summary.to_json().as_bytes())?;
        } else if !args.output.quiet {
            let closing = table::closing(
                &title(&record, run.summary.seed),
                &run.summary,
                &out,
                Style::detect(),
            );
            stdout().write_all(closing.as_bytes())?;
        }
        let code = if run.summary.stopped { interrupt::EXIT_CODE } else { 0 };
        Ok(ExitCode::from(code))
    })
}

/// What is chosen of the target.
fn choices(args: &RunArgs, entry: &Entry) -> Result<Choices> {
    let DataArgs { data, data_seed, noise_variance } = &args.data;
    let data = match (data, data_seed) {
        (Some(_), Some(_)) => {
            return Err(usage("--data gives the data and --data-seed makes it; choose one"));
        }
        (Some(path), None) => {
            let text = csv::text(path, "measurements")?;
            Some(Data::Table(csv::table(&path.display().to_string(), &text)?))
        }
        (None, seed) => seed.map(Data::Seed),
    };
    let mut parameters = args.parameters.clone();
    if let Some(variance) = noise_variance {
        if !entry.takes_data() {
            let name = entry.name;
            return Err(usage(format!(
                "--noise-variance does not apply to {name}: it has no data"
            )));
        }
        parameters.push(("noise-variance".to_owned(), *variance));
    }
    Ok(Choices { parameters, preset: args.preset.clone(), data })
}

/// What is written down before the run.
fn record(args: &RunArgs, entry: &Entry, choices: &Choices, settings: &Settings) -> Result<Record> {
    let (draws, seeds) = (args.output.draws, args.output.seeds);
    for (flag, count, least, most) in [
        ("draws", draws, 2, MOST_DRAWS),
        ("seeds", seeds, 1, MOST_SEEDS),
        ("threads", args.output.threads, 0, MOST_THREADS),
    ] {
        if !(least..=most).contains(&count) {
            let range = format!("from {least} to {most}");
            return Err(usage(format!("--{flag} is {count}, but must be {range}")));
        }
    }
    if settings.seed.saturating_add(seeds as u64 - 1) > LAST_SEED {
        return Err(usage(format!(
            "--seed is {}, but must be at most {} for --seeds {seeds}",
            settings.seed,
            LAST_SEED - (seeds as u64 - 1)
        )));
    }
    let defaults = entry.parameters.iter().map(|p| (p.name.to_owned(), p.default));
    Ok(Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: args.target.clone(),
        draws,
        seeds,
        preset: choices.preset.clone().unwrap_or_else(|| entry.presets[0].to_owned()),
        data_seed: match choices.data {
            Some(Data::Seed(seed)) => Some(seed),
            Some(Data::Table(_)) => None,
            None => entry.takes_data().then_some(Data::DEFAULT_SEED),
        },
        data: args.data.data.clone(),
        parameters: defaults.chain(choices.parameters.iter().cloned()).collect(),
        settings: settings.clone(),
    })
}

fn default_folder(record: &Record) -> PathBuf {
    PathBuf::from("runs").join(format!("{}-{}", record.target, record.settings.seed))
}

/// A finished run: the best of its seeds.
struct Run {
    outcome: Outcome,
    sample: Sample,
    summary: Summary,
}

fn train(record: &Record, problem: &Problem, progress: &Progress) -> Result<Run> {
    let (settings, target) = (&record.settings, &*problem.target);
    let started = Instant::now();
    let Restarts { mut runs, failed } = restarts(target, settings, record.seeds, |seed| {
        let label = if record.seeds == 1 { String::new() } else { format!("seed {seed:<4} ") };
        progress.watch(&label, settings, target.dim())
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let draw = |outcome: &Outcome, seed| outcome.approximation(target)?.sample(record.draws, seed);
    let mut seeds = Vec::new();
    if runs.len() > 1 {
        for run in &runs {
            seeds.push(Seed::new(run, &problem.known, &draw(&run.outcome, run.seed)?));
        }
    }
    let best = runs.swap_remove(0);
    let sample = draw(&best.outcome, best.seed)?;
    let mut summary = Summary::new(Sources {
        target: &record.target,
        names: &target.names(),
        notes: target.notes(),
        known: &problem.known,
        seed: best.seed,
        outcome: &best.outcome,
        sample: &sample,
        seconds,
        seeds,
    });
    let failed = failed.iter().map(|(seed, error)| format!("seed {seed} came to no end: {error}"));
    summary.warnings.extend(failed);
    if record.data.is_some() && problem.known.mean.is_some() {
        summary.notes.push(
            "the true values are a quadrature over the mode near the parameters that data is made \
             from; other modes that your data may have are not in them"
                .to_owned(),
        );
    }
    if settings.path == PathKind::Power && !target.has_proper_prior() {
        summary.warnings.push(
            "the prior is flat, and a power p^t of such a posterior may have no integral; if the \
             fit goes astray at small t, use a target with a proper prior and --path likelihood"
                .to_owned(),
        );
    }
    Ok(Run { outcome: best.outcome, sample, summary })
}

/// Writes the run folder, all but its name.
fn write(record: &Record, problem: &Problem, run: &Run, out: &Path) -> Result<Folder> {
    let (target, outcome) = (&*problem.target, &run.outcome);
    let folder = Folder::create(out)?;
    folder.write(Record::FILE, record.to_toml()?)?;
    folder.write(Summary::FILE, run.summary.to_json())?;
    folder.write("draws.csv", csv::sample(&target.names(), &run.sample))?;
    folder.write("schedule.csv", csv::schedule(&outcome.steps))?;
    folder.write("trace.csv", csv::trace(&outcome.trace))?;
    if let Some(data) = &problem.data {
        folder.write(Record::DATA, csv::data(data))?;
    }
    outcome.flow.save(&folder.file("flow.safetensors"))?;
    if let Some(flow) = &outcome.flow_at_1 {
        flow.save(&folder.file("flow_at_1.safetensors"))?;
    }
    // From the files, as `adaann report` does it: what they lack no page can show.
    report::write(folder.place())?;
    Ok(folder)
}
