//! What ranks are told of a target, and the work that they are asked for beside its evaluation.

use adaann::{answer::Plan, checkpoint::Header, model::Output, registry::Table};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is made elsewhere, with all that it takes: ranks need no files but a program that a model names.
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
        /// Where a program that it names is.
        folder: PathBuf,
        /// Copies of data and inputs, by their names in a run folder.
        files: Vec<(String, String)>,
        retries: Option<usize>,
        /// Seconds for a batch of that program; infinite for as long as it takes.
        timeout: Option<f64>,
    },
}

impl Described {
    /// The columns and rows of a table.
    pub(crate) fn of_table(table: &Table) -> (Vec<String>, Vec<Vec<f64>>) {
        (table.names.clone(), table.rows.clone())
    }

    /// The patience that the model is to have.
    pub(crate) fn patience(retries: Option<usize>, timeout: Option<f64>) -> Output {
        use adaann::fit::overlay::Interval;
        let interval = |seconds: f64| match std::time::Duration::try_from_secs_f64(seconds) {
            Ok(time) => Interval::Every(time),
            Err(_) => Interval::Off,
        };
        Output { retries, command_timeout: timeout.map(interval), ..Output::default() }
    }
}

/// What every rank is told before it is asked about it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The number by which questions refer to it.
    pub(crate) number: u64,
    pub(crate) described: Described,
}

/// What a rank needs to go on with work of which rank 0 keeps the checkpoints.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptHere {
    /// Seconds between checkpoints.
    pub(crate) every: f64,
    /// What stands at their head.
    pub(crate) header: Header,
    /// The last one, if there is one.
    pub(crate) last: Option<Vec<u8>>,
}

/// Work for a rank that takes a while.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// A trial of a calibration.
    Trial { subject: u64, fit: Plan, draws: usize, seed: u64, number: usize },
    /// A flow from one of several seeds.
    Seed {
        subject: u64,
        plan: Plan,
        seed: u64,
        /// Evaluations and seconds that it may take.
        most: (Option<usize>, Option<f64>),
        /// Draws that it is compared with others by.
        draws: usize,
        /// None where nothing is kept.
        kept: Option<KeptHere>,
    },
    /// A trial of the paper's experiments.
    Paper { run: String, value: Option<f64>, number: usize },
}
