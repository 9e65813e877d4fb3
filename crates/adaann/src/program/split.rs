//! Separates values that change with the row of the data from those that change with the sample
//! alone.
//!
//! A recorded graph has two kinds of inputs: parameters, which differ between samples, and the
//! inputs of a row of the data. Values that depend on parameters alone are computed once for each
//! sample and *cross* into the part that runs for every row, as its inputs.

use super::graph::Graph;
use super::op::{Node, Op};
use super::terms::{Group, Terms, terms};
use std::collections::HashMap;

/// The meaning of an input after the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RowInput {
    /// A number of the row: the column with this index.
    Column(usize),
    /// The element that the row takes from a vector of parameters: the gather with this index.
    Gather(usize),
    /// The time of the row, and of the system of equations.
    Time,
    /// A state of the system of equations at the row's time.
    State(usize),
    /// A value that is carried from row to row of a series.
    Carried(usize),
    /// A number that rates use on a stretch of the course.
    Stretch(usize),
    /// A number of an event at which states jump.
    Event(usize),
    /// A quantity of whole trajectories, on which no part of a posterior depends.
    Trajectory(usize),
}

impl RowInput {
    /// Whether it differs between samples, rather than being a number of the row alone.
    fn differs_between_samples(self) -> bool {
        matches!(self, Self::Gather(_) | Self::State(_) | Self::Carried(_))
    }
}

/// The numbering of a recorded graph's inputs: parameters, then these.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) parameters: usize,
    pub(crate) of_rows: &'a [RowInput],
}

impl Inputs<'_> {
    /// The meaning of a leaf, if it belongs to the row.
    pub(super) fn of_row(&self, op: Op) -> Option<RowInput> {
        match op {
            Op::Input(input) => Some(self.of_rows[(input as usize).checked_sub(self.parameters)?]),
            _ => None,
        }
    }

    /// Which nodes depend on a state of a system.
    pub(crate) fn see_states(&self, graph: &Graph) -> impl Fn(Node) -> bool + use<> {
        let sees = graph.computed_from(|op| matches!(self.of_row(op), Some(RowInput::State(_))));
        move |node| sees[node.index()]
    }

    /// Which nodes depend on a value carried from row to row.
    pub(crate) fn see_carried(&self, graph: &Graph) -> impl Fn(Node) -> bool + use<> {
        let sees = graph.computed_from(|op| matches!(self.of_row(op), Some(RowInput::Carried(_))));
        move |node| sees[node.index()]
    }

    /// Which nodes change with the row.
    pub(super) fn change_with_row(&self, graph: &Graph) -> Vec<bool> {
        graph.computed_from(|op| self.of_row(op).is_some())
    }

    /// Which nodes differ between samples.
    fn change_with_sample(&self, graph: &Graph) -> Vec<bool> {
        graph.computed_from(|op| match (op, self.of_row(op)) {
            (_, Some(input)) => input.differs_between_samples(),
            (op, None) => matches!(op, Op::Input(_)),
        })
    }
}

/// The row-dependent part of a graph, as a separate graph: numbers of the row are uniforms, all
/// other inputs differ between samples.
#[derive(Debug)]
pub(crate) struct RowPart {
    pub(crate) graph: Graph,
    pub(crate) outputs: Vec<Node>,
    /// The meaning of its uniforms: columns, the time, numbers of stretches and events.
    pub(crate) uniforms: Vec<RowInput>,
    /// The meaning of its inputs.
    pub(crate) inputs: Vec<Source>,
}

impl RowPart {
    /// Writes some nodes into another graph, with given nodes for uniforms and inputs.
    pub(crate) fn at(
        &self,
        graph: &mut Graph,
        nodes: &[Node],
        uniforms: &[Node],
        inputs: &[Node],
    ) -> Vec<Node> {
        graph.embed_given(&self.graph, nodes, |_, _, op| match op {
            Op::Input(input) => Some(inputs[input as usize]),
            Op::Uniform(uniform) => Some(uniforms[uniform as usize]),
            _ => None,
        })
    }
}

/// The origin of an input of the row's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// A value that changes with the sample only, or with sample and group: a node of the recorded
    /// graph.
    Crossing(Node),
    /// A gathered element, a state, or a carried value.
    Row(RowInput),
}

/// Extracts the row-dependent part of `outputs`.
pub(crate) fn split(graph: &Graph, inputs: Inputs<'_>, outputs: &[Node]) -> RowPart {
    split_within(graph, inputs, |_| false, outputs)
}

/// Extracts the part of `outputs` that changes within a group of rows. The inputs selected by
/// `is_of_group` are constant within a group; values that depend on sample and group alone become
/// crossing values, too.
pub(crate) fn split_within(
    graph: &Graph,
    inputs: Inputs<'_>,
    is_of_group: impl Fn(RowInput) -> bool,
    outputs: &[Node],
) -> RowPart {
    let with_row = inputs.change_with_row(graph);
    let with_sample = inputs.change_with_sample(graph);
    let within_group =
        graph.computed_from(|op| inputs.of_row(op).is_some_and(|input| !is_of_group(input)));
    let crosses = |node: Node| {
        let index = node.index();
        !with_row[index] || with_sample[index] && !within_group[index]
    };
    let mut sources = Numbered::default();
    let mut uniforms = Numbered::default();
    let mut part = Graph::new();
    let outputs = part.embed_given(graph, outputs, |part, node, op| {
        let source = match (op, inputs.of_row(op)) {
            (Op::Constant(_), _) => return None,
            _ if crosses(node) => Source::Crossing(node),
            (_, Some(other)) if other.differs_between_samples() => Source::Row(other),
            (_, Some(number)) => return Some(part.uniform(uniforms.number(number))),
            _ => return None,
        };
        Some(part.input(sources.number(source)))
    });
    RowPart { graph: part, outputs, uniforms: uniforms.items, inputs: sources.items }
}

/// Splits a value into a row-independent part and the rest, which add up to it.
pub(crate) fn free_of_rows(graph: &mut Graph, inputs: Inputs<'_>, value: Node) -> (Node, Node) {
    let with_row = inputs.change_with_row(graph);
    let Terms { free, groups } = terms(graph, &with_row, value);
    let zero = graph.constant(0.0);
    let free = free.into_iter().fold(zero, |sum, term| graph.add(sum, term));
    let rest = groups.into_iter().fold(zero, |sum, Group { factor, sum: own }| {
        let term = factor.map_or(own, |factor| graph.mul(factor, own));
        graph.add(sum, term)
    });
    (free, rest)
}

/// Items numbered in the order of their first use.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    pub(crate) items: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    /// The index of an item.
    pub(crate) fn number(&mut self, item: T) -> u32 {
        *self.numbers.entry(item).or_insert_with(|| {
            self.items.push(item);
            self.items.len() as u32 - 1
        })
    }
}
