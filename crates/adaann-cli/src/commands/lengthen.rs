//! `adaann resume --more-...`: extends a finished run.
//!
//! The extended run has the same record with larger numbers, and starts from the results of the finished run.
//! It replaces the finished run only when it is complete.

use crate::{
    args::ResumeArgs,
    folder::{
        self,
        drawn::Drawn,
        index::Differences,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
        summary::Summary,
    },
    job::{
        Job, kept, last,
        longer::{Earlier, Flows, Longer},
    },
    text::{failure::usage, layout::thousands},
};
use adaann::{
    Batch,
    answer::{Answer, Method, Plan},
    approximation::Approximation,
    fit::Outcome,
    flow::Flow,
    importance::Sample,
    model::Output,
    optim::RateRule,
};
use anyhow::Result;

/// Maximum relative difference between recomputed draws and the stored ones. Other instruction sets stay below
/// it; larger differences come from another flow.
const SAME_DRAW: f64 = 1e-6;

/// How many updates, draws or particles to add.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct More {
    pub(crate) updates: Option<usize>,
    pub(crate) draws: Option<usize>,
    pub(crate) particles: Option<usize>,
}

impl More {
    /// The values of the `--more-...` flags; `None` without any.
    pub(crate) fn of(args: &ResumeArgs) -> Result<Option<Self>> {
        let ResumeArgs { more_updates, more_draws, more_particles, .. } = *args;
        let more = Self { updates: more_updates, draws: more_draws, particles: more_particles };
        let all = more.all();
        if let Some((what, _)) = all.iter().find(|(_, count)| *count == 0) {
            return Err(usage(format!("--more-{what} is 0, but must be at least 1")));
        }
        Ok((!all.is_empty()).then_some(more))
    }

    fn all(self) -> Vec<(&'static str, usize)> {
        let all = [("updates", self.updates), ("draws", self.draws), ("particles", self.particles)];
        all.into_iter().filter_map(|(what, count)| Some((what, count?))).collect()
    }

    /// The values as flags.
    pub(crate) fn flags(self) -> String {
        let flags = self.all().into_iter().map(|(what, count)| format!("--more-{what} {count}"));
        flags.collect::<Vec<_>>().join(" ")
    }

    /// The values in words.
    pub(crate) fn words(self) -> String {
        let words = self.all().into_iter();
        let words = words.map(|(what, count)| format!("{} more {what}", thousands(count)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// Refuses a run that is unfinished or was modified.
pub(crate) fn check(stored: &Stored) -> Result<()> {
    let (folder, run) = (stored.folder(), stored.folder().display());
    // Next to a complete answer, checkpoints belong to an extension or to a run that was going to replace it.
    let is_whole = folder.join(Summary::FILE).exists() && !is_stopped(stored)?;
    if !is_whole && folder::is_unfinished(folder) {
        return Err(usage(format!(
            "the run in {run} is not finished; finish it with `adaann resume {run}` before you extend it"
        )));
    }
    if !is_whole {
        return Err(usage(format!(
            "the run in {run} was stopped and has no checkpoint to resume from; run it again with --force"
        )));
    }
    let Some(index) = stored.index() else {
        return Err(usage(format!(
            "{run} has no index.json, so its files cannot be verified; run it again with --force"
        )));
    };
    let Differences { changed, missing, new } = index.differences(folder)?;
    let altered = [changed, missing].concat();
    if !altered.is_empty() {
        return Err(usage(format!(
            "{run} cannot be extended, because its files were changed ({}); restore them, or run it again",
            altered.join(", ")
        )));
    }
    if !new.is_empty() {
        return Err(usage(format!(
            "{run} has files that do not belong to the run ({}); move them away, because the extended run \
             replaces the folder",
            new.join(", ")
        )));
    }
    Ok(())
}

/// Was the run stopped, by an interrupt or by its budget? Works for the summaries of all kinds of runs.
fn is_stopped(stored: &Stored) -> Result<bool> {
    let found: Result<serde_json::Value, _> = serde_json::from_str(&stored.text(Summary::FILE)?);
    Ok(found.is_ok_and(|summary| summary["stopped"] == true))
}

/// The job that extends a finished run of `run` or `fit`.
pub(crate) fn job(more: More, args: &ResumeArgs, stored: &Stored) -> Result<Job> {
    let mut record = Record::read(stored)?;
    if more.particles.is_some() {
        let run = stored.folder().display();
        return Err(usage(format!(
            "--more-particles applies to runs of `adaann smc`, but {run} has draws of a flow, a mixture or \
             chains; extend it with --more-draws"
        )));
    }
    let subject = Subject::read(&record.source(), stored, Programs::new(args.allow_command))?;
    let summary = Summary::read(stored)?;
    let remedy = "run it again with larger numbers and --force";
    let outcomes = |record: &Record| -> Result<Vec<(u64, Outcome)>> {
        last::read(stored, &kept::fingerprint_of(record.to_toml()?, &subject), remedy)
    };
    let before = record.clone();
    let earlier = match &mut record.plan {
        Plan::Adaann(settings) => {
            let repeats = record.repeats.as_mut().expect("a run of Algorithm 1 has them");
            let outcomes = outcomes(&before)?;
            if let Some(updates) = more.updates {
                settings.work.refine = settings.work.refine.saturating_add(updates);
                settings.check(&*subject.problem.target)?;
                if outcomes.iter().all(|(_, outcome)| outcome.put_down().is_none()) {
                    let run = stored.folder().display();
                    return Err(usage(format!("{run} has no final state to extend; {remedy}")));
                }
            }
            repeats.draws = longer_draws(repeats.draws, more.draws)?;
            // The bounds of the finished run do not apply to its extension.
            (repeats.max_evaluations, repeats.max_time) = (None, None);
            let are_trained = more.updates.is_some();
            let mut drawn = (summary.seed, Vec::new());
            let best = outcomes.iter().find(|(seed, _)| *seed == summary.seed);
            if let Some((seed, best)) = best.filter(|_| !are_trained) {
                drawn.1 = sample(stored, &subject, &best.flow, *seed)?.log_p().to_vec();
            }
            Earlier::Flows(Flows { outcomes: outcomes.into_iter().collect(), are_trained, drawn })
        }
        Plan::Answer(settings) => {
            let Some(draws) = more.draws.filter(|_| more.updates.is_none()) else {
                return Err(usage(format!(
                    "--more-updates applies to annealed flows (--method adaann), but this answer is by --method \
                     {}, which has no training to continue; use --more-draws",
                    summary.method.name()
                )));
            };
            settings.draws = Some(longer_draws(summary.draws, Some(draws))?);
            (settings.max_evaluations, settings.max_time) = (None, None);
            match (summary.method, summary.draws_seed) {
                (Method::Chains, _) => {
                    return Err(usage(
                        "the answer is by chains, whose states are not saved; run it again with a \
                         larger --target-ess and --force",
                    ));
                }
                (_, None) => {
                    return Err(usage(format!(
                        "the run is of an older version, which did not store the seed of its draws; {remedy}"
                    )));
                }
                // Draws of a prior are free, and their summary needs all of them.
                (Method::Prior, _) => Earlier::Nothing,
                (method, Some(stream)) => {
                    let flow = before.flow(stored, subject.problem.target.dim())?;
                    let sample = sample(stored, &subject, &flow, stream)?;
                    let fit = match method {
                        Method::Flow => outcomes(&before)?.pop().map(|(_, outcome)| outcome),
                        _ => None,
                    };
                    let answer = answer(&summary, flow, sample, fit);
                    Earlier::Answer(Box::new(answer), draws)
                }
            }
        }
    };
    let words = more.words() + &of_rate(&record.plan, more);
    let longer = Some(Longer { flags: more.flags(), words, earlier });
    Ok(Job { longer, ..Job::new(record, subject) })
}

/// The total number of draws, checked against its maximum.
fn longer_draws(draws: usize, more: Option<usize>) -> Result<usize> {
    let all = draws.saturating_add(more.unwrap_or(0));
    Output { draws: Some(all), ..Output::default() }.check(0)?;
    Ok(all)
}

/// A note on added updates beyond the end of the learning rate's schedule.
fn of_rate(plan: &Plan, more: More) -> String {
    let Plan::Adaann(settings) = plan else { return String::new() };
    match settings.refine_lr_rule {
        RateRule::Cosine { over, floor }
            if more.updates.is_some() && settings.work.refine > over =>
        {
            format!(", from update {} on at the learning rate's floor ({floor} of it)", over + 1)
        }
        _ => String::new(),
    }
}

/// Recomputes the draws of a run; log p is read from its file.
fn sample(stored: &Stored, subject: &Subject, flow: &Flow, seed: u64) -> Result<Sample> {
    let target = &*subject.problem.target;
    let drawn = Drawn::read(stored, &target.names())?;
    let approximation = Approximation::new(target, flow.clone())?;
    let sample = approximation.sample_knowing(&drawn.log_p, drawn.log_p.len(), seed)?;
    match is_near(sample.x(), &drawn.x) {
        true => Ok(sample),
        false => Err(usage(format!(
            "the draws in {} do not match its flow: the run is of another version, or its files come from \
             different runs; run it again with more --draws and --force",
            stored.folder().display()
        ))),
    }
}

fn is_near(a: &Batch, b: &Batch) -> bool {
    let is_near = |(a, b): (&f64, &f64)| {
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= SAME_DRAW * (1.0 + a.abs())
    };
    a.len() == b.len() && (0..a.dim()).all(|d| a.row(d).iter().zip(b.row(d)).all(is_near))
}

/// The answer of a finished run, without its check.
fn answer(summary: &Summary, flow: Flow, sample: Sample, fit: Option<Outcome>) -> Answer {
    let reasons = &summary.verdict.reasons;
    Answer {
        method: summary.method,
        flow,
        sample,
        stream: summary.draws_seed,
        log_z: None,
        rungs: summary.rungs.clone(),
        evaluations: summary.target_evaluations,
        check_evaluations: 0,
        examination: None,
        fit,
        spent: reasons.iter().any(|reason| reason.finding_code == "budget-spent"),
        stopped: false,
    }
}
