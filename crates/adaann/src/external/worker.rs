//! A program that is restarted after failures and then given the same batch again.

use crate::external::{
    Command,
    answer::{self, Abilities},
    process::{Failure, Process},
};
use crate::{Batch, Error, Result};

/// A running program, or one that has failed permanently.
pub(super) struct Worker {
    process: Process,
    /// The reply to the greeting; `None` before the first line.
    abilities: Option<Abilities>,
    restarts: usize,
    /// The failure that ended it permanently.
    failure: Option<String>,
}

impl Worker {
    /// Starts a program and sends it the names of the parameters.
    pub(super) fn start(command: &Command, names: &[String]) -> Result<Self> {
        let process = Process::start(command, names)?;
        Ok(Self { process, abilities: None, restarts: 0, failure: None })
    }

    /// The program's first line. A program that fails here is not restarted: it has never worked.
    pub(super) fn greet(&mut self, command: &Command) -> Result<Abilities> {
        let found = self.process.abilities();
        let abilities = found.map_err(|failure| Error::Target(words(command, &failure, 1)))?;
        self.abilities = Some(abilities);
        Ok(abilities)
    }

    /// The log likelihood and, if requested, its derivatives at some points of a batch, one point
    /// after another. The result comes from a single process that had the whole batch.
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
            // Restart before every try but the first.
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
        // The batch sizes and the gradients rely on the first reply.
        if self.abilities.is_some_and(|before| before != abilities) {
            let problem = "after a restart, its first line differs from the earlier one";
            return Err(Failure::without_words(problem.to_owned()));
        }
        Ok(())
    }

    /// How often it has been restarted.
    pub(super) fn restarts(&self) -> usize {
        self.restarts
    }

    /// Closes the program's input, after which it should exit by itself.
    pub(super) fn close(&mut self) {
        self.process.close();
    }
}

/// The message for a program that has failed.
fn words(command: &Command, failure: &Failure, tries: usize) -> String {
    let tried = match tries {
        1 => String::new(),
        tries => format!("; tried {tries} times"),
    };
    let Failure { problem, last_words } = failure;
    format!("{}: {problem}{tried}{last_words}", command.label())
}
