//! The lines of a model that see the states of a system of equations.

use super::quantities::Quantities;
use super::recorded::{Line, Recorded, RecordedSystem};
use crate::ode::{Likelihood, Measured, Solution, Solver, System, solve};
use crate::program::{
    Function, Graph, Inputs, Node, Numbered, RowInput, RowPart, Source, free_of_rows, split,
};
use crate::{Batch, Error, Result};
use std::collections::HashMap;

/// A system whose parameters are values that are worked out once for each sample.
#[derive(Debug)]
pub(crate) struct Dynamics {
    system: System,
    solver: Solver,
    quantities: Quantities,
}

impl Dynamics {
    /// The system of a model.
    ///
    /// # Errors
    /// If there is none, or its rates depend on the data.
    pub(crate) fn new(recorded: &Recorded) -> Result<Self> {
        let Some(of) = &recorded.system else {
            return Err(Error::Target("the model has no system of equations".into()));
        };
        let mut crossing = Numbered::default();
        let equations = Equations::new(&recorded.graph, recorded.inputs(), of, &mut crossing)?;
        let system = equations.system(of, crossing.items.len())?;
        let quantities = Quantities::new(&recorded.graph, recorded.parameters, &crossing.items);
        Ok(Self { system, solver: of.solver, quantities })
    }

    /// The states at some times, which do not fall, for each point of the parameters.
    ///
    /// # Errors
    /// As [`solve`] says.
    pub(crate) fn solve(&self, points: &Batch, times: &[f64]) -> Result<Solution> {
        solve(&self.system, &self.solver, &self.quantities.evaluate(points)?, times)
    }
}

/// The terms of a log likelihood that see states: `outside` and a function of the crossing values.
pub(super) struct Observed {
    pub(super) outside: Node,
    pub(super) likelihood: Likelihood,
    pub(super) crossing: Vec<Node>,
}

/// Compiles the lines that see states. There is a row at least.
pub(super) fn observe(
    graph: &mut Graph,
    recorded: &Recorded,
    of: &RecordedSystem,
    lines: &[&Line],
) -> Result<Observed> {
    let inputs = recorded.inputs();
    let mut outside = graph.constant(0.0);
    let mut nodes = Vec::new();
    for line in lines {
        let (free, rest) = free_of_rows(graph, inputs, line.log_density);
        let count = graph.constant(line.rows.len() as f64);
        let counted = graph.mul(count, free);
        outside = graph.add(outside, counted);
        nodes.push(rest);
    }
    let mut crossing = Numbered::default();
    let equations = Equations::new(graph, inputs, of, &mut crossing)?;
    let part = split(graph, inputs, &nodes);
    let measured = measure(recorded, of, lines, &part, &mut crossing)?;
    let system = equations.system(of, crossing.items.len())?;
    let likelihood = Likelihood::new(&system, &of.solver, &measured, None)?;
    Ok(Observed { outside, likelihood, crossing: crossing.items })
}

/// Rates and initial states as functions of crossing values.
struct Equations {
    rates: RowPart,
    /// What each input of the rates is: a state, or a crossing value.
    arguments: Vec<Argument>,
    initial: Vec<Initial>,
}

#[derive(Clone, Copy)]
enum Argument {
    State(usize),
    Crossing(usize),
}

enum Initial {
    Number(f64),
    Crossing(usize),
}

impl Equations {
    fn new(
        graph: &Graph,
        inputs: Inputs<'_>,
        of: &RecordedSystem,
        crossing: &mut Numbered<Node>,
    ) -> Result<Self> {
        let rates = split(graph, inputs, &of.rates);
        let of_data = || {
            Err(Error::Target(
                "the rates of a system depend on time, states and parameters only, \
                               not on columns of the data"
                    .into(),
            ))
        };
        if rates.uniforms.iter().any(|uniform| *uniform != RowInput::Time) {
            return of_data();
        }
        let mut arguments = Vec::new();
        for source in &rates.inputs {
            arguments.push(match *source {
                Source::Crossing(node) => Argument::Crossing(crossing.number(node) as usize),
                Source::Row(RowInput::State(state)) => Argument::State(state),
                Source::Row(_) => return of_data(),
            });
        }
        let initial = |&node: &Node| match graph.as_constant(node) {
            Some(value) => Initial::Number(value),
            None => Initial::Crossing(crossing.number(node) as usize),
        };
        Ok(Self { initial: of.initial.iter().map(initial).collect(), rates, arguments })
    }

    fn system(&self, of: &RecordedSystem, parameters: usize) -> Result<System> {
        let states = of.names.len();
        let mut graph = Graph::new();
        let z: Vec<Node> =
            (0..1 + states + parameters).map(|input| graph.input(input as u32)).collect();
        let argument = |argument: &Argument| match *argument {
            Argument::State(state) => z[1 + state],
            Argument::Crossing(number) => z[1 + states + number],
        };
        let arguments: Vec<Node> = self.arguments.iter().map(argument).collect();
        let times = vec![z[0]; self.rates.uniforms.len()];
        let rates = self.rates.at(&mut graph, &self.rates.outputs, &times, &arguments);
        let derivative = Function::new(z.len(), (graph, rates));
        let mut graph = Graph::new();
        let initial = |initial: &Initial| match *initial {
            Initial::Number(value) => graph.constant(value),
            Initial::Crossing(number) => graph.input(number as u32),
        };
        let start: Vec<Node> = self.initial.iter().map(initial).collect();
        let initial = Function::new(parameters, (graph, start));
        System::from_functions(&of.names, parameters, derivative, of.start, initial)
    }
}

/// What each row says of the states at its time.
fn measure(
    recorded: &Recorded,
    of: &RecordedSystem,
    lines: &[&Line],
    part: &RowPart,
    crossing: &mut Numbered<Node>,
) -> Result<Measured> {
    let mut present = vec![vec![false; lines.len()]; of.times.len()];
    for (number, line) in lines.iter().enumerate() {
        line.rows.iter().for_each(|row| present[*row as usize][number] = true);
    }
    let rows: Vec<u32> =
        (0..of.times.len() as u32).filter(|row| present[*row as usize].contains(&true)).collect();
    check_times(of, &rows)?;
    let uniforms = recorded.data(&rows).uniforms(&part.uniforms);
    let width = part.uniforms.len();
    let (mut patterns, mut numbers, mut each) = (Vec::new(), HashMap::new(), Vec::new());
    for (k, &row) in rows.iter().enumerate() {
        let row = row as usize;
        // Rows that take other elements of a vector are other functions of the crossing values.
        let input = |source: &Source| match *source {
            Source::Crossing(node) => of.names.len() as u32 + crossing.number(node),
            Source::Row(RowInput::Gather(gather)) => {
                let gather = &recorded.gathers[gather];
                let node = gather.vector[gather.index[row] as usize];
                of.names.len() as u32 + crossing.number(node)
            }
            Source::Row(RowInput::State(state)) => state as u32,
            Source::Row(_) => unreachable!("numbers of a row are uniforms"),
        };
        let inputs: Vec<u32> = part.inputs.iter().map(input).collect();
        let key = (std::mem::take(&mut present[row]), inputs);
        let pattern = *numbers.entry(key).or_insert_with_key(|(present, inputs)| {
            patterns.push(pattern(part, present, inputs));
            patterns.len() - 1
        });
        each.push((pattern, uniforms[k * width..][..width].to_vec()));
    }
    let times = rows.iter().map(|row| of.times[*row as usize]).collect();
    Ok(Measured { times, patterns, of: each })
}

/// The log density of the lines that are present, with these inputs for those of the part.
fn pattern(part: &RowPart, present: &[bool], inputs: &[u32]) -> (Graph, Node) {
    let mut graph = Graph::new();
    let inputs: Vec<Node> = inputs.iter().map(|input| graph.input(*input)).collect();
    let uniforms: Vec<Node> =
        (0..part.uniforms.len()).map(|uniform| graph.uniform(uniform as u32)).collect();
    let own = part.outputs.iter().zip(present).filter(|(_, present)| **present);
    let outputs: Vec<Node> = own.map(|(node, _)| *node).collect();
    let lines = part.at(&mut graph, &outputs, &uniforms, &inputs);
    let zero = graph.constant(0.0);
    let sum = lines.into_iter().fold(zero, |sum, line| graph.add(sum, line));
    (graph, sum)
}

fn check_times(of: &RecordedSystem, rows: &[u32]) -> Result<()> {
    let time = |row: u32| of.times[row as usize];
    for &row in rows {
        if !time(row).is_finite() || time(row) < of.start {
            return Err(Error::Data(format!(
                "row {} of the data has time {}, but times are finite and not before the start of \
                 the system at {}",
                row + 1,
                time(row),
                of.start
            )));
        }
    }
    match rows.windows(2).find(|pair| time(pair[0]) > time(pair[1])) {
        Some(pair) => Err(Error::Data(format!(
            "time {} of the data comes after {}; sort the rows by time (row {})",
            time(pair[1]),
            time(pair[0]),
            pair[1] + 1
        ))),
        None => Ok(()),
    }
}
