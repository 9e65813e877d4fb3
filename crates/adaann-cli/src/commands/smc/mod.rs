//! `adaann smc`: particles in place of a flow, along the same paths.

mod closing;
mod record;
mod settings;
mod summary;

use crate::{
    args::{SmcArgs, SmcOutputArgs},
    folder::{Folder, csv, record::Record, subject::Subject},
    job::{MOST_THREADS, interrupt, particles::Watch, progress::Progress},
    text::{failure::usage, style::Style},
};
use adaann::{
    Batch,
    schedule::Rule,
    smc::{self, Population},
};
use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use record::SmcRecord;
use std::{
    io::{Write, stdout},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};
use summary::SmcSummary;

/// Runs particles, and writes their folder.
pub(crate) fn smc(args: &SmcArgs) -> Result<ExitCode> {
    let SmcOutputArgs { threads, out, force, quiet, json, .. } = &args.output;
    if *threads > MOST_THREADS {
        let range = format!("from 0 to {MOST_THREADS}");
        return Err(usage(format!("--threads is {threads}, but must be {range}")));
    }
    let (subject, record) = settings::resolve(args)?;
    let out = out.clone().unwrap_or_else(|| {
        PathBuf::from("runs").join(format!("{}-smc-{}", record.target, record.settings.seed))
    });
    interrupt::listen()?;
    let folder = Folder::reserve(&out, *force)?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(*threads)
        .build()
        .with_context(|| format!("cannot start {threads} threads"))?;
    let progress = Progress::new(*quiet || *json);
    pool.install(|| {
        let run = Run::new(&subject, &record, &progress)?;
        run.write(&subject, &record, &folder)?;
        folder.finish()?;
        if *json {
            stdout().write_all(run.summary.to_json().as_bytes())?;
        } else if !quiet {
            let text = closing::text(&record, &run.summary, &out, Style::detect());
            stdout().write_all(text.as_bytes())?;
        }
        Ok(ExitCode::from(if run.summary.stopped { interrupt::EXIT_CODE } else { 0 }))
    })
}

/// Particles that have arrived, or were stopped on their way.
struct Run {
    population: Population,
    quantities: Option<Batch>,
    summary: SmcSummary,
}

impl Run {
    fn new(subject: &Subject, record: &SmcRecord, progress: &Progress) -> Result<Self> {
        let settings = &record.settings;
        let watch = Watch::new(progress, "particles", settings.schedule.first());
        let mut watch = watch.of_islands(settings.islands);
        let started = Instant::now();
        let population = smc::smc(&*subject.problem.target, settings, &mut watch)?;
        let seconds = started.elapsed().as_secs_f64();
        drop(watch);
        let quantities = subject.quantities(&population.points)?;
        let summary = SmcSummary::new(subject, record, &population, quantities.as_ref(), seconds)?;
        Ok(Self { population, quantities, summary })
    }

    /// Writes the run folder, all but its name.
    fn write(&self, subject: &Subject, record: &SmcRecord, folder: &Folder) -> Result<()> {
        folder.write(Record::FILE, record.to_toml()?)?;
        let (population, quantities) = (&self.population, self.quantities.as_ref());
        let known: [(&str, &[f64]); 2] =
            [("log_p", &population.log_p), ("weight", &population.weights)];
        folder.write_with("draws.csv", |file| {
            csv::draws(file, &subject.columns(), &population.points, quantities, &known)
        })?;
        folder.write(crate::folder::summary::Summary::FILE, self.summary.to_json())?;
        folder.write("stages.csv", csv::stages(&population.stages))?;
        subject.write(folder)
    }
}
