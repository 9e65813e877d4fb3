//! `adaann smc`: sequential Monte Carlo along the annealing paths.

pub(crate) mod afford;
mod closing;
mod longer;
mod look;
mod record;
pub(crate) mod settings;
mod summary;

use crate::{
    args::{CHECKPOINT, ResumeArgs, SmcArgs, SmcOutputArgs},
    commands::lengthen::More,
    folder::{
        Folder, Old, csv,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::{
        failed, interrupt,
        kept::Kept,
        last,
        longer::stopped,
        memory::{self, Held},
        particles::Watch,
        progress::Progress,
        threads,
    },
    ranks,
    text::{said::say, style::Style},
};
use adaann::{
    Batch,
    budget::Budget,
    checkpoint::Ledger,
    fit::overlay::Interval,
    schedule::Rule,
    smc::{Population, Smc},
    target::Metered,
};
use afford::Afforded;
use anyhow::Result;
use longer::Longer;
pub(crate) use look::look;
use record::SmcRecord;
use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};
use summary::{Named, SmcSummary};

/// Runs sequential Monte Carlo and writes its run folder.
pub(crate) fn smc(args: &SmcArgs) -> Result<ExitCode> {
    let SmcOutputArgs { threads, out, force, restart, checkpoint, quiet, json, .. } = &args.output;
    let SmcOutputArgs { max_evaluations, max_time, .. } = &args.output;
    threads::check(*threads)?;
    let (subject, mut record) = settings::resolve(args)?;
    let out = out.clone().unwrap_or_else(|| {
        PathBuf::from("runs").join(format!("{}-smc-{}", record.target, record.settings.seed))
    });
    let budget = Budget::new(*max_evaluations, max_time.and_then(Interval::time));
    let begun = Some(&*out).filter(|_| !restart);
    let how = How {
        threads: *threads,
        force: *force,
        restart: *restart,
        checkpoint: checkpoint.unwrap_or(CHECKPOINT),
        afforded: afford::within(budget, &subject, &mut record, begun)?,
        quiet: *quiet,
        json: *json,
    };
    if let Some(note) = how.afforded.note.as_ref().filter(|_| !how.quiet && !how.json) {
        say(note);
    }
    run_and_write(&subject, &record, &out, &how, None)
}

/// Resumes an unfinished run, or extends a finished one; `None` if it is not a run of `adaann smc`.
pub(crate) fn resume(
    args: &ResumeArgs,
    more: Option<More>,
    stored: &Stored,
) -> Result<Option<ExitCode>> {
    let Some(record) = SmcRecord::read(stored)? else { return Ok(None) };
    let subject = Subject::read(&record.source(), stored, Programs::new(args.allow_command))?;
    let (record, longer) = match more {
        None => (record, None),
        Some(more) => {
            let (record, longer) = Longer::of(more, record, &subject, stored)?;
            (record, Some(longer))
        }
    };
    subject.start()?;
    let how = How {
        threads: args.threads,
        force: false,
        restart: false,
        checkpoint: args.checkpoint.unwrap_or(CHECKPOINT),
        afforded: Afforded::default(),
        quiet: args.quiet,
        json: args.json,
    };
    run_and_write(&subject, &record, &args.run, &how, longer).map(Some)
}

/// Settings of a run that do not depend on its subject.
struct How {
    threads: usize,
    force: bool,
    restart: bool,
    checkpoint: Interval,
    afforded: Afforded,
    quiet: bool,
    json: bool,
}

fn run_and_write(
    subject: &Subject,
    record: &SmcRecord,
    out: &Path,
    how: &How,
    longer: Option<Longer>,
) -> Result<ExitCode> {
    let How { force, restart, checkpoint, quiet, json, .. } = *how;
    interrupt::listen()?;
    let particles = record.settings.particles;
    let columns = subject.columns().len();
    let held = Held { draws: particles, columns, of_a_mixture: true };
    memory::check("--particles", particles, held)?;
    let is_longer = longer.is_some();
    let old = if is_longer { Old::Lengthened } else { Old::forced(force) };
    let mut folder = Folder::reserve(out, old, restart)?;
    let flags = longer.as_ref().map(|longer| longer.flags.clone());
    let kept = Kept::new(&folder, checkpoint, record.to_toml()?, subject, flags, quiet || json)?;
    if let Some(longer) = longer.as_ref().filter(|_| !quiet && !json) {
        say(&format!("extending {}: {}", out.display(), longer.words));
    }
    let earlier = longer.map(|longer| longer.population);
    let pool = threads::pool_of_run(how.threads)?;
    let progress = Progress::new(quiet || json);
    pool.install(|| {
        let mut ledger = ranks::until_failure(kept.ledger()?);
        let run = Run::new(subject, record, earlier, &progress, &how.afforded, &mut ledger);
        kept.save(&mut ledger);
        ranks::check(out)?;
        if run.is_err() && interrupt::is_overdue() {
            return Ok(interrupt::without_answer(out));
        }
        let run = run?;
        if is_longer && run.summary.stopped {
            return Ok(stopped(out, quiet || json));
        }
        folder.restore()?;
        run.write(subject, record, &folder, &kept)?;
        folder.finish(run.summary.stopped)?;
        if json {
            stdout().write_all(run.summary.to_json().as_bytes())?;
        } else if !quiet {
            let text = closing::text(record, &run.summary, out, Style::detect());
            stdout().write_all(text.as_bytes())?;
        }
        if let Some(why) = &run.summary.ended_early {
            say(&failed(why, out));
        }
        // A spent budget was requested, so it is not an interruption.
        Ok(match run.summary.ended_early {
            _ if run.summary.stopped && interrupt::asked() => ExitCode::from(interrupt::EXIT_CODE),
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        })
    })
}

/// The particles at t = 1, or at the t where they were stopped.
pub(crate) struct Run {
    pub(crate) population: Population,
    pub(crate) quantities: Option<Batch>,
    pub(crate) summary: SmcSummary,
}

impl Run {
    pub(crate) fn new(
        subject: &Subject,
        record: &SmcRecord,
        earlier: Option<Population>,
        progress: &Progress,
        afforded: &Afforded,
        ledger: &mut Ledger,
    ) -> Result<Self> {
        let (budget, settings) = (afforded.budget, &record.settings);
        let watch = Watch::new(progress, "particles", settings.schedule.first());
        let islands = if earlier.is_some() { 1 } else { settings.islands + settings.further.len() };
        let mut watch = watch.of_islands(islands).within(budget);
        let target = Metered::new(&*subject.problem.target).until(interrupt::is_overdue);
        target.set_deadline(budget.last_moment());
        let particles = Smc::new(&target, settings).within(budget);
        let particles = match earlier {
            Some(earlier) => particles.after(earlier),
            None => particles,
        };
        let population = particles.run_with(&mut watch, ledger)?;
        drop(watch);
        let budget = budget.at_pace(target.time_each());
        let named = Named::new(&target, &subject.problem.known, &population, budget)?;
        // The meter has also counted the work of a stage that the deadline ended.
        let metered = if budget.deadline().is_some() { target.values().get() } else { 0 };
        let evaluations = (population.evaluations + named.evaluations).max(metered);
        let evaluations = evaluations + afforded.evaluations;
        let seconds = ledger.time().as_secs_f64();
        let quantities = subject.quantities(&population.points)?;
        let summary = SmcSummary::new(
            subject,
            record,
            &population,
            named,
            evaluations,
            quantities.as_ref(),
            seconds,
        )?;
        Ok(Self { population, quantities, summary })
    }

    /// Writes the run folder under its temporary name.
    fn write(
        &self,
        subject: &Subject,
        record: &SmcRecord,
        folder: &Folder,
        kept: &Kept,
    ) -> Result<()> {
        folder.write(Record::FILE, record.to_toml()?)?;
        let (population, quantities) = (&self.population, self.quantities.as_ref());
        let known: [(&str, &[f64]); 2] =
            [("log_p", &population.log_p), ("weight", &population.weights)];
        folder.write_with("draws.csv", |file| {
            csv::draws(file, &subject.columns(), &population.points, quantities, &known)
        })?;
        folder.write(crate::folder::summary::Summary::FILE, self.summary.to_json())?;
        folder.write("stages.csv", csv::stages(&population.stages))?;
        if !record.no_state && !population.stopped {
            last::write(folder, &kept.header(), &population.lineage())?;
        }
        subject.write(folder)
    }
}
