//! A recorded function with several arguments and results, for insertion into other graphs.

use super::expr::Expr;
use super::graph::Graph;
use super::op::Node;
use super::prepared::Recorded;
use std::cell::RefCell;

/// Nodes that depend on a graph's first inputs only, as a graph of these inputs.
pub(crate) fn of_first_inputs(graph: &Graph, inputs: usize, nodes: &[Node]) -> Recorded {
    let mut own = Graph::new();
    let first: Vec<Node> = (0..inputs as u32).map(|input| own.input(input)).collect();
    let outputs = own.embed(graph, nodes, &first);
    (own, outputs)
}

/// A function from R^inputs to R^outputs.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    graph: Graph,
    inputs: usize,
    outputs: Vec<Node>,
}

impl Function {
    /// Records a closure.
    pub(crate) fn record<F>(inputs: usize, function: F) -> Self
    where
        F: for<'g> FnOnce(&[Expr<'g>]) -> Vec<Expr<'g>>,
    {
        let graph = RefCell::new(Graph::new());
        let z: Vec<Expr<'_>> = (0..inputs as u32).map(|d| Expr::input(&graph, d)).collect();
        let outputs = function(&z).into_iter().map(|y| y.node(&graph)).collect();
        Self { graph: graph.into_inner(), inputs, outputs }
    }

    /// A function given by a graph with the function's own inputs.
    pub(crate) fn new(inputs: usize, (graph, outputs): Recorded) -> Self {
        Self { graph, inputs, outputs }
    }

    /// The number of results.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Whether any result depends on an input.
    pub(crate) fn depends_on(&self, input: usize) -> bool {
        let mut graph = self.graph.clone();
        let node = graph.input(input as u32);
        let depends = graph.depending_on(&[node]);
        self.outputs.iter().any(|n| depends[n.index()])
    }

    /// Its results as nodes of `graph`, for arguments that are nodes of `graph`.
    pub(crate) fn at(&self, graph: &mut Graph, arguments: &[Node]) -> Vec<Node> {
        assert_eq!(arguments.len(), self.inputs, "an argument for each input");
        graph.embed(&self.graph, &self.outputs, arguments)
    }
}
