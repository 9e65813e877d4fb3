//! Sequential Monte Carlo on the target of a session.

use crate::{
    args::{Cli, Command},
    commands::smc,
    embed::{Failure, Running, Session, Word, failure::as_argument},
    job::{display::Listener, interrupt, progress::Progress, threads::pool},
};
use adaann::{Batch, budget::Budget, checkpoint::Ledger, fit::overlay::Interval};
use clap::Parser;
use std::{ffi::OsString, sync::Arc};

/// The results of sequential Monte Carlo.
pub struct Particles {
    run: smc::Run,
    columns: Vec<String>,
}

impl Session {
    /// Samples by sequential Monte Carlo; settings have the names of the flags of `adaann smc`.
    ///
    /// # Errors
    /// If a setting is wrong, or the run fails.
    pub fn particles<N: AsRef<str>>(
        self,
        words: impl IntoIterator<Item = (N, Word)>,
        shows: impl Fn(f64, &str) + Send + Sync + 'static,
    ) -> Result<Particles, Failure> {
        let subject = self.job.subject;
        let args = parsed(words)?;
        let mut record = smc::settings::record(self.job.record.target.clone());
        let fit = subject.problem.settings.clone();
        record.settings = smc::settings::settings(&args, &fit, &subject)?;
        let budget =
            Budget::new(args.output.max_evaluations, args.output.max_time.and_then(Interval::time));
        let afforded = smc::afford::within(budget, &subject, &mut record, None)?;
        let _running = Running::new();
        let progress = Progress::Told(Listener(Arc::new(shows)));
        let mut ledger = Ledger::off().urgent_when(interrupt::flag());
        let run = pool(args.output.threads)?.install(|| {
            smc::Run::new(&subject, &record, None, &progress, &afforded, &mut ledger)
        })?;
        Ok(Particles { run, columns: subject.columns() })
    }
}

fn parsed<N: AsRef<str>>(
    words: impl IntoIterator<Item = (N, Word)>,
) -> Result<crate::args::SmcArgs, Failure> {
    let mut flags: Vec<OsString> = ["adaann", "smc", "target"].map(OsString::from).to_vec();
    for (name, word) in words {
        let flag = format!("--{}", name.as_ref().replace('_', "-"));
        match word {
            Word::Switch(true) => flags.push(flag.into()),
            Word::Switch(false) => {}
            Word::Text(text) => flags.push(format!("{flag}={text}").into()),
        }
    }
    let parsed = Cli::try_parse_from(flags).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failure::usage(as_argument_words(first))
    })?;
    match parsed.command {
        Command::Smc(args) => Ok(*args),
        _ => unreachable!("the command is given"),
    }
}

/// Writes the flags in a line of the parser as arguments.
fn as_argument_words(line: &str) -> String {
    let word = |word: &str| match word.find("--") {
        Some(at) => format!("{}{}", &word[..at], as_argument(&word[at + 2..])),
        None => word.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

impl Particles {
    /// The contents of `summary.json` of `adaann smc`.
    pub fn summary(&self) -> serde_json::Value {
        serde_json::from_str(&self.run.summary.to_json()).expect("it was written as JSON")
    }

    /// The names of the columns of particles: coordinates, then derived quantities.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The particles, in the target's coordinates.
    pub fn points(&self) -> &Batch {
        &self.run.population.points
    }

    /// Derived quantities at each particle, if the target has any.
    pub fn quantities(&self) -> Option<&Batch> {
        self.run.quantities.as_ref()
    }

    /// log p at each particle, not normalised.
    pub fn log_p(&self) -> &[f64] {
        &self.run.population.log_p
    }

    /// The weight of each particle; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.run.population.weights
    }
}
