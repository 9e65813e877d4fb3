//! How an external program is called, and the source of its gradients.

use super::pipes::shortened;
use std::{path::PathBuf, time::Duration};

/// How a program is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. A program with a slash in its name is a path relative to the
    /// folder; any other is looked up in `PATH`.
    pub program: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// The source of gradients.
    pub gradient: GradientBy,
    /// The time limit for the answer to a batch, and for the first line.
    pub timeout: Duration,
    /// How often it is restarted for one batch if it dies or returns an invalid line.
    pub retries: usize,
    /// The number of parallel processes; 0 for one per thread.
    pub processes: usize,
}

impl Command {
    /// A program in the current folder, with a time limit of one minute, three tries for each
    /// batch, and one process per thread.
    pub fn new(program: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            program: program.into_iter().map(Into::into).collect(),
            folder: ".".into(),
            gradient: GradientBy::Auto,
            timeout: Duration::from_secs(60),
            retries: 2,
            processes: 0,
        }
    }

    /// The program with its arguments, shortened to one line for messages.
    pub fn label(&self) -> String {
        let words = self.program.join(" ");
        shortened(words.lines().next().unwrap_or_default(), 60)
    }
}

/// The source of the gradient of an external likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientBy {
    /// From the program if it returns gradients, from differences otherwise.
    #[default]
    Auto,
    /// From the program; a program without gradients is refused.
    Program,
    /// From differences, even if the program returns gradients.
    Differences,
}
