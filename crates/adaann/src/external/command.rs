//! How a program outside is called, and where gradients come from.

use super::pipes::shortened;
use std::{path::PathBuf, time::Duration};

/// How a program is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. A program with a slash in its name is a file, seen from the
    /// folder; any other is looked for as the shell does.
    pub program: Vec<String>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Where gradients come from.
    pub gradient: GradientBy,
    /// How long it may take for the answer to a batch, and for its first line.
    pub timeout: Duration,
    /// How often it is started again for one batch, if it dies or what it says is no answer.
    pub retries: usize,
    /// How many processes run at once; 0 for as many as there are threads.
    pub processes: usize,
}

impl Command {
    /// A program in the current folder, with a minute and three tries for each batch, and as many processes
    /// as there are threads.
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

    /// The program with its arguments, as messages show it: one line, and not a long one.
    pub fn label(&self) -> String {
        let words = self.program.join(" ");
        shortened(words.lines().next().unwrap_or_default(), 60)
    }
}

/// Where the gradient of a likelihood outside comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientBy {
    /// From the program if it says so, from differences otherwise.
    #[default]
    Auto,
    /// From the program; one that gives none is refused.
    Program,
    /// From differences, whatever the program says.
    Differences,
}
