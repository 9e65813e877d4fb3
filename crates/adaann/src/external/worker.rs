//! One program that is kept running: when it fails it is started again, and asked for the same.

use crate::external::{
    Command,
    answer::{self, Abilities},
    process::{Failure, Process},
};
use crate::{Batch, Error, Result};

/// A program that answers, or has failed for good.
pub(super) struct Worker {
    process: Process,
    /// What it can do; none before its first line.
    abilities: Option<Abilities>,
    restarts: usize,
    /// What it was that ended it for good.
    failure: Option<String>,
}

impl Worker {
    /// Starts a program and tells it the names of the parameters.
    pub(super) fn start(command: &Command, names: &[String]) -> Result<Self> {
        let process = Process::start(command, names)?;
        Ok(Self { process, abilities: None, restarts: 0, failure: None })
    }

    /// The program's first line. One that fails here is not started again: it has never worked.
    pub(super) fn greet(&mut self, command: &Command) -> Result<Abilities> {
        let found = self.process.abilities();
        let abilities = found.map_err(|failure| Error::Target(words(command, &failure, 1)))?;
        self.abilities = Some(abilities);
        Ok(abilities)
    }

    /// The log likelihood, and its derivatives if asked for, at some points of a batch, one point
    /// after another. The answer is that of one program that had all of the batch.
    pub(super) fn ask(
        &mut self,
        command: &Command,
        names: &[String],
        points: &Batch,
        chosen: &[usize],
        gradient: bool,
    ) -> Result<Vec<f64>> {
        if let Some(failure) = &self.failure {
            return Err(Error::Target(failure.clone()));
        }
        let request = answer::request(points, chosen, gradient)?;
        let mut tries = 0;
        loop {
            // A new one for every try but the first.
            let ready = if tries == 0 { Ok(()) } else { self.start_again(command, names) };
            let found = ready
                .and_then(|()| self.process.ask(request.clone(), points, chosen, gradient, names));
            tries += 1;
            match found {
                Ok(numbers) => return Ok(numbers),
                Err(_) if tries <= command.retries => {}
                Err(failure) => {
                    let failure = words(command, &failure, tries);
                    self.failure = Some(failure.clone());
                    return Err(Error::Target(failure));
                }
            }
        }
    }

    fn start_again(&mut self, command: &Command, names: &[String]) -> Result<(), Failure> {
        let not_started = |error| match error {
            Error::Target(message) => Failure::without_words(message),
            other => Failure::without_words(other.to_string()),
        };
        self.restarts += 1;
        self.process = Process::start(command, names).map_err(not_started)?;
        let abilities = self.process.abilities()?;
        // Points were cut into batches, and gradients promised, by what it said before.
        if self.abilities.is_some_and(|before| before != abilities) {
            let problem = "started again, its first line says something else than before";
            return Err(Failure::without_words(problem.to_owned()));
        }
        Ok(())
    }

    /// How often it was started again.
    pub(super) fn restarts(&self) -> usize {
        self.restarts
    }

    /// Ends the program's input, after which it should end by itself.
    pub(super) fn close(&mut self) {
        self.process.close();
    }
}

/// What is said of a program that has failed.
fn words(command: &Command, failure: &Failure, tries: usize) -> String {
    let tried = match tries {
        1 => String::new(),
        tries => format!("; tried {tries} times"),
    };
    let Failure { problem, last_words } = failure;
    format!("{}: {problem}{tried}{last_words}", command.label())
}
