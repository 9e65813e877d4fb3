//! A recorded model: one graph, and the meaning of its inputs and of some of its nodes.

use super::subjects::{RecordedJump, Subjects};
use crate::ode::Solver;
use crate::program::{Data, Gather, Graph, Inputs, Node, RowInput};
use crate::{Error, Result};

/// A recorded posterior. The inputs of the graph are the parameters, then the inputs of a row of
/// the data.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) graph: Graph,
    /// Inputs 0..parameters.
    pub(crate) parameters: usize,
    /// The meaning of each later input.
    pub(crate) row_inputs: Vec<RowInput>,
    /// Numbers of every row; a line never reads a number that is missing in its rows.
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) gathers: Vec<Gather>,
    /// A function of the parameters.
    pub(crate) log_prior: Node,
    /// Terms of the log likelihood without rows: a function of the parameters.
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
    /// Quantities read from trajectories: functions of the same arguments as the rates.
    pub(crate) readings: Vec<Node>,
    pub(crate) initial: Vec<Node>,
    /// The kinds of jumps of the states.
    pub(crate) jumps: Vec<RecordedJump>,
    /// Times that are functions of parameters.
    pub(crate) moments: Vec<Node>,
    pub(crate) solver: Solver,
    /// How long it runs before its start.
    pub(crate) settle: f64,
    /// The time of each row; within a subject, times do not decrease.
    pub(crate) times: Vec<f64>,
    pub(crate) subjects: Subjects,
    /// The numbers of the stretch that each row ends, one list for each number.
    pub(crate) stretches: Vec<Vec<f64>>,
}

/// Values that are carried from row to row.
#[derive(Debug, Clone)]
pub(crate) struct RecordedSeries {
    /// Their values at the first row of a group: functions of the parameters and the row.
    pub(crate) start: Vec<Node>,
    /// Their values at a later row: functions of the parameters, the row, and themselves at the row
    /// before.
    pub(crate) next: Vec<Node>,
    /// The log likelihood term of the last row of a group, if any.
    pub(crate) last: Option<Node>,
    /// The rows in the order of the loop, group by group.
    pub(crate) order: Vec<u32>,
    /// Whether each of these begins a group.
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

    /// The number of rows in the table.
    pub(super) fn rows(&self) -> usize {
        let lengths = self.columns.iter().map(Vec::len);
        let gathers = self.gathers.iter().map(|gather| gather.index.len());
        let times = self.system.iter().map(|system| system.times.len());
        let named = self.lines.iter().flat_map(|line| &line.rows).map(|row| *row as usize + 1);
        lengths.chain(gathers).chain(times).min().unwrap_or(named.max().unwrap_or(0))
    }

    /// Refuses references to missing columns, states, rows and elements.
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
                "a likelihood refers to row {} of data with {rows} rows",
                row + 1
            )));
        }
        for gather in &self.gathers {
            let beyond = |(_, index): &(usize, &u32)| **index as usize >= gather.vector.len();
            if let Some((row, index)) = gather.index.iter().enumerate().find(beyond) {
                return Err(Error::Data(format!(
                    "row {} of the data refers to element {} of a vector of length {}",
                    row + 1,
                    u64::from(*index) + 1,
                    gather.vector.len()
                )));
            }
        }
        Ok(())
    }
}
