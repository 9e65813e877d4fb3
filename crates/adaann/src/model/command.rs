//! The posterior of a model whose likelihood is an external program, which is started on first use.

use super::Output;
use super::file::{Command, GradientName, Run};
use crate::external::{self, GradientBy, Simulator};
use crate::fit::overlay::Interval;
use crate::program::Program;
use crate::target::{Evaluation, Support, Target, Weights};
use crate::{Batch, Error, Result};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A prior and a likelihood from an external program. Reading a model does not start the program.
pub(super) struct Outside {
    prior: Program,
    supports: Vec<Support>,
    names: Vec<String>,
    command: external::Command,
    /// Overrides of the command's own retries and timeout.
    patience: Mutex<Patience>,
    started: OnceLock<Result<external::Posterior, Absent>>,
}

/// How often the program is restarted, and how long it may take.
#[derive(Debug, Clone, Copy, Default)]
struct Patience {
    retries: Option<usize>,
    timeout: Option<Interval>,
}

/// Why the program is not available.
enum Absent {
    /// It could not be started, or violated the protocol.
    Failed(String),
    /// Running it is forbidden.
    Forbidden,
}

impl Outside {
    pub(super) fn new(
        prior: Program,
        supports: Vec<Support>,
        names: Vec<String>,
        command: &Command,
        folder: &Path,
    ) -> Self {
        let program: Vec<String> = match &command.run {
            Run::Line(line) => line.text.split_whitespace().map(str::to_owned).collect(),
            Run::Words(words) => words.iter().map(|word| word.text.clone()).collect(),
        };
        let mut own = external::Command::new(program);
        own.folder = if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() };
        own.gradient = match command.gradient {
            GradientName::Auto => GradientBy::Auto,
            GradientName::Program => GradientBy::Program,
            GradientName::Differences => GradientBy::Differences,
        };
        own.timeout = command.timeout.map_or(own.timeout, Duration::from_secs_f64);
        Self {
            prior,
            supports,
            names,
            command: own,
            patience: Mutex::default(),
            started: OnceLock::new(),
        }
    }

    /// Sets retries and timeout for the program; a program that is already running keeps its own.
    pub(super) fn set_retry_policy(&self, output: &Output) {
        let given = Patience { retries: output.retries, timeout: output.command_timeout };
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner) = given;
    }

    /// The retries and timeout that were set.
    pub(super) fn patience(&self) -> Output {
        let Patience { retries, timeout } =
            *self.patience.lock().unwrap_or_else(PoisonError::into_inner);
        Output { retries, command_timeout: timeout, ..Output::default() }
    }

    /// The command with these overrides applied.
    fn patiently(&self) -> external::Command {
        let Patience { retries, timeout } =
            *self.patience.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = self.command.clone();
        command.retries = retries.unwrap_or(command.retries);
        command.timeout = match timeout {
            Some(Interval::Every(time)) => time,
            Some(Interval::Off) => Duration::MAX,
            None => command.timeout,
        };
        command
    }

    fn posterior(&self) -> Result<&external::Posterior> {
        let start = || {
            let simulator = Simulator::start(&self.patiently(), &self.names)?;
            let prior = Box::new(self.prior.clone());
            external::Posterior::new(prior, self.supports.clone(), simulator)
        };
        let failed = |error| match error {
            Error::Target(message) => Absent::Failed(message),
            other => Absent::Failed(other.to_string()),
        };
        let started = self.started.get_or_init(|| start().map_err(failed));
        started.as_ref().map_err(|absent| match absent {
            Absent::Failed(message) => Error::Target(message.clone()),
            Absent::Forbidden => Error::Forbidden {
                program: self.command.label(),
                folder: self.command.folder.display().to_string(),
            },
        })
    }

    /// How the program is called.
    pub(super) fn command(&self) -> &external::Command {
        &self.command
    }

    /// Forbids starting the program; a program that is already running continues.
    pub(super) fn forbid(&self) {
        let _ = self.started.set(Err(Absent::Forbidden));
    }
}

impl Target for Outside {
    fn dim(&self) -> usize {
        self.names.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.posterior()?.evaluate(points, gradient, out)
    }

    /// If the program is not available, gradients are assumed to need finite differences.
    fn values_per_gradient(&self, of: Weights) -> usize {
        let by_differences = 2 * self.dim() + 1;
        self.posterior().map_or(by_differences, |posterior| posterior.values_per_gradient(of))
    }

    fn wants_whole_batch(&self) -> bool {
        true
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        match self.started.get() {
            Some(Ok(posterior)) => posterior.notes(),
            _ => Vec::new(),
        }
    }
}
