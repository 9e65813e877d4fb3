//! The derivatives of a system's rates by states and time, with structural zeros.

use crate::program::{Graph, Node, tangent};

/// Derivatives of the rates; `None` where they are 0 for all states.
pub(super) struct Jacobian {
    /// Row i has the derivatives of rate i by each state.
    pub(super) states: Vec<Vec<Option<Node>>>,
    /// Derivatives by time.
    pub(super) time: Vec<Option<Node>>,
}

impl Jacobian {
    /// The derivatives of `rates`, which are nodes that depend on `t` and `x`.
    pub(super) fn new(graph: &mut Graph, rates: &[Node], t: Node, x: &[Node]) -> Self {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let mut in_direction = |input: Node| -> Vec<Option<Node>> {
            let slopes = tangent(graph, &[(input, one)], rates);
            slopes.into_iter().map(|slope| (slope != zero).then_some(slope)).collect()
        };
        let columns: Vec<_> = x.iter().map(|&x| in_direction(x)).collect();
        let time = in_direction(t);
        let row = |i: usize| columns.iter().map(|column| column[i]).collect();
        Self { states: (0..rates.len()).map(row).collect(), time }
    }
}
