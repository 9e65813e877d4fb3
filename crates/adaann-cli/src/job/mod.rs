//! Jobs: carry out a plan, write the run folder, report the results.

pub(crate) mod display;
pub(crate) mod examine;
pub(crate) mod forecast;
pub(crate) mod interrupt;
pub(crate) mod kept;
pub(crate) mod ladder;
pub(crate) mod last;
pub(crate) mod longer;
pub(crate) mod memory;
pub(crate) mod pace;
pub(crate) mod particles;
pub(crate) mod progress;
pub(crate) mod seeds;
pub(crate) mod threads;
pub(crate) mod unfinished;
pub(crate) mod work;

use crate::{
    args::OutputArgs,
    folder::{
        self, Folder, Old, csv,
        drawn::Whose,
        finished::Finished,
        page,
        record::Record,
        subject::{Programs, Subject},
        summary::Summary,
        words::{table, title::title, verdict},
    },
    job::{
        kept::Kept, longer::Longer, memory::Held, progress::Progress, seeds::SeedsElsewhere,
        work::Run,
    },
    ranks,
    text::{failure::usage, said::say, style::Style},
};
use adaann::{
    answer::{Method, Plan},
    diagnostics::Trust,
    model::Output,
    schedule::Rule,
};
use anyhow::{Context, Result};
use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Maximum numbers of draws and of threads; larger values are surely typing errors.
pub(crate) const MOST_DRAWS: usize = Output::MOST_DRAWS;
pub(crate) const MOST_THREADS: usize = Output::MOST_THREADS;

/// A run to be carried out.
pub(crate) struct Job {
    pub(crate) record: Record,
    pub(crate) subject: Subject,
    /// The finished run that it extends, if any.
    pub(crate) longer: Option<Longer>,
    /// Chooses the temperatures of Algorithm 1, instead of the schedule in the settings.
    pub(crate) rule: Option<Box<dyn Rule + Send + Sync>>,
}

impl Job {
    /// A new run.
    pub(crate) fn new(record: Record, subject: Subject) -> Self {
        Self { record, subject, longer: None, rule: None }
    }

    /// Carries out the run.
    pub(crate) fn run_and_write(&self, output: &OutputArgs) -> Result<ExitCode> {
        let out = output.out.clone().unwrap_or_else(|| self.default_folder());
        interrupt::listen()?;
        if output.dry_run {
            folder::check(&out, Old::forced(output.force))?;
            stdout().write_all(self.record.to_toml()?.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        self.check_state()?;
        self.check_memory()?;
        // Reserve the name before any work: two runs cannot share a folder.
        let is_longer = self.longer.is_some();
        let old = if is_longer { Old::Lengthened } else { Old::forced(output.force) };
        let mut folder = Folder::reserve(&out, old, output.restart)?;
        let is_quiet = output.quiet || output.json;
        let told = self.record.to_toml()?;
        let flags = self.longer.as_ref().map(|longer| longer.flags.clone());
        let kept = Kept::new(&folder, output.checkpoint, told, &self.subject, flags, is_quiet)?;
        if let Some(longer) = self.longer.as_ref().filter(|_| !is_quiet) {
            longer.announce(&out);
        }
        let seeds = SeedsElsewhere::new(self, &kept);
        // If whole seeds go to other ranks, no threads wait for pieces of batches.
        let pool = match &seeds {
            Some(_) => threads::pool(output.threads)?,
            None => threads::pool_of_run(output.threads)?,
        };
        let seeds = seeds.as_ref().map(|seeds| seeds as &work::Seeds<'_>);
        let progress = Progress::new(is_quiet);
        pool.install(|| {
            let mut ledger = ranks::until_failure(kept.ledger()?);
            let ledger_of = |seed| kept.ledger_of_seed(seed).map(ranks::until_failure);
            let run = self.work(&progress, &ledger_of, &mut ledger, seeds);
            kept.save(&mut ledger);
            ranks::check(&out)?;
            if run.is_err() && interrupt::is_overdue() {
                return Ok(interrupt::without_answer(&out));
            }
            let mut run = run?;
            if is_longer && (run.summary.stopped || interrupt::asked()) {
                return Ok(longer::stopped(&out, is_quiet));
            }
            folder.restore()?;
            let page = self.write(&run, &folder, &kept)?;
            run.summary.figure_evaluations = *page.as_ref().unwrap_or(&0);
            // Keep the checkpoints of an interrupted check, as those of an interrupted run.
            folder.finish(run.summary.stopped || interrupt::asked())?;
            if output.json {
                stdout().write_all(run.summary.to_json().as_bytes())?;
            } else if !output.quiet {
                let title = title(&self.record, &run.summary);
                let closing = table::closing(&title, &run.summary, &out, Style::detect());
                stdout().write_all(closing.as_bytes())?;
            }
            page.with_context(|| {
                let out = out.display();
                format!(
                    "the run is in {out}, but its figures and page could not be drawn; `adaann report {out}` \
                     draws them"
                )
            })?;
            if let Some(why) = &run.summary.ended_early {
                say(&failed(why, &out));
            }
            let reliable = run.summary.verdict.trust == Trust::Reliable;
            Ok(match self.record.strict && !reliable {
                _ if interrupt::asked() => ExitCode::from(interrupt::EXIT_CODE),
                _ if run.summary.ended_early.is_some() => ExitCode::FAILURE,
                true => ExitCode::from(verdict::EXIT_CODE),
                false => ExitCode::SUCCESS,
            })
        })
    }

    /// Is it a run of Algorithm 1 from more than one seed?
    fn has_several_seeds(&self) -> bool {
        matches!(self.record.plan, Plan::Adaann(_)) && self.repeats().seeds > 1
    }

    /// Refuses `--no-state` for runs without a final state.
    pub(crate) fn check_state(&self) -> Result<()> {
        let Record { no_state, method, .. } = self.record;
        if no_state && !matches!(method, Method::Adaann | Method::Ladder | Method::Flow) {
            return Err(usage(format!(
                "--no-state does not apply to --method {}: only annealed flows have a final state",
                method.name()
            )));
        }
        Ok(())
    }

    /// Refuses more draws than fit into memory.
    pub(crate) fn check_memory(&self) -> Result<()> {
        let (flag, draws) = match &self.record.plan {
            Plan::Adaann(_) => ("--draws", self.repeats().draws),
            Plan::Answer(settings) => match settings.draws {
                Some(draws) => ("--draws", draws),
                // A lower bound: unequal weights need more draws than their ESS.
                None => ("--target-ess", settings.target_ess as usize),
            },
        };
        let of_a_mixture = matches!(self.record.plan, Plan::Answer(_));
        let columns = self.subject.columns().len();
        memory::check(flag, draws, Held { draws, columns, of_a_mixture })
    }

    fn default_folder(&self) -> PathBuf {
        let Record { target, plan, .. } = &self.record;
        PathBuf::from("runs").join(format!("{target}-{}", plan.seed()))
    }

    /// Writes the run folder under its temporary name. Files that cannot be recomputed come first. The inner
    /// result is that of figures and page: the number of density values they took, or why they cannot be drawn.
    pub(crate) fn write(&self, run: &Run, folder: &Folder, kept: &Kept) -> Result<Result<usize>> {
        let Self { record, subject, .. } = self;
        let training = run.training.as_ref();
        folder.write(Record::FILE, record.to_toml()?)?;
        run.flow.save(&folder.file(Record::FLOW))?;
        let quantities = run.quantities.as_ref();
        folder.write_with("draws.csv", |file| {
            csv::sample(file, &subject.columns(), &run.sample, quantities)
        })?;
        folder.write(Summary::FILE, run.summary.to_json())?;
        let steps = training.map_or(&[][..], |outcome| &outcome.steps);
        folder.write("schedule.csv", csv::schedule(steps))?;
        let updates = training.map_or(&[][..], |outcome| &outcome.trace);
        folder.write("trace.csv", csv::trace(updates))?;
        subject.write(folder)?;
        if let Some(flow) = training.and_then(|outcome| outcome.flow_at_1.as_ref()) {
            flow.save(&folder.file("flow_at_1.safetensors"))?;
        }
        if let Some(best) = training.filter(|_| !record.no_state && !run.summary.stopped) {
            let others = run.others.iter().map(|other| (other.seed, &other.outcome));
            let all: Vec<_> = [(run.summary.seed, best)].into_iter().chain(others).collect();
            last::write(folder, &kept.header(), &all)?;
        }
        // An interrupted run must not wait for an external program again.
        let programs = if interrupt::asked() { Programs::Forbidden } else { Programs::Asked };
        // Draw from the files, as `adaann report` does, so that both give the same page.
        let drawn = Finished::read(folder.place(), Whose::Target, programs).and_then(|finished| {
            let finished = finished.with_values(self.values_of_figures(&run.summary));
            page::write(folder.place(), &finished)?;
            Ok(finished.values())
        });
        if let Ok(figure_evaluations @ 1..) = drawn {
            let summary = Summary { figure_evaluations, ..run.summary.clone() };
            folder.write(Summary::FILE, summary.to_json())?;
        }
        Ok(drawn)
    }

    /// The number of density values that figures may use: what is left of the budget, but only a small part of the
    /// run's cost. It depends on the run alone, not on a clock.
    fn values_of_figures(&self, summary: &Summary) -> usize {
        /// Operations that take about a second.
        const OPERATIONS: f64 = 2e9;
        let target = &self.subject.problem.target;
        let spent = summary.target_evaluations + summary.check_evaluations;
        let (most, is_timed) = match &self.record.plan {
            Plan::Answer(settings) => (settings.max_evaluations, settings.max_time.is_some()),
            Plan::Adaann(_) => (self.repeats().max_evaluations, self.repeats().max_time.is_some()),
        };
        let cheap = match target.operations().filter(|_| target.has_formulas()) {
            Some(operations) => (OPERATIONS / operations) as usize,
            None if is_timed => 0,
            None => spent / 2,
        };
        cheap.min(most.map_or(usize::MAX, |most| most.saturating_sub(spent)))
    }
}

/// The message on a run that failed late, printed in any case.
pub(crate) fn failed(why: &str, out: &Path) -> String {
    format!("error: the run ended early: {why}; its results so far are in {}", out.display())
}
