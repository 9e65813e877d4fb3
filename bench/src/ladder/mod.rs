//! The ladder on targets with known answers: is it right, does it know, and what does it cost?

mod components;
mod goals;
mod logistic;
mod matrices;
mod models;
mod nuts;
mod options;
mod peers;
mod registered;
mod right;
mod rosenbrock;
mod run;
pub(crate) mod sabotage;
mod subject;
mod table;
mod targets;
pub(crate) mod verdicts;

pub(crate) use options::LadderOptions;

use adaann::{Result, crew::Crew};
use run::Run;
use std::io;
use subject::Subject;
use table::Measured;

/// Runs every target with every seed; prints a line for each target and a closing count and
/// what was asked beside what was found.
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
    let one = |&(subject, seed): &(&Subject, u64)| {
        let run = Run::new(subject, seed, options.limit.unwrap_or(options::LIMIT));
        tell(subject, seed, &run, options.explain);
        run
    };
    let found: Vec<Result<Run>> = match options.jobs {
        None => runs.iter().map(one).collect(),
        Some(jobs) => {
            let crew = Crew::of_single_threads(jobs, runs.len());
            let done = crew.run(runs.len(), |i| one(&runs[i]), |_, run| Ok(Some(run.flatten())));
            let done: Vec<(usize, Result<Run>)> =
                done.map_err(|error: adaann::Error| io::Error::other(error))?;
            done.into_iter().map(|(_, run)| run).collect()
        }
    };
    let mut found = found.into_iter();
    let of = |subject| Measured {
        subject,
        runs: found.by_ref().take(options.trials.seeds as usize).collect(),
    };
    Ok(subjects.iter().map(of).collect())
}

/// A run as it ends, for whoever waits.
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
