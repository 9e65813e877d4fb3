//! Carries out a plan: runs the ladder or trains flows, and judges the result.

use crate::{
    folder::{
        record::Repeats,
        summary::{Made, Seed, Sources, Summary, predictive},
    },
    job::{
        Job,
        examine::{self, Examined},
        interrupt, ladder,
        longer::Earlier,
        particles,
        progress::Progress,
    },
};
use adaann::{
    Batch, Error, Settings,
    answer::{self, Plan, approximate_with},
    approximation::Approximation,
    budget::Budget,
    checkpoint::Ledger,
    diagnostics,
    fit::{Outcome, Restart, Restarts, restarts_with},
    flow::Flow,
    importance::Sample,
    path::PathKind,
    schedule::Rule,
    target::{Metered, Target},
    tasks::Elsewhere,
};
use anyhow::Result;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The ledger of a seed.
pub(crate) type LedgerOf<'a> = &'a (dyn Fn(u64) -> adaann::Result<Ledger> + Sync);

/// Other ranks, which train whole seeds.
pub(crate) type Seeds<'a> = dyn Elsewhere<adaann::Result<Restart>> + 'a;

/// A finished run: the best of its seeds.
pub(crate) struct Run {
    /// q, as a flow.
    pub(crate) flow: Flow,
    /// The training of a flow, if one was annealed.
    pub(crate) training: Option<Outcome>,
    /// The results of the other seeds.
    pub(crate) others: Vec<Restart>,
    pub(crate) sample: Sample,
    pub(crate) quantities: Option<Batch>,
    pub(crate) summary: Summary,
}

impl Job {
    /// Carries out the plan without writing the folder.
    pub(crate) fn work(
        &self,
        progress: &Progress,
        ledger_of: LedgerOf,
        ledger: &mut Ledger,
        seeds: Option<&Seeds<'_>>,
    ) -> Result<Run> {
        let mut run = match &self.record.plan {
            Plan::Adaann(settings) => self.train(settings, progress, ledger_of, ledger, seeds)?,
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
                "the true values come from quadrature over the mode near the parameters that simulated the \
                 data; they exclude other modes of your data"
                    .to_owned(),
            );
        }
        Ok(run)
    }

    /// Runs the ladder, or one of its methods.
    fn climb(
        &self,
        settings: &answer::Settings,
        progress: &Progress,
        ledger: &mut Ledger,
    ) -> Result<Run> {
        let (record, problem) = (&self.record, &self.subject.problem);
        let target = &Metered::new(&*problem.target).until(interrupt::is_overdue);
        let mut watch = ladder::Watch::new(progress, target.values());
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
        let seconds = ledger.time().as_secs_f64();
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
            check_evaluations: answer.check_evaluations,
            verdict: examine::of_answer_by(&answer, &problem.target.names(), ledger),
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
        elsewhere: Option<&Seeds<'_>>,
    ) -> Result<Run> {
        let Self { record, subject, longer, .. } = self;
        let (problem, repeats) = (&subject.problem, self.repeats());
        let target = &Metered::new(&*problem.target).until(interrupt::is_overdue);
        let started = Instant::now();
        let (budget, of_fit) = (repeats.budget(), repeats.budget_of_fit());
        target.set_deadline(of_fit.deadline());
        let watch = |seed| {
            let label = if repeats.seeds == 1 { String::new() } else { format!("seed {seed:<4} ") };
            progress.watch(&label, settings, target.dim(), of_fit)
        };
        // The longest time that a seed worked before the run was interrupted.
        let earlier = AtomicU64::new(0);
        let ledger_of = |seed| {
            let ledger = ledger_of(seed)?;
            earlier.fetch_max(ledger.time().as_millis() as u64, Ordering::Relaxed);
            match longer {
                Some(longer) => longer.ledger_of_seed(seed, ledger),
                None => Ok(ledger),
            }
        };
        let rule = self.rule.as_ref().map(|rule| &**rule as &(dyn Rule + Sync));
        let Restarts { mut runs, mut failed } = restarts_with(
            target,
            settings,
            rule,
            repeats.comparison(),
            watch,
            ledger_of,
            elsewhere,
        )?;
        // Seeds that ran out of time have a checkpoint; the others alone do not give an answer.
        if interrupt::is_overdue()
            && let Some((_, error)) = failed.pop()
        {
            return Err(error.into());
        }
        let spent: usize = runs.iter().map(|run| run.evaluations).sum();
        target.set_deadline(budget.last_moment());
        let budget = budget.at_pace(target.time_each());
        // Each run is sampled for the comparison, and the best run again for its draws.
        let times = if runs.len() > 1 { runs.len() + 1 } else { 1 };
        let draws = repeats.draws_within(budget.after(spent), times);
        let draw = |outcome: &Outcome, seed| {
            let known = longer.as_ref().map_or(&[][..], |longer| longer.known_log_p(seed));
            match budget.deadline() {
                None => outcome.approximation(target)?.sample_knowing(known, draws, seed),
                Some(_) => sample_in_time(&outcome.approximation(target)?, known, draws, seed),
            }
        };
        let mut seeds = Vec::new();
        if runs.len() > 1 {
            for run in &runs {
                seeds.push(Seed::new(run, &problem.known, &draw(&run.outcome, run.seed)?));
            }
        }
        let best = runs.swap_remove(0);
        let sample = draw(&best.outcome, best.seed)?;
        // The draws of the answer count as part of its check. Work that the deadline ended has only been metered.
        let mut evaluations = spent + (times - 1) * draws;
        if budget.deadline().is_some() {
            evaluations = target.values().get().saturating_sub(sample.len()).max(spent);
        }
        let quantities = subject.quantities(sample.x())?;
        let settings = Settings { seed: best.seed, ..settings.clone() };
        let examined = self.examine(
            &best.outcome,
            &settings,
            &sample,
            budget.after(evaluations + sample.len()),
            progress,
            ledger,
        )?;
        let earlier = Duration::from_millis(earlier.load(Ordering::Relaxed));
        let seconds = (earlier + started.elapsed()).as_secs_f64();
        let examination = examined.examination.as_ref();
        let mut summary = Summary::new(Sources {
            target: &record.target,
            names: &subject.columns(),
            notes: target.notes(),
            known: &problem.known,
            seed: best.seed,
            made: Made { evaluations, ..Made::by_adaann(&best.outcome, examination) }
                .or_unfinished(ledger.is_looking()),
            sample: &sample,
            examination,
            check_evaluations: examined.evaluations,
            verdict: examined.verdict,
            quantities: quantities.as_ref(),
            seconds,
            seeds,
        });
        let failed = failed.iter();
        let failed = failed.map(|(seed, error)| format!("seed {seed} failed: {error}"));
        summary.warnings.extend(failed);
        if settings.path == PathKind::Power && target.has_prior() && !target.has_proper_prior() {
            summary.warnings.push(
                "a prior is flat, and a power p^t of such a posterior may have no integral; if the fit \
                 fails at small t, give every parameter a proper prior, or use --path bridge"
                    .to_owned(),
            );
        }
        let flow = best.outcome.flow.clone();
        Ok(Run { flow, training: Some(best.outcome), others: runs, sample, quantities, summary })
    }

    /// Further settings of a run of Algorithm 1.
    pub(crate) fn repeats(&self) -> Repeats {
        self.record.repeats.expect("a run of Algorithm 1 has them")
    }

    /// Weights the draws and judges the run.
    fn examine(
        &self,
        outcome: &Outcome,
        settings: &Settings,
        sample: &Sample,
        budget: Budget,
        progress: &Progress,
        ledger: &mut Ledger,
    ) -> Result<Examined> {
        let target = Metered::new(&*self.subject.problem.target).until(interrupt::is_overdue);
        target.set_deadline(budget.deadline());
        let approximation = outcome.approximation(&target)?;
        let first = settings.particles().schedule.first();
        let mut watch = particles::Watch::new(progress, "check by independent particles", first);
        let wanted = diagnostics::Settings {
            particles: self.repeats().check_particles,
            budget,
            ..diagnostics::Settings::default()
        };
        let examined = examine::examine(
            outcome,
            &approximation,
            sample,
            (settings, wanted),
            &mut watch,
            ledger,
        );
        // A failed check does not report its evaluations; those of the draws count separately.
        let evaluations = match examined.examination {
            Some(_) => examined.evaluations,
            None => sample.len() + target.values().get(),
        };
        Ok(Examined { evaluations, ..examined })
    }
}

/// Number of draws before the first reading of the clock.
const FIRST_DRAWS: usize = 32;

/// Takes as many draws as time allows; the number of draws doubles between readings of the clock.
fn sample_in_time(
    approximation: &Approximation,
    known: &[f64],
    draws: usize,
    seed: u64,
) -> adaann::Result<Sample> {
    let first = known.len().max(FIRST_DRAWS).min(draws);
    let mut sample = approximation.sample_knowing(known, first, seed)?;
    while sample.len() < draws {
        let more = (2 * sample.len()).min(draws);
        match approximation.sample_knowing(sample.log_p(), more, seed) {
            Err(Error::OutOfTime) => break,
            found => sample = found?,
        }
    }
    Ok(sample)
}
