//! Messages to ranks: descriptions of targets, and requests beyond their evaluation.

use adaann::{answer::Plan, checkpoint::Header, model::Output, registry::Table};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A complete description of a target. Ranks need no files except the external program of a model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Described {
    /// A registered density.
    Density {
        name: String,
        parameters: Vec<(String, f64)>,
        preset: Option<String>,
        /// Its data, if it has some.
        data: Option<(Vec<String>, Vec<Vec<f64>>)>,
    },
    /// A model file.
    Model {
        text: String,
        /// The folder of the program that it names.
        folder: PathBuf,
        /// Copies of data and inputs, by their names in a run folder.
        files: Vec<(String, String)>,
        retries: Option<usize>,
        /// Time limit of that program for a batch, in seconds; infinite for none.
        timeout: Option<f64>,
    },
}

impl Described {
    /// The columns and rows of a table.
    pub(crate) fn of_table(table: &Table) -> (Vec<String>, Vec<Vec<f64>>) {
        (table.names.clone(), table.rows.clone())
    }

    /// The settings for retries and timeout of the model's program.
    pub(crate) fn patience(retries: Option<usize>, timeout: Option<f64>) -> Output {
        use adaann::fit::overlay::Interval;
        let interval = |seconds: f64| match std::time::Duration::try_from_secs_f64(seconds) {
            Ok(time) => Interval::Every(time),
            Err(_) => Interval::Off,
        };
        Output { retries, command_timeout: timeout.map(interval), ..Output::default() }
    }
}

/// The message that announces a target to every rank.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The number of the target in questions.
    pub(crate) number: u64,
    pub(crate) described: Described,
}

/// The checkpoint state of work on another rank; rank 0 stores the checkpoints.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptHere {
    /// Seconds between checkpoints.
    pub(crate) every: f64,
    /// The header of the checkpoints.
    pub(crate) header: Header,
    /// The last checkpoint, if any.
    pub(crate) last: Option<Vec<u8>>,
}

/// A request for longer work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// A trial of a calibration.
    Trial { subject: u64, fit: Plan, draws: usize, seed: u64, number: usize },
    /// A flow from one of several seeds.
    Seed {
        subject: u64,
        plan: Plan,
        seed: u64,
        /// Maximum numbers of evaluations and seconds.
        most: (Option<usize>, Option<f64>),
        /// Number of draws for the comparison of seeds.
        draws: usize,
        /// `None` if checkpoints are off.
        kept: Option<KeptHere>,
    },
    /// A trial of the paper's experiments.
    Paper { run: String, value: Option<f64>, number: usize },
}
