//! What is carried from row to row, as it was recorded.

use crate::program::{Graph, Node, RowPart};

/// A recursion and the terms of a log likelihood that see it, as functions of values that are worked out once
/// for each sample (the crossing values).
#[derive(Debug)]
pub(crate) struct Recursion {
    /// Outputs: what the first row of a group begins with, what a later row makes of the row before, and the
    /// terms of the row.
    pub(crate) part: RowPart,
    /// What each input of the part is.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) states: usize,
    /// Crossing values that are arguments: the first of them.
    pub(crate) parameters: usize,
    /// Elements that a row takes from crossing values.
    pub(crate) elements: usize,
    pub(crate) patterns: Vec<Pattern>,
    /// Which pattern each row has, in the order of the walk.
    pub(crate) rows: Vec<u32>,
    /// For each row, the crossing values that are its elements.
    pub(crate) taken: Vec<u32>,
    /// For each row, its numbers.
    pub(crate) uniforms: Vec<f64>,
}

/// What an input of a row's functions is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    State(usize),
    Parameter(usize),
    Element(usize),
}

/// What a row does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    /// Does it begin a group?
    pub(crate) is_first: bool,
    /// Which terms it has.
    pub(crate) terms: Vec<bool>,
}

/// Nodes of a graph that stand for the arguments of a row's functions.
pub(super) struct Arguments<'a> {
    pub(super) states: &'a [Node],
    pub(super) parameters: &'a [Node],
    pub(super) elements: &'a [Node],
    /// The numbers of the row.
    pub(super) uniforms: &'a [Node],
}

impl Recursion {
    /// What a row carries, for states of the row before.
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

    /// Operations of a row with its derivative, about.
    pub(super) fn operations(&self) -> usize {
        3 * self.part.graph.len()
    }
}
