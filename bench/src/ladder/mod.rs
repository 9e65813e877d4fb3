//! The ladder on targets with known answers: its accuracy, verdicts and cost.

mod components;
mod frame;
mod goals;
pub(crate) mod hidden;
mod logistic;
pub(crate) mod matrices;
pub(crate) mod models;
mod nuts;
pub(crate) mod options;
pub(crate) mod peers;
mod registered;
pub(crate) mod right;
mod rosenbrock;
pub(crate) mod run;
pub(crate) mod sabotage;
pub(crate) mod subject;
pub(crate) mod table;
mod targets;
pub(crate) mod verdicts;

pub(crate) use options::LadderOptions;

use adaann::{Result, tasks::Workers};
use run::Run;
use std::{io, time::Duration};
use subject::Subject;
use table::Measured;

/// Runs every target with every seed, and prints a line for each target, a total, and the demands with the measured
/// values.
pub(crate) fn run(options: &LadderOptions) -> io::Result<()> {
    if options.peers {
        return peers::run(options);
    }
    let subjects = options.subjects().map_err(io::Error::other)?;
    let measured = measure(&subjects, options)?;
    let page = table::page(&measured) + &goals::table(&measured);
    options.trials.publish("ladder", &page)
}

/// Every subject with every seed.
fn measure<'a>(subjects: &'a [Subject], options: &LadderOptions) -> io::Result<Vec<Measured<'a>>> {
    let runs: Vec<(&Subject, u64)> = (subjects.iter())
        .flat_map(|subject| options.trials.seeds().map(move |seed| (subject, seed)))
        .collect();
    let limit = options.limit.unwrap_or(options::LIMIT);
    let found = run_all(&runs, options.jobs, limit, options.explain)?;
    let mut found = found.into_iter();
    let of = |subject| Measured {
        subject,
        runs: found.by_ref().take(options.trials.seeds as usize).collect(),
    };
    Ok(subjects.iter().map(of).collect())
}

/// Runs each subject with its seed, `jobs` at a time on one thread each, or else one after another on all threads.
/// Reports each finished run on the standard error.
pub(crate) fn run_all(
    runs: &[(&Subject, u64)],
    jobs: Option<usize>,
    limit: Duration,
    explain: bool,
) -> io::Result<Vec<Result<Run>>> {
    let one = |&(subject, seed): &(&Subject, u64)| {
        let run = Run::new(subject, seed, limit);
        tell(subject, seed, &run, explain);
        run
    };
    let Some(jobs) = jobs else { return Ok(runs.iter().map(one).collect()) };
    let pool = Workers::of_single_threads(jobs, runs.len());
    let done = pool.run(runs.len(), |i| one(&runs[i]), |_, run| Ok(Some(run.flatten())));
    let done: Vec<(usize, Result<Run>)> =
        done.map_err(|error: adaann::Error| io::Error::other(error))?;
    Ok(done.into_iter().map(|(_, run)| run).collect())
}

/// Reports a finished run.
fn tell(subject: &Subject, seed: u64, run: &Result<Run>, explain: bool) {
    let name = &subject.name;
    match run {
        Ok(run) => {
            eprintln!("{name}, seed {seed}: {}", run.line());
            if explain {
                run.rungs.iter().for_each(|rung| eprintln!("    {rung}"));
                run.reasons.iter().for_each(|reason| eprintln!("    because {reason}"));
            }
        }
        Err(error) => eprintln!("{name}, seed {seed}: no answer: {error}"),
    }
}
