//! A recorded recursion from row to row.

use crate::program::{Graph, Node, RowPart};

/// A recursion and the log likelihood terms that depend on it, as functions of values computed once
/// per sample (the crossing values).
#[derive(Debug)]
pub(crate) struct Recursion {
    /// Outputs: the initial values at the first row of a group, the values at a later row given the
    /// row before, and the terms of the row.
    pub(crate) part: RowPart,
    /// The meaning of each input of the part.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) states: usize,
    /// The number of leading crossing values that are arguments.
    pub(crate) parameters: usize,
    /// The number of elements that a row takes from crossing values.
    pub(crate) elements: usize,
    pub(crate) patterns: Vec<Pattern>,
    /// The pattern of each row, in the order of the loop.
    pub(crate) rows: Vec<u32>,
    /// For each row, the crossing values that are its elements.
    pub(crate) taken: Vec<u32>,
    /// The numbers of each row.
    pub(crate) uniforms: Vec<f64>,
}

/// The meaning of an input of a row's functions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    State(usize),
    Parameter(usize),
    Element(usize),
}

/// The computation of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    /// Whether it begins a group.
    pub(crate) is_first: bool,
    /// Which terms are present.
    pub(crate) terms: Vec<bool>,
}

/// Nodes of a graph for the arguments of a row's functions.
pub(super) struct Arguments<'a> {
    pub(super) states: &'a [Node],
    pub(super) parameters: &'a [Node],
    pub(super) elements: &'a [Node],
    /// The numbers of the row.
    pub(super) uniforms: &'a [Node],
}

impl Recursion {
    /// The values that a row carries on, given the states of the row before.
    pub(super) fn carried(&self, graph: &mut Graph, is_first: bool, at: &Arguments) -> Vec<Node> {
        let first = if is_first { 0 } else { self.states };
        self.write(graph, &self.part.outputs[first..][..self.states], at)
    }

    /// The sum of the terms of a row, for its own states.
    pub(super) fn term(&self, graph: &mut Graph, terms: &[bool], at: &Arguments) -> Node {
        let own = self.part.outputs[2 * self.states..].iter().zip(terms);
        let own: Vec<Node> =
            own.filter(|(_, is_there)| **is_there).map(|(node, _)| *node).collect();
        let zero = graph.constant(0.0);
        let terms = self.write(graph, &own, at);
        terms.into_iter().fold(zero, |sum, term| graph.add(sum, term))
    }

    fn write(&self, graph: &mut Graph, nodes: &[Node], at: &Arguments) -> Vec<Node> {
        let argument = |argument: &Argument| match *argument {
            Argument::State(state) => at.states[state],
            Argument::Parameter(parameter) => at.parameters[parameter],
            Argument::Element(element) => at.elements[element],
        };
        let inputs: Vec<Node> = self.arguments.iter().map(argument).collect();
        self.part.at(graph, nodes, at.uniforms, &inputs)
    }

    /// Approximate operations for a row with its derivative.
    pub(super) fn operations(&self) -> usize {
        3 * self.part.graph.len()
    }
}
