//! From a plan to a finished run folder: climb or train, look at what came out, write it down, say so.

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
pub(crate) mod unfinished;

use crate::{
    args::OutputArgs,
    folder::{
        self, Folder, csv,
        drawn::Whose,
        finished::Finished,
        page,
        record::{Record, Repeats},
        subject::{Programs, Subject},
        summary::{Made, Seed, Sources, Summary, predictive},
        words::{table, title::title, verdict},
    },
    job::{
        display::say,
        examine::Examined,
        kept::Kept,
        longer::{Earlier, Longer},
        memory::Held,
        progress::Progress,
    },
    text::{failure::usage, style::Style},
};
use adaann::{
    Batch, Settings,
    answer::{self, Method, Plan, approximate_with},
    budget::Budget,
    checkpoint::Ledger,
    diagnostics::{self, Trust},
    fit::{Outcome, Restart, Restarts, restarts_with},
    flow::Flow,
    importance::Sample,
    model::Output,
    path::PathKind,
    schedule::Rule,
    target::{Counted, Target},
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

/// The list of what a seed has finished.
type LedgerOf<'a> = &'a (dyn Fn(u64) -> adaann::Result<Ledger> + Sync);

/// A run to be done.
pub(crate) struct Job {
    pub(crate) record: Record,
    pub(crate) subject: Subject,
    /// The finished run that it lengthens, if it does.
    pub(crate) longer: Option<Longer>,
}

impl Job {
    /// Does it.
    pub(crate) fn carry_out(&self, output: &OutputArgs) -> Result<ExitCode> {
        let out = output.out.clone().unwrap_or_else(|| self.default_folder());
        interrupt::listen()?;
        if output.dry_run {
            folder::check(&out, output.force)?;
            stdout().write_all(self.record.to_toml()?.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        self.check_state()?;
        self.check_memory()?;
        // Before any work is done: two runs cannot have one name.
        let is_longer = self.longer.is_some();
        let folder = Folder::reserve(&out, output.force || is_longer, output.restart)?;
        let is_quiet = output.quiet || output.json;
        let told = self.record.to_toml()?;
        let flags = self.longer.as_ref().map(|longer| longer.flags.clone());
        let kept = Kept::new(&folder, output.checkpoint, told, &self.subject, flags, is_quiet)?;
        if let Some(longer) = self.longer.as_ref().filter(|_| !is_quiet) {
            longer.announce(&out)?;
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(output.threads)
            .build()
            .with_context(|| format!("cannot start {} threads", output.threads))?;
        let progress = Progress::new(is_quiet);
        pool.install(|| {
            let mut ledger = kept.ledger()?;
            let run = self.work(&progress, &|seed| kept.ledger_of_seed(seed), &mut ledger);
            kept.save(&mut ledger);
            if run.is_err() && interrupt::is_overdue() {
                return Ok(interrupt::without_answer(&out));
            }
            let run = run?;
            if is_longer && (run.summary.stopped || interrupt::asked()) {
                return longer::stopped(&out, is_quiet);
            }
            let page = self.write(&run, &folder, &kept)?;
            folder.finish(run.summary.stopped)?;
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
                    "the run is in {out}, but for its figures and page, which `adaann report {out}` \
                     makes"
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

    /// Refuses to leave a final state out where there would be none.
    fn check_state(&self) -> Result<()> {
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
    fn check_memory(&self) -> Result<()> {
        let (flag, draws) = match &self.record.plan {
            Plan::Adaann(_) => ("--draws", self.repeats().draws),
            Plan::Answer(settings) => match settings.draws {
                Some(draws) => ("--draws", draws),
                // At the least: draws of unequal weights are worth less than their number.
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

    fn work(&self, progress: &Progress, ledger_of: LedgerOf, ledger: &mut Ledger) -> Result<Run> {
        let mut run = match &self.record.plan {
            Plan::Adaann(settings) => self.train(settings, progress, ledger_of, ledger)?,
            Plan::Answer(settings) => self.climb(settings, progress, ledger)?,
        };
        let Self { record, subject, .. } = self;
        let Run { summary, sample, .. } = &mut run;
        if let Some(model) = subject.model.as_ref().filter(|_| !summary.stopped) {
            summary.predictive_checks = predictive::checks(model, sample, summary.seed)?;
            summary.warnings.extend(predictive::warnings(&summary.predictive_checks));
        }
        if record.data.is_some() && subject.problem.known.mean.is_some() {
            summary.notes.push(
                "the true values are a quadrature over the mode near the parameters that data is \
                 made from; other modes that your data may have are not in them"
                    .to_owned(),
            );
        }
        Ok(run)
    }

    /// Climbs the ladder, or asks one of its methods.
    fn climb(
        &self,
        settings: &answer::Settings,
        progress: &Progress,
        ledger: &mut Ledger,
    ) -> Result<Run> {
        let (record, problem) = (&self.record, &self.subject.problem);
        let target = &Counted::new(&*problem.target).until(interrupt::is_overdue);
        let started = Instant::now();
        let mut watch = ladder::Watch::new(progress, target.points());
        let earlier = self.longer.as_ref().map(|longer| &longer.earlier);
        let answer = match earlier {
            Some(Earlier::Answer(answer, more)) => {
                let answer = (**answer).clone();
                answer::lengthen(target, answer, *more, settings, &mut watch, ledger)
            }
            _ => approximate_with(target, settings, &mut watch, ledger),
        };
        let mut answer = answer.map_err(ladder::worded)?;
        drop(watch);
        for rung in &mut answer.rungs {
            rung.found = ladder::without_remedy(&rung.found).to_owned();
        }
        let seconds = started.elapsed().as_secs_f64();
        let quantities = self.subject.quantities(answer.sample.x())?;
        let examination = answer.examination.as_ref();
        let mut summary = Summary::new(Sources {
            target: &record.target,
            names: &self.subject.columns(),
            notes: target.notes(),
            known: &problem.known,
            seed: settings.seed,
            made: Made::by_ladder(&answer).or_unfinished(ledger.is_looking()),
            sample: &answer.sample,
            examination,
            verdict: examine::of_answer_by(&answer, ledger),
            quantities: quantities.as_ref(),
            seconds,
            seeds: Vec::new(),
        });
        summary.draws_seed = answer.stream;
        let training = answer.fit.take();
        let (flow, sample, others) = (answer.flow, answer.sample, Vec::new());
        Ok(Run { flow, training, others, sample, quantities, summary })
    }

    /// Trains flows by Algorithm 1, and keeps the best.
    fn train(
        &self,
        settings: &Settings,
        progress: &Progress,
        ledger_of: LedgerOf,
        ledger: &mut Ledger,
    ) -> Result<Run> {
        let Self { record, subject, longer } = self;
        let (problem, repeats) = (&subject.problem, self.repeats());
        let target = &Counted::new(&*problem.target).until(interrupt::is_overdue);
        let started = Instant::now();
        let (budget, of_fit) = (repeats.budget(), repeats.budget_of_fit());
        let watch = |seed| {
            let label = if repeats.seeds == 1 { String::new() } else { format!("seed {seed:<4} ") };
            progress.watch(&label, settings, target.dim(), of_fit)
        };
        let ledger_of = |seed| match (ledger_of(seed)?, longer) {
            (ledger, Some(longer)) => longer.ledger_of_seed(seed, ledger),
            (ledger, None) => Ok(ledger),
        };
        let Restarts { mut runs, failed } =
            restarts_with(target, settings, repeats.seeds, watch, ledger_of)?;
        let seconds = started.elapsed().as_secs_f64();
        let spent: usize = runs.iter().map(|run| run.outcome.target_evaluations).sum();
        let draws = repeats.draws_within(budget.after(spent));
        let draw = |outcome: &Outcome, seed| {
            let known = longer.as_ref().map_or(&[][..], |longer| longer.known_log_p(seed));
            outcome.approximation(target)?.sample_knowing(known, draws, seed)
        };
        let mut seeds = Vec::new();
        if runs.len() > 1 {
            for run in &runs {
                seeds.push(Seed::new(run, &problem.known, &draw(&run.outcome, run.seed)?));
            }
        }
        let best = runs.swap_remove(0);
        let sample = draw(&best.outcome, best.seed)?;
        let quantities = subject.quantities(sample.x())?;
        let settings = Settings { seed: best.seed, ..settings.clone() };
        let examined = self.examine(
            &best.outcome,
            &settings,
            &sample,
            budget.after(spent + draws),
            progress,
            ledger,
        )?;
        let examination = examined.examination.as_ref();
        let mut summary = Summary::new(Sources {
            target: &record.target,
            names: &subject.columns(),
            notes: target.notes(),
            known: &problem.known,
            seed: best.seed,
            made: Made::by_adaann(&best.outcome, examination).or_unfinished(ledger.is_looking()),
            sample: &sample,
            examination,
            verdict: examined.verdict,
            quantities: quantities.as_ref(),
            seconds,
            seeds,
        });
        let failed = failed.iter();
        let failed = failed.map(|(seed, error)| format!("seed {seed} came to no end: {error}"));
        summary.warnings.extend(failed);
        if settings.path == PathKind::Power && target.has_prior() && !target.has_proper_prior() {
            summary.warnings.push(
                "a prior is flat, and a power p^t of such a posterior may have no integral; if the fit \
                 goes astray at small t, give every parameter a prior, or take --path bridge"
                    .to_owned(),
            );
        }
        let flow = best.outcome.flow.clone();
        Ok(Run { flow, training: Some(best.outcome), others: runs, sample, quantities, summary })
    }

    /// What Algorithm 1 is told beside its settings.
    fn repeats(&self) -> Repeats {
        self.record.repeats.expect("a run of Algorithm 1 has them")
    }

    /// Weights the draws, and judges the run.
    fn examine(
        &self,
        outcome: &Outcome,
        settings: &Settings,
        sample: &Sample,
        budget: Budget,
        progress: &Progress,
        ledger: &mut Ledger,
    ) -> Result<Examined> {
        let target = Counted::new(&*self.subject.problem.target).until(interrupt::is_overdue);
        let approximation = outcome.approximation(&target)?;
        let first = settings.particles().schedule.first();
        let mut watch = particles::Watch::new(progress, "check by independent particles", first);
        let wanted = diagnostics::Settings {
            particles: self.repeats().check_particles,
            budget,
            ..diagnostics::Settings::default()
        };
        Ok(examine::examine(
            outcome,
            &approximation,
            sample,
            (settings, wanted),
            &mut watch,
            ledger,
        ))
    }

    /// Writes the run folder, all but its name. What cannot be made again comes first; figures and page can,
    /// and what became of them is told apart.
    fn write(&self, run: &Run, folder: &Folder, kept: &Kept) -> Result<Result<()>> {
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
        // Who has asked for an end does not want to wait for a program once more.
        let programs = if interrupt::asked() { Programs::Forbidden } else { Programs::Asked };
        // From the files, as `adaann report` does it: what they lack no page can show.
        Ok(Finished::read(folder.place(), Whose::Target, programs)
            .and_then(|finished| page::write(folder.place(), &finished)))
    }
}

/// What to say of a run that failed late, whatever else is printed.
pub(crate) fn failed(why: &str, out: &Path) -> String {
    format!("error: the run ended early: {why}; what it had by then is in {}", out.display())
}

/// A finished run: the best of its seeds.
struct Run {
    /// q, as a flow.
    flow: Flow,
    /// The training of a flow, if one was annealed.
    training: Option<Outcome>,
    /// What the other seeds came to.
    others: Vec<Restart>,
    sample: Sample,
    quantities: Option<Batch>,
    summary: Summary,
}
