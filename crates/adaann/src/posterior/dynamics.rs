//! The lines of a model that depend on the states of a system of equations, and the states by
//! themselves.

use super::equations::{Equations, Slots, shared};
use super::quantities::Quantities;
use super::recorded::{Line, Recorded, RecordedSystem};
use crate::ode::{Course, Does, Likelihood, Measured, Solver, Stop, System, solve_courses};
use crate::program::{
    Graph, Group, Node, Numbered, RowInput, RowPart, Source, at_groups, free_of_rows, split_within,
};
use crate::{Batch, Error, Result};
use std::collections::HashMap;

/// A system whose parameters are values computed once per sample, and the courses of its subjects
/// through all rows.
#[derive(Debug)]
pub(crate) struct Dynamics {
    system: System,
    solver: Solver,
    quantities: Quantities,
    /// Each course, with the row of each stop that belongs to one.
    courses: Vec<(Course, Vec<Option<u32>>)>,
    rows: usize,
}

impl Dynamics {
    /// The system of a model.
    ///
    /// # Errors
    /// If there is no system, its equations depend on data that differ within subjects, or times
    /// come before the start or decrease.
    pub(crate) fn new(recorded: &Recorded) -> Result<Self> {
        let Some(of) = &recorded.system else {
            return Err(Error::Target("the model has no system of equations".into()));
        };
        if of.times.is_empty() {
            return Err(Error::Data("there are no rows to solve the system for".into()));
        }
        let mut graph = recorded.graph.clone();
        let (mut slots, is_shared) = (Slots::default(), shared(recorded, of));
        let equations = Equations::new(&graph, recorded.inputs(), of, &is_shared, &mut slots)?;
        let mut values = Numbered::default();
        let all = 0..of.times.len() as u32;
        let rows: Vec<Vec<u32>> =
            of.subjects.rows(all.filter(|row| !of.times[*row as usize].is_nan()));
        check_times(of, &rows)?;
        let mut courses = Vec::new();
        for (subject, arguments) in
            arguments(&mut graph, recorded, of, &slots, &mut values).into_iter().enumerate()
        {
            let looks = rows[subject].iter().map(|&row| (row, Does::Nothing)).collect();
            courses.extend(course(recorded, of, &equations, subject, arguments, looks));
        }
        let system = equations.system(of, slots.items.len())?;
        let quantities = Quantities::new(&graph, recorded.parameters, &values.items);
        Ok(Self { system, solver: of.solver, quantities, courses, rows: of.times.len() })
    }

    /// The states in every row, for each point of the parameters; NaN for non-finite trajectories.
    ///
    /// # Errors
    /// If the points have another dimension, or the solver's settings are out of range.
    pub(crate) fn states(&self, points: &Batch) -> Result<Vec<Batch>> {
        let values = self.quantities.evaluate(points)?;
        let mut nothing = Batch::zeros(self.system.states().len(), points.len());
        (0..nothing.dim()).for_each(|state| nothing.row_mut(state).fill(f64::NAN));
        let mut states = vec![nothing.clone(); self.rows];
        let courses: Vec<Course> = self.courses.iter().map(|(course, _)| course.clone()).collect();
        let solutions = solve_courses(&self.system, &self.solver, &courses, &values)?;
        for ((_, rows), mut solution) in self.courses.iter().zip(solutions) {
            for (row, mut own) in rows.iter().zip(solution.states.drain(..)) {
                let Some(row) = *row else { continue };
                for (i, _) in solution.lost.iter().enumerate().filter(|(_, lost)| **lost) {
                    (0..own.dim()).for_each(|state| own.row_mut(state)[i] = f64::NAN);
                }
                states[row as usize] = own;
            }
        }
        Ok(states)
    }
}

/// Rows with something to compute, in the order of time.
type Looks = Vec<(u32, Does)>;

/// A function of states and slots, with uniforms.
type LogDensity = (Graph, Node);

/// The log likelihood terms that depend on states: `outside` and a function of the crossing values.
pub(super) struct Observed {
    pub(super) outside: Node,
    pub(super) likelihood: Likelihood,
    pub(super) crossing: Vec<Node>,
}

/// Compiles the lines that depend on states. There is at least one row.
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
    let (mut slots, is_shared) = (Slots::default(), shared(recorded, of));
    let equations = Equations::new(graph, inputs, of, &is_shared, &mut slots)?;
    let part = split_within(graph, inputs, &is_shared, &nodes);
    let (patterns, looks) = measure(recorded, of, lines, &part, &mut slots)?;
    let mut crossing = Numbered::default();
    let mut courses = Vec::new();
    let arguments = arguments(graph, recorded, of, &slots, &mut crossing);
    for (subject, (arguments, looks)) in arguments.into_iter().zip(looks).enumerate() {
        let course = course(recorded, of, &equations, subject, arguments, looks);
        courses.extend(course.map(|(course, _)| course));
    }
    let system = equations.system(of, slots.items.len())?;
    let measured = Measured { patterns, courses };
    let likelihood = Likelihood::new(&system, &of.solver, &measured, None)?;
    Ok(Observed { outside, likelihood, crossing: crossing.items })
}

/// For each subject, the indices of its slots' values.
pub(super) fn arguments(
    graph: &mut Graph,
    recorded: &Recorded,
    of: &RecordedSystem,
    slots: &Slots,
    values: &mut Numbered<Node>,
) -> Vec<Vec<usize>> {
    let groups: Vec<Group> = of.subjects.first_rows().into_iter().map(Group).collect();
    let data = recorded.data(&[]);
    let nodes = at_groups(graph, recorded.inputs(), data, &slots.items, &groups);
    let mut number = |node: Node| values.number(node) as usize;
    nodes.into_iter().map(|own| own.into_iter().map(&mut number).collect()).collect()
}

/// The course of a subject through the rows with something to compute, and its events until the
/// last of these rows. Also returns the row of each stop. `None` without such rows.
fn course(
    recorded: &Recorded,
    of: &RecordedSystem,
    equations: &Equations,
    subject: usize,
    arguments: Vec<usize>,
    rows: Looks,
) -> Option<(Course, Vec<Option<u32>>)> {
    let (subjects, data) = (&of.subjects, recorded.data(&[]));
    let end = of.times[rows.last()?.0 as usize];
    let any_row = rows[0].0;
    let mut own = subjects.stretches[subject].clone();
    let (mut stops, mut rows_of) = (Vec::new(), Vec::new());
    let mut events = subjects.events[subject].iter().filter(|event| event.time <= end).peekable();
    for (row, does) in rows {
        let time = of.times[row as usize];
        while let Some(event) = events.next_if(|event| event.is_before(time, row)) {
            stops.push(equations.stop_at(data, any_row, &mut own, event));
            rows_of.push(None);
        }
        stops.push(Stop { time, stretch: equations.stretch_of(data, any_row, &own), does });
        rows_of.push(Some(row));
    }
    let start = subjects.starts[subject];
    let moving = equations.moving(data, (any_row, start), &subjects.moving[subject]);
    let start = start - of.settle;
    Some((Course { start, arguments, stops, moving }, rows_of))
}

/// The measurements at each row: log densities, and the rows of each subject.
fn measure(
    recorded: &Recorded,
    of: &RecordedSystem,
    lines: &[&Line],
    part: &RowPart,
    slots: &mut Slots,
) -> Result<(Vec<LogDensity>, Vec<Looks>)> {
    let mut present = vec![vec![false; lines.len()]; of.times.len()];
    for (number, line) in lines.iter().enumerate() {
        line.rows.iter().for_each(|row| present[*row as usize][number] = true);
    }
    let all = 0..of.times.len() as u32;
    let rows = of.subjects.rows(all.filter(|row| present[*row as usize].contains(&true)));
    check_times(of, &rows)?;
    let (mut patterns, mut numbers, mut each) = (Vec::new(), HashMap::new(), Vec::new());
    for own in rows {
        let uniforms = recorded.data(&own).uniforms(&part.uniforms);
        let width = part.uniforms.len();
        let mut looks = Vec::with_capacity(own.len());
        for (k, &row) in own.iter().enumerate() {
            // Rows that take other elements of a vector are other functions of the slots.
            let input = |source: &Source| match *source {
                Source::Crossing(node) => of.names.len() as u32 + slots.number(node),
                Source::Row(RowInput::Gather(gather)) => {
                    let gather = &recorded.gathers[gather];
                    let node = gather.vector[gather.index[row as usize] as usize];
                    of.names.len() as u32 + slots.number(node)
                }
                Source::Row(RowInput::State(state)) => state as u32,
                Source::Row(_) => unreachable!("numbers of a row are uniforms"),
            };
            let inputs: Vec<u32> = part.inputs.iter().map(input).collect();
            let key = (std::mem::take(&mut present[row as usize]), inputs);
            let pattern = *numbers.entry(key).or_insert_with_key(|(present, inputs)| {
                patterns.push(pattern(part, present, inputs));
                patterns.len() - 1
            });
            looks.push((row, Does::Observe(pattern, uniforms[k * width..][..width].to_vec())));
        }
        each.push(looks);
    }
    Ok((patterns, each))
}

/// The log density of the lines that are present, with these inputs in place of the part's.
fn pattern(part: &RowPart, present: &[bool], inputs: &[u32]) -> LogDensity {
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

/// Refuses times that come before a subject's start or decrease.
fn check_times(of: &RecordedSystem, rows: &[Vec<u32>]) -> Result<()> {
    let time = |row: u32| of.times[row as usize];
    for (own, &start) in rows.iter().zip(&of.subjects.starts) {
        if let Some(&row) = own.iter().find(|row| !(start..f64::INFINITY).contains(&time(**row))) {
            return Err(Error::Data(format!(
                "row {} of the data has time {}, but times must be finite and not before the start of \
                 the system at {start}",
                row + 1,
                time(row),
            )));
        }
        if let Some(pair) = own.windows(2).find(|pair| time(pair[0]) > time(pair[1])) {
            return Err(Error::Data(format!(
                "time {} of the data comes after {}; sort the rows by time (row {})",
                time(pair[1]),
                time(pair[0]),
                pair[1] + 1
            )));
        }
    }
    Ok(())
}
