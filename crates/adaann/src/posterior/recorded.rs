//! What a model says: one graph, and what its inputs and some of its nodes mean.

use super::subjects::{RecordedJump, Subjects};
use crate::ode::Solver;
use crate::program::{Data, Gather, Graph, Inputs, Node, RowInput};
use crate::{Error, Result};

/// A posterior as it was recorded. Inputs of the graph are the parameters, then what a row of the data
/// brings.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) graph: Graph,
    /// Inputs 0..parameters.
    pub(crate) parameters: usize,
    /// What each input behind them stands for.
    pub(crate) row_inputs: Vec<RowInput>,
    /// Numbers of every row; what is missing in a row is not read by the lines that it is present for.
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) gathers: Vec<Gather>,
    /// A function of parameters.
    pub(crate) log_prior: Node,
    /// Terms of the log likelihood that have no rows: a function of parameters.
    pub(crate) direct: Node,
    pub(crate) lines: Vec<Line>,
    pub(crate) system: Option<RecordedSystem>,
    pub(crate) series: Option<RecordedSeries>,
}

/// A term of the log likelihood for each of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) log_density: Node,
    /// The rows in which it is present.
    pub(crate) rows: Vec<u32>,
}

/// x' = rates(t, x, parameters) from x(start) = initial(parameters), for each subject.
#[derive(Debug, Clone)]
pub(crate) struct RecordedSystem {
    pub(crate) names: Vec<String>,
    pub(crate) rates: Vec<Node>,
    /// What is read off trajectories: functions of all that rates are functions of.
    pub(crate) readings: Vec<Node>,
    pub(crate) initial: Vec<Node>,
    /// Ways in which states jump.
    pub(crate) jumps: Vec<RecordedJump>,
    /// Times that are functions of parameters.
    pub(crate) moments: Vec<Node>,
    pub(crate) solver: Solver,
    /// How long it runs before its start.
    pub(crate) settle: f64,
    /// The time of each row; those of a subject do not fall.
    pub(crate) times: Vec<f64>,
    pub(crate) subjects: Subjects,
    /// The numbers of the stretch that each row ends, one list for each number.
    pub(crate) stretches: Vec<Vec<f64>>,
}

/// Numbers that are carried from row to row.
#[derive(Debug, Clone)]
pub(crate) struct RecordedSeries {
    /// What they are at the first row of a group: functions of parameters and the row.
    pub(crate) start: Vec<Node>,
    /// What they are at a later row: functions of parameters, the row, and themselves at the row before.
    pub(crate) next: Vec<Node>,
    /// What the last row of a group adds to the log likelihood, if anything.
    pub(crate) last: Option<Node>,
    /// The rows in the order in which they are walked through, group by group.
    pub(crate) order: Vec<u32>,
    /// Does each of these begin a group?
    pub(crate) begins: Vec<bool>,
}

impl Recorded {
    pub(super) fn inputs(&self) -> Inputs<'_> {
        Inputs { parameters: self.parameters, of_rows: &self.row_inputs }
    }

    pub(super) fn data<'a>(&'a self, rows: &'a [u32]) -> Data<'a> {
        let system = self.system.as_ref();
        let times = system.map_or(&[][..], |system| &system.times);
        let stretches = system.map_or(&[][..], |system| &system.stretches);
        Data { columns: &self.columns, times, stretches, gathers: &self.gathers, rows }
    }

    /// How many rows the table has.
    pub(super) fn rows(&self) -> usize {
        let lengths = self.columns.iter().map(Vec::len);
        let gathers = self.gathers.iter().map(|gather| gather.index.len());
        let times = self.system.iter().map(|system| system.times.len());
        let named = self.lines.iter().flat_map(|line| &line.rows).map(|row| *row as usize + 1);
        lengths.chain(gathers).chain(times).min().unwrap_or(named.max().unwrap_or(0))
    }

    /// Refuses columns, states, rows and elements that are not there.
    pub(super) fn check(&self) -> Result<()> {
        let states = self.system.as_ref().map(|system| system.names.len());
        let is_there = |input: &RowInput| match *input {
            RowInput::Column(column) => column < self.columns.len(),
            RowInput::Gather(gather) => gather < self.gathers.len(),
            RowInput::Time => states.is_some(),
            RowInput::State(state) => states.is_some_and(|states| state < states),
            RowInput::Carried(number) => {
                self.series.as_ref().is_some_and(|series| number < series.next.len())
            }
            RowInput::Stretch(_) | RowInput::Event(_) | RowInput::Trajectory(_) => states.is_some(),
        };
        if let Some(input) = self.row_inputs.iter().find(|input| !is_there(input)) {
            return Err(Error::Target(format!(
                "the model reads {input:?}, which it does not have"
            )));
        }
        let rows = self.rows();
        let row = self.lines.iter().flat_map(|line| &line.rows).find(|row| **row as usize >= rows);
        if let Some(row) = row {
            return Err(Error::Data(format!(
                "a likelihood asks for row {} of data that has {rows} rows",
                row + 1
            )));
        }
        for gather in &self.gathers {
            let beyond = |(_, index): &(usize, &u32)| **index as usize >= gather.vector.len();
            if let Some((row, index)) = gather.index.iter().enumerate().find(beyond) {
                return Err(Error::Data(format!(
                    "row {} of the data asks for element {} of a vector that has {}",
                    row + 1,
                    u64::from(*index) + 1,
                    gather.vector.len()
                )));
            }
        }
        Ok(())
    }
}
