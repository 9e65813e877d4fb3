//! A stretch of rows as a graph: its carried values, its terms and its derivative.

use super::recursion::{Arguments, Recursion};
use super::stretch::Kind;
use crate::program::{Graph, Node, Recorded, gradient};

/// The positions of the inputs of a stretch's programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) states: usize,
    pub(super) parameters: usize,
    /// Elements that one row takes.
    pub(super) elements: usize,
}

impl Layout {
    /// The number of carried values: the states, then the sum of the terms so far.
    pub(super) fn carry(&self) -> usize {
        self.states + 1
    }

    /// The elements that its rows take, after the carried values and the parameters.
    pub(super) fn taken(&self) -> usize {
        self.carry() + self.parameters
    }

    /// The number of inputs for this many rows.
    pub(super) fn inputs(&self, rows: usize) -> usize {
        self.taken() + rows * self.elements
    }

    /// With its reverse, a stretch has states, parameters and elements as inputs, followed by
    /// λ = dL/dx of the states after it.
    pub(super) fn elements(&self) -> usize {
        self.states + self.parameters
    }

    pub(super) fn lambda(&self, rows: usize) -> usize {
        self.elements() + rows * self.elements
    }

    pub(super) fn there_and_back(&self, rows: usize) -> usize {
        self.lambda(rows) + self.states
    }
}

/// Inputs `first..first + count`.
fn inputs(graph: &mut Graph, first: usize, count: usize) -> Vec<Node> {
    (first..first + count).map(|row| graph.input(row as u32)).collect()
}

/// The states after a stretch, given those before it, and the sum of its terms.
fn walk(
    recursion: &Recursion,
    graph: &mut Graph,
    kind: &Kind,
    before: &[Node],
    parameters: &[Node],
    elements: &[Node],
) -> (Vec<Node>, Node) {
    let mut states = before.to_vec();
    let mut sum = graph.constant(0.0);
    let (width, taken) = (recursion.part.uniforms.len(), recursion.elements);
    for (row, &pattern) in kind.patterns.iter().enumerate() {
        let pattern = &recursion.patterns[pattern as usize];
        let numbers = kind.numbers[row * width..][..width].iter();
        let uniforms: Vec<Node> = numbers.map(|number| graph.uniform(*number)).collect();
        let (uniforms, elements) = (&uniforms[..], &elements[row * taken..][..taken]);
        let at = Arguments { states: &states, parameters, elements, uniforms };
        let moved = recursion.carried(graph, pattern.is_first, &at);
        let at = Arguments { states: &moved, ..at };
        let term = recursion.term(graph, &pattern.terms, &at);
        sum = graph.add(sum, term);
        states = moved;
    }
    (states, sum)
}

/// The carried values after a stretch, given those before it.
pub(super) fn there(recursion: &Recursion, layout: &Layout, kind: &Kind) -> Recorded {
    let mut graph = Graph::new();
    let before = inputs(&mut graph, 0, layout.states);
    let sum = graph.input(layout.states as u32);
    let parameters = inputs(&mut graph, layout.carry(), layout.parameters);
    let elements = inputs(&mut graph, layout.taken(), kind.rows() * layout.elements);
    let (mut carry, terms) = walk(recursion, &mut graph, kind, &before, &parameters, &elements);
    carry.push(graph.add(sum, terms));
    (graph, carry)
}

/// A stretch with its reverse. Outputs: the states after it and the sum of its terms; then, given
/// λ, dL/dx of the states before it and the slopes in parameters and elements.
pub(super) fn there_and_back(recursion: &Recursion, layout: &Layout, kind: &Kind) -> Recorded {
    let mut graph = Graph::new();
    let (n, rows) = (layout.states, kind.rows());
    let before = inputs(&mut graph, 0, n);
    let parameters = inputs(&mut graph, n, layout.parameters);
    let elements = inputs(&mut graph, layout.elements(), rows * layout.elements);
    let lambda = inputs(&mut graph, layout.lambda(rows), n);
    let (mut outputs, terms) = walk(recursion, &mut graph, kind, &before, &parameters, &elements);
    let one = graph.constant(1.0);
    let mut seeds: Vec<_> = outputs.iter().copied().zip(lambda).collect();
    seeds.push((terms, one));
    outputs.push(terms);
    let wrt = [&before[..], &parameters, &elements].concat();
    outputs.extend(gradient(&mut graph, &seeds, &wrt));
    (graph, outputs)
}
