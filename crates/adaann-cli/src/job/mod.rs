//! From settings to a finished run folder: train, look at what came out, write it down, say so.

pub(crate) mod examine;
pub(crate) mod interrupt;
pub(crate) mod pace;
pub(crate) mod particles;
pub(crate) mod progress;

use crate::{
    args::OutputArgs,
    folder::{
        self, Folder, csv,
        drawn::Whose,
        page,
        record::Record,
        subject::Subject,
        summary::{Seed, Sources, Summary, predictive},
        words::{table, title::title, verdict},
    },
    job::{examine::Examined, progress::Progress},
    text::style::Style,
};
use adaann::{
    Batch, Settings,
    diagnostics::Trust,
    fit::{Outcome, PilotRecord, Restarts, restarts},
    importance::Sample,
    model::Output,
    path::PathKind,
    schedule::Rule,
};
use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

/// Draws that this program takes, and threads that it starts; more is surely a slip.
pub(crate) const MOST_DRAWS: usize = Output::MOST_DRAWS;
pub(crate) const MOST_THREADS: usize = Output::MOST_THREADS;

/// A run to be done.
pub(crate) struct Job {
    pub(crate) record: Record,
    pub(crate) subject: Subject,
}

impl Job {
    /// Does it.
    pub(crate) fn carry_out(&self, output: &OutputArgs) -> Result<ExitCode> {
        let out = output.out.clone().unwrap_or_else(|| self.default_folder());
        interrupt::listen()?;
        folder::check(&out, output.force)?;
        if output.dry_run {
            stdout().write_all(self.record.to_toml()?.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(output.threads)
            .build()
            .with_context(|| format!("cannot start {} threads", output.threads))?;
        let progress = Progress::new(output.quiet || output.json);
        pool.install(|| {
            let run = self.train(&progress)?;
            self.write(&run, &out)?.finish(output.force)?;
            if output.json {
                stdout().write_all(run.summary.to_json().as_bytes())?;
            } else if !output.quiet {
                let title = title(&self.record, run.summary.seed);
                let closing = table::closing(&title, &run.summary, &out, Style::detect());
                stdout().write_all(closing.as_bytes())?;
            }
            let reliable = run.summary.verdict.trust == Trust::Reliable;
            Ok(ExitCode::from(match (interrupt::asked(), self.record.strict && !reliable) {
                (true, _) => interrupt::EXIT_CODE,
                (false, true) => verdict::EXIT_CODE,
                (false, false) => 0,
            }))
        })
    }

    fn default_folder(&self) -> PathBuf {
        let Record { target, settings, .. } = &self.record;
        PathBuf::from("runs").join(format!("{target}-{}", settings.seed))
    }

    fn train(&self, progress: &Progress) -> Result<Run> {
        let Self { record, subject } = self;
        let (settings, problem) = (&record.settings, &subject.problem);
        let target = &*problem.target;
        let started = Instant::now();
        let Restarts { mut runs, failed } = restarts(target, settings, record.seeds, |seed| {
            let label = if record.seeds == 1 { String::new() } else { format!("seed {seed:<4} ") };
            progress.watch(&label, settings, target.dim())
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let draw =
            |outcome: &Outcome, seed| outcome.approximation(target)?.sample(record.draws, seed);
        let mut seeds = Vec::new();
        if runs.len() > 1 {
            for run in &runs {
                seeds.push(Seed::new(run, &problem.known, &draw(&run.outcome, run.seed)?));
            }
        }
        let best = runs.swap_remove(0);
        let sample = draw(&best.outcome, best.seed)?;
        let quantities = subject.quantities(sample.x())?;
        let examined = self.examine(&best.outcome, best.seed, &sample, progress)?;
        let mut summary = Summary::new(Sources {
            target: &record.target,
            names: &subject.columns(),
            notes: target.notes(),
            known: &problem.known,
            seed: best.seed,
            outcome: &best.outcome,
            sample: &sample,
            examination: examined.examination.as_ref(),
            verdict: examined.verdict,
            quantities: quantities.as_ref(),
            seconds,
            seeds,
        });
        if let Some(model) = subject.model.as_ref().filter(|_| !summary.stopped) {
            summary.predictive_checks = predictive::checks(model, &sample, best.seed)?;
            summary.warnings.extend(predictive::warnings(&summary.predictive_checks));
        }
        let failed = failed.iter();
        let failed = failed.map(|(seed, error)| format!("seed {seed} came to no end: {error}"));
        summary.warnings.extend(failed);
        summary.notes.extend(best.outcome.pilot.as_ref().map(pilot));
        if record.data.is_some() && problem.known.mean.is_some() {
            summary.notes.push(
                "the true values are a quadrature over the mode near the parameters that data is \
                 made from; other modes that your data may have are not in them"
                    .to_owned(),
            );
        }
        if settings.path == PathKind::Power && target.has_prior() && !target.has_proper_prior() {
            summary.warnings.push(
                "the prior is flat, and a power p^t of such a posterior may have no integral; if \
                 the fit goes astray at small t, use a proper prior and --path likelihood"
                    .to_owned(),
            );
        }
        Ok(Run { outcome: best.outcome, sample, quantities, summary })
    }

    /// Weights the draws, and judges the run.
    fn examine(
        &self,
        outcome: &Outcome,
        seed: u64,
        sample: &Sample,
        progress: &Progress,
    ) -> Result<Examined> {
        let settings = Settings { seed, ..self.record.settings.clone() };
        let approximation = outcome.approximation(&*self.subject.problem.target)?;
        let first = settings.particles().schedule.first();
        let mut watch = particles::Watch::new(progress, "check by independent particles", first);
        let particles = self.record.check_particles;
        Ok(examine::examine(outcome, &approximation, sample, &settings, particles, &mut watch))
    }

    /// Writes the run folder, all but its name.
    fn write(&self, run: &Run, out: &Path) -> Result<Folder> {
        let Self { record, subject } = self;
        let outcome = &run.outcome;
        let folder = Folder::create(out)?;
        folder.write(Record::FILE, record.to_toml()?)?;
        folder.write(Summary::FILE, run.summary.to_json())?;
        let quantities = run.quantities.as_ref();
        let draws = csv::sample(&subject.columns(), &run.sample, quantities);
        folder.write("draws.csv", draws)?;
        folder.write("schedule.csv", csv::schedule(&outcome.steps))?;
        folder.write("trace.csv", csv::trace(&outcome.trace))?;
        subject.write(&folder)?;
        outcome.flow.save(&folder.file("flow.safetensors"))?;
        if let Some(flow) = &outcome.flow_at_1 {
            flow.save(&folder.file("flow_at_1.safetensors"))?;
        }
        // From the files, as `adaann report` does it: what they lack no page can show.
        page::write(folder.place(), Whose::Target)?;
        Ok(folder)
    }
}

/// A finished run: the best of its seeds.
struct Run {
    outcome: Outcome,
    sample: Sample,
    quantities: Option<Batch>,
    summary: Summary,
}

/// What particles that went ahead came to, in words.
fn pilot(record: &PilotRecord) -> String {
    let PilotRecord { evaluations, stages, components, ess, is_kept } = record;
    let of = match components {
        1 => "a Gaussian".to_owned(),
        many => format!("a mixture of {many} Gaussians"),
    };
    let then = match is_kept {
        true => "it is the approximation",
        false => "the flow is better",
    };
    format!(
        "particles went ahead over {stages} temperatures, with {evaluations} evaluations; {of} fitted \
         to them has {:.0} per cent of its draws worth draws of the target, and {then}",
        100.0 * ess
    )
}
